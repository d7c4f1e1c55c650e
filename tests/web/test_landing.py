"""`/`: what it is, figures from the API, the state of the index, searches to begin with."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from interfaces.http.running import Running
from web.conftest import Visitor


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


def test_an_address_that_leads_nowhere_says_so(visitor: Visitor) -> None:
    page = visitor.open("/nowhere")
    expect(page.get_by_role("heading", level=1)).to_have_text("There is nothing at this address")
    answer = page.goto("/nowhere")
    assert answer and answer.status == 404
    for link in page.get_by_role("navigation", name="Pages").get_by_role("link").all():
        answer = page.request.get(link.get_attribute("href") or "")
        assert answer.ok  # the server knows every page that there is
