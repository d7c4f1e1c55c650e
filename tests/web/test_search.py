"""`/search`: switches, filters, typing, keys, reasons, similar functions, addresses to share."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, Request, expect

from interfaces.http.running import Running
from web.conftest import Visitor

QUESTION = "put the loaves into the oven"
ASKED = "/search?q=put+the+loaves+into+the+oven&index=bakery"


def searches(page: Page) -> list[str]:
    """Note every search that the page asks for."""
    asked: list[str] = []

    def note(request: Request) -> None:
        if "/api/v1/search" in request.url:
            asked.append(request.url)

    page.on("request", note)
    return asked


def how_it_was_searched(page: Page) -> Locator:
    """Open what experts may want to know, and return it."""
    page.get_by_text(re.compile(r"^By .* ms$")).click()
    return page.get_by_label("How it was searched")


def names(page: Page) -> list[str]:
    return page.get_by_role("article").get_by_role("heading").all_inner_texts()


def test_six_examples_say_where_meaning_and_keywords_had_the_answer(visitor: Visitor) -> None:
    page = visitor.open("/search?index=bakery")
    examples = page.get_by_role("region", name="Example questions").get_by_role("listitem")
    expect(examples).to_have_count(6)
    expect(examples.first).to_contain_text("Meaning")
    expect(examples.first).to_contain_text("Keywords")
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
    page.get_by_label("Both").check()
    page.get_by_label("More words").check()
    page.get_by_label("Variety").select_option("mmr")
    page.get_by_role("button", name="Expert", exact=True).click()
    page.get_by_label("Fusion").select_option("rrf")
    expect(how_it_was_searched(page)).to_contain_text("Fusionrrf")
    page.get_by_role("article").nth(2).click()
    expect(page).to_have_url(re.compile("at=3"))
    there = visitor.open(page.url.removeprefix(visitor.url))
    expect(how_it_was_searched(there)).to_contain_text("Fusionrrf")
    for label in ("Both", "More words"):
        expect(there.get_by_label(label)).to_be_checked()
    expect(there.get_by_label("Variety")).to_have_value("mmr")
    expect(there.get_by_label("Fusion")).to_have_value("rrf")
    expect(there.get_by_role("article").nth(2)).to_have_attribute("aria-current", "true")
    assert names(there) == names(page)


@pytest.mark.parametrize(
    ("label", "mode", "said"),
    [
        ("Keywords", "keyword", "By keywords"),
        ("Meaning", "embedding", "By meaning"),
        ("Both", "hybrid", "By keywords and meaning"),
    ],
)
def test_what_is_chosen_is_what_answers(visitor: Visitor, label: str, mode: str, said: str) -> None:
    """By the same names in controls, answers and reasons."""
    page = visitor.open(ASKED)
    page.get_by_label(label, exact=True).check()
    expect(page.get_by_text(re.compile(rf"^{said} ·"))).to_be_visible()
    expect(page).to_have_url(re.compile(f"mode={mode}"))
    names = {"Keywords", "Meaning"} if mode == "hybrid" else {label}
    why = page.get_by_role("region", name=re.compile("^Why"))
    assert set(why.locator("tbody tr td:first-child").all_inner_texts()) <= names


def test_no_word_of_the_engine_outside_of_what_is_for_experts(visitor: Visitor) -> None:
    page = visitor.open(ASKED)
    expect(page.get_by_role("article").first).to_be_visible()
    for group in page.get_by_role("region", name=re.compile("^Why")).locator("summary").all():
        group.click()
    seen = page.locator("body").inner_text().lower() + "".join(page.locator("main option").all_inner_texts())
    for word in ("blend", "prose", "lane", "euclidean", "fusion", "hybrid", "embedding"):
        assert word not in seen
    expect(how_it_was_searched(page)).to_contain_text("Fusionblend")


def test_a_second_query_keeps_the_first(visitor: Visitor) -> None:
    page = visitor.open("/search?index=bakery")
    field = page.get_by_role("searchbox")
    field.press_sequentially("retry with backoff")
    expect(page).to_have_title("retry with backoff · dowse")
    field.fill("")
    field.press_sequentially("parse_order")  # letter by letter, and yet one entry of the history
    expect(page).to_have_title("parse_order · dowse")
    page.get_by_role("article").nth(1).click()  # leaves the field
    field.press("End")
    field.press_sequentially(" from text")
    expect(page).to_have_title("parse_order from text · dowse")
    page.go_back()
    expect(field).to_have_value("parse_order")
    page.go_back()
    expect(field).to_have_value("retry with backoff")
    expect(page).to_have_title("retry with backoff · dowse")


def test_what_calls_lists_the_lines_of_calls(visitor: Visitor) -> None:
    page = visitor.open("/search?q=what+calls+Dough.knead&index=bakery")
    called = page.get_by_role("article").filter(has_text="calls Dough.knead in line 31").first
    expect(called.locator("code .bg-wash")).to_contain_text("knead(")


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
    for lane, label in (("keyword", "Keywords"), ("embedding", "Meaning")):
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


def test_code_is_coloured_and_the_words_are_marked(visitor: Visitor) -> None:
    page = visitor.open("/search?q=parse_order&index=bakery")
    code = page.get_by_role("article").first.get_by_role("region", name="Code of parse_order")
    expect(code.locator(".hljs-keyword").first).to_have_text("def")
    expect(code).to_contain_text("27")
    marked = "() => [...CSS.highlights.get('asked')].some(range => range.toString() === 'parse_order')"
    page.wait_for_function(marked)


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
