"""`/`: what it is, figures from the API, the state of the index, searches to begin with."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from dowse import Index
from interfaces.http.running import Running, running
from web.conftest import Visit, Visitor


def test_figures_come_from_the_api(visitor: Visitor, server: Running) -> None:
    page = visitor.open()
    expect(page.get_by_role("heading", level=1)).to_have_text("Find code by what it does.")
    figures = page.get_by_role("region", name="Figures")
    means = server.get("eval")["reports"][0]["means"]
    mrr = next(row for row in means if row["mode"] == "auto")["metrics"]["mrr@100"]
    expect(figures.get_by_role("listitem").first).to_contain_text(f"{mrr:.3f}".lstrip("0"))
    expect(figures).to_contain_text("after")


def test_every_index_is_told_with_its_state(visitor: Visitor, server: Running) -> None:
    state = visitor.open().get_by_role("region", name="Index state")
    for index in server.get("status")["indexes"]:
        line = state.get_by_role("listitem").filter(has_text=index["name"])
        expect(line).to_contain_text(f"{index['symbols']} symbols")
        expect(line).to_contain_text(re.compile(r"indexed (just now|\d+ minutes? ago)"))
    expect(state.get_by_role("listitem").first).to_contain_text("100 % found by meaning")


def test_example_searches_lead_to_answers(visitor: Visitor) -> None:
    page = visitor.open()
    examples = page.get_by_role("list", name="Example searches")
    expect(examples).to_contain_text("what calls")
    examples.get_by_role("link").first.click()
    expect(page).to_have_url(re.compile(r"/search\?q="))
    expect(page.get_by_role("article").first).to_be_visible()


def test_a_question_is_shown_with_both_lanes(visitor: Visitor) -> None:
    meeting = visitor.open().get_by_role("region", name="How lanes meet")
    expect(meeting.get_by_role("img", name="Words:")).to_be_visible()
    expect(meeting.get_by_role("img", name="Meaning:")).to_be_visible()
    expect(meeting.get_by_role("listitem")).to_have_count(5)


def test_enter_searches(visitor: Visitor) -> None:
    page = visitor.open()
    expect(page.get_by_role("searchbox")).to_be_visible()
    page.keyboard.press("/")
    page.keyboard.type("bake bread")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/search\?q=bake\+bread$"))
    expect(page.get_by_role("article").first).to_contain_text("bake_bread")


def test_an_address_that_leads_nowhere_says_so(visitor: Visitor) -> None:
    page = visitor.open("/nowhere")
    expect(page.get_by_role("heading", level=1)).to_have_text("There is nothing at this address")


def test_without_an_encoder_the_page_does_without_meaning(visit: Visit, inn: Index) -> None:
    with running([inn]) as words_only:
        page = visit(words_only).open()
        expect(page.get_by_role("region", name="Index state")).to_contain_text("inn")
        expect(page.get_by_role("region", name="Index state")).not_to_contain_text("meaning")
        page.get_by_role("list", name="Example searches").get_by_role("link", name="/TODO|FIXME/").click()
        expect(page.get_by_text("Nothing here answers that")).to_be_visible()
