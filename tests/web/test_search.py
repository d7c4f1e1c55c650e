"""`/search`: switches, filters, typing, keys, reasons, similar functions, addresses to share."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, Request, expect

from interfaces.http.running import Running
from web.conftest import Visitor

QUESTION = "put the loaves into the oven"
ASKED = "/search?q=put+the+loaves+into+the+oven&index=bakery"


def searches(page: Page) -> list[str]:
    """Note every search that the page asks for."""
    asked: list[str] = []

    def note(request: Request) -> None:
        if "/api/search" in request.url:
            asked.append(request.url)

    page.on("request", note)
    return asked


def names(page: Page) -> list[str]:
    return page.get_by_role("article").get_by_role("heading").all_inner_texts()


def test_six_examples_say_where_meaning_and_words_had_the_answer(visitor: Visitor) -> None:
    page = visitor.open("/search?index=bakery")
    examples = page.get_by_role("region", name="Example questions").get_by_role("listitem")
    expect(examples).to_have_count(6)
    expect(examples.first).to_contain_text("Meaning")
    expect(examples.first).to_contain_text("Words")
    examples.first.get_by_role("link").click()
    expect(page.get_by_role("article").first).to_be_visible()


def test_results_come_while_typing_after_a_pause(visitor: Visitor) -> None:
    page = visitor.open("/search")
    asked = searches(page)
    field = page.get_by_role("searchbox")
    field.press_sequentially("retry with backoff")  # 18 keys at once
    expect(page.get_by_role("article").first).to_contain_text("retry_with_backoff")
    expect(page).to_have_url(re.compile(r"q=retry\+with\+backoff$"))
    assert 1 <= len([url for url in asked if "k=1&" not in url and not url.endswith("k=1")]) < 18
    expect(field).to_be_focused()


def test_the_address_brings_everything_back(visitor: Visitor) -> None:
    page = visitor.open(ASKED)
    page.get_by_label("Hybrid").check()
    page.get_by_label("Expand").check()
    page.get_by_label("Diversify").select_option("mmr")
    page.get_by_role("button", name="More", exact=True).click()
    page.get_by_label("Fusion").select_option("rrf")
    expect(page.get_by_text("joined by rrf")).to_be_visible()
    page.get_by_role("article").nth(2).click()
    expect(page).to_have_url(re.compile("at=3"))
    there = visitor.open(page.url.removeprefix(visitor.url))
    expect(there.get_by_text("joined by rrf")).to_be_visible()
    for label in ("Hybrid", "Expand"):
        expect(there.get_by_label(label)).to_be_checked()
    expect(there.get_by_label("Diversify")).to_have_value("mmr")
    expect(there.get_by_label("Fusion")).to_have_value("rrf")
    expect(there.get_by_role("article").nth(2)).to_have_attribute("aria-current", "true")
    assert names(there) == names(page)


@pytest.mark.parametrize(
    ("label", "lanes"),
    [("Keyword", "by words"), ("Embedding", "by meaning"), ("Hybrid", "by words and meaning")],
)
def test_modes_choose_the_lanes(visitor: Visitor, label: str, lanes: str) -> None:
    page = visitor.open(ASKED)
    page.get_by_label(label, exact=True).check()
    expect(page.get_by_text(re.compile(rf"· {lanes}(,|$)"))).to_be_visible()
    expect(page).to_have_url(re.compile(f"mode={label.lower()}"))


def test_the_graph_mode_walks_references(visitor: Visitor) -> None:
    page = visitor.open("/search?q=what+calls+knead&index=bakery&mode=graph")
    expect(page.get_by_role("article").first).to_contain_text("bake_bread")
    page.get_by_label("Auto").check()
    expect(page.get_by_text("read as structure")).to_be_visible()


def test_a_second_look_is_part_of_the_score(visitor: Visitor) -> None:
    page = visitor.open(ASKED + "&mode=hybrid")
    expect(page.get_by_role("article").first).to_be_visible()
    page.get_by_label("Rerank").check()
    expect(page.get_by_label("About the selected hit")).to_contain_text("Second look")


def test_filters_are_chips_and_text_at_once(visitor: Visitor) -> None:
    page = visitor.open("/search?q=order&index=bakery")
    filters = page.get_by_role("list", name="Filters")
    filters.get_by_role("button", name="Only kind:function").click()
    expect(page.get_by_role("searchbox")).to_have_value("order kind:function")
    expect(page.get_by_role("article").first).to_contain_text("function")
    expect(page.get_by_role("article").get_by_role("heading", name="class")).to_have_count(0)
    page.get_by_role("searchbox").fill("order lang:python")
    expect(filters.get_by_role("button", name="Remove lang:python")).to_be_visible()
    filters.get_by_role("button", name="Remove lang:python").click()
    expect(page.get_by_role("searchbox")).to_have_value("order")
    page.go_back()
    expect(page.get_by_role("searchbox")).to_have_value("order lang:python")


def test_keys_do_everything(visitor: Visitor) -> None:
    page = visitor.open(ASKED)
    hits = page.get_by_role("article")
    expect(hits.first).to_have_attribute("aria-current", "true")
    for key in ("ArrowDown", "j", "ArrowUp"):  # faster than pages are drawn
        page.keyboard.press(key)
    expect(hits.nth(1)).to_have_attribute("aria-current", "true")
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox")).to_be_focused()
    page.keyboard.press("ArrowDown")  # while typing, too
    expect(hits.nth(2)).to_have_attribute("aria-current", "true")
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    help_window = page.get_by_role("dialog", name="Keys and query language")
    expect(help_window).to_contain_text("to the search field")
    page.keyboard.press("Escape")
    expect(help_window).to_be_hidden()
    page.keyboard.press("c")
    place = hits.nth(2).locator("header p").inner_text().split(" · ")[-1]
    page.wait_for_function("place => navigator.clipboard.readText().then(text => text === place)", arg=place)
    name = names(page)[2].split()[0]
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/symbol/bakery/"))
    expect(page.get_by_role("heading", level=1)).to_have_text(name)


def test_reasons_add_up_to_the_score(visitor: Visitor, server: Running) -> None:
    page = visitor.open(ASKED + "&mode=hybrid")
    first = server.get("search", q=QUESTION, index="bakery", mode="hybrid", explain=True)["hits"][0]
    why = page.get_by_role("region", name=re.compile("^Why"))
    expect(why).to_contain_text(first["qualified_name"])
    for lane, label in (("keyword", "Words"), ("embedding", "Meaning")):
        place = next(each for each in first["lanes"] if each["lane"] == lane)
        row = why.get_by_role("row").filter(has_text=label)
        expect(row.get_by_role("cell").nth(1)).to_have_text(str(place["rank"]))
        expect(row.get_by_role("cell").nth(2)).to_have_text(f"{place['score']:.2f}")
    for group in why.locator("summary").all():
        group.click()
    values = [float(part.get_attribute("data-value") or 0) for part in why.locator("[data-value]").all()]
    assert len(values) == len(first["explanation"])
    assert sum(values) == pytest.approx(first["score"], abs=1e-4)
    expect(why.get_by_test_id("score")).to_have_text(f"{first['score']:.3f}")


def test_similar_functions_stand_beside_the_hit(visitor: Visitor, server: Running) -> None:
    page = visitor.open(ASKED)
    similar = page.get_by_role("region", name="Similar functions")
    hits = server.get("search", q=QUESTION, index="bakery")["hits"]
    for number in (0, 1):
        page.get_by_role("article").nth(number).click()
        nearest = server.get("related", target=hits[number]["id"], index="bakery")["neighbours"][0]
        expect(similar.get_by_role("listitem").first).to_contain_text(nearest["qualified_name"])
        expect(similar.get_by_role("listitem").first).to_contain_text(f"{nearest['score']:.2f}")


def test_code_is_coloured_and_the_words_are_marked(visitor: Visitor) -> None:
    page = visitor.open("/search?q=parse_order&index=bakery")
    code = page.get_by_role("article").first.get_by_role("region", name="Code of parse_order")
    expect(code.locator(".hljs-keyword").first).to_have_text("def")
    expect(code).to_contain_text("27")
    marked = "() => [...CSS.highlights.get('asked')].some(range => range.toString() === 'parse_order')"
    page.wait_for_function(marked)


def test_long_code_can_be_unfolded(visitor: Visitor) -> None:
    page = visitor.open("/search?q=bake_bread&index=bakery")
    first = page.get_by_role("article").first
    expect(first).not_to_contain_text("return loaves")
    first.get_by_role("button", name=re.compile("^Show . more lines")).click()
    expect(first).to_contain_text("return loaves")


def test_patterns_show_the_lines_that_match(visitor: Visitor) -> None:
    page = visitor.open("/search?q=%2Fdef+%5Cw%2B_order%2F&index=bakery")
    expect(page.get_by_role("article").filter(has_text="parse_order").first).to_contain_text(
        "1 matching line"
    )


def test_suggestions_while_typing(visitor: Visitor) -> None:
    page = visitor.open("/search?index=bakery")
    page.get_by_role("searchbox").press_sequentially("retry_w")
    suggestions = page.get_by_role("list", name="Suggestions")
    suggestions.get_by_role("link", name=re.compile("^retry_with_backoff")).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("retry_with_backoff")


def test_more_hits_on_request(visitor: Visitor) -> None:
    page = visitor.open(ASKED + "&mode=hybrid")
    expect(page.get_by_role("article")).to_have_count(10)
    page.get_by_role("button", name="Show more", exact=True).click()
    expect(page.get_by_role("article")).to_have_count(20)


def test_more_hits_leave_the_first_ones_where_they_are(visitor: Visitor) -> None:
    """Clusters share out the first page; on request more follows, and no share is counted anew."""
    page = visitor.open("/search?q=bread&diversify=sample&index=bakery")
    expect(page.get_by_role("article")).to_have_count(10)
    first = page.get_by_role("article").locator("h2 a").all_inner_texts()
    page.get_by_role("button", name="Show more").click()
    expect(page.get_by_role("article").nth(10)).to_be_visible()
    assert page.get_by_role("article").locator("h2 a").all_inner_texts()[:10] == first


def test_several_indexes_answer_together_or_one_alone(visitor: Visitor) -> None:
    page = visitor.open("/search?q=sweep&mode=keyword")
    expect(page.get_by_role("article").first).to_contain_text("inn ·")
    page.get_by_label("Index", exact=True).select_option("bakery")
    expect(page.get_by_role("article").filter(has_text="inn ·")).to_have_count(0)
    expect(page).to_have_url(re.compile("index=bakery"))


def test_the_theme_follows_the_system_and_the_switch(visitor: Visitor) -> None:
    def has(page: Page, colour: str) -> None:
        expect(page.locator("html")).to_have_css("background-color", colour)

    background = "getComputedStyle(document.documentElement).backgroundColor"
    dark = visitor.open("/status", theme="dark").evaluate(background)
    page = visitor.open("/status", theme="light")
    light = page.evaluate(background)
    assert light != dark
    page.get_by_role("button", name="Theme: as the system has it").click()
    has(page, dark)
    page.reload()
    has(page, dark)  # kept
    page.get_by_role("button", name="Theme: dark").click()
    has(page, light)
    page.get_by_role("button", name="Theme: light").click()
    page.emulate_media(color_scheme="dark")
    has(page, dark)
