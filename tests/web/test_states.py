"""What `/search` shows when there is nothing, too much to wait for, half an answer, or no answer at all."""

from __future__ import annotations

import contextlib
import re
from typing import Any

from playwright.sync_api import Page, Route, expect

from dowse import Index
from dowse.write_lock import write_lock
from interfaces.http.running import running
from web.conftest import Visit, Visitor


def test_nothing_found_offers_what_would_find_more(visitor: Visitor) -> None:
    page = visitor.open("/search?q=xylophone+lang:python&mode=keyword&index=bakery")
    state = page.get_by_role("status").filter(has_text="Nothing here answers that")
    expect(state).to_be_visible()
    state.get_by_role("button", name="Search by keywords and meaning").click()
    expect(page.get_by_role("article").first).to_be_visible()
    expect(page.get_by_text(re.compile("nothing relevant here", re.IGNORECASE))).to_be_visible()


def test_a_query_that_cant_be_understood_says_why_and_what_helps(visitor: Visitor) -> None:
    page = visitor.open("/search?q=bread+lang:klingon&index=bakery")
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("The query is invalid")
    expect(alert).to_contain_text("klingon")
    alert.get_by_role("button", name="Take it as plain text").click()
    expect(page.get_by_role("article").first).to_contain_text("bread")
    expect(alert).to_be_hidden()


def test_a_server_that_is_gone_is_named_and_can_be_tried_again(visitor: Visitor) -> None:
    page = visitor.open("/search?index=bakery")
    page.route("**/api/v1/search*", lambda route: route.abort())
    page.get_by_role("searchbox").fill("bread")
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("The server does not answer")
    expect(alert).to_contain_text("dowse serve")
    page.unroute("**/api/v1/search*")
    visitor.said.clear()  # the browser told of the failed requests
    alert.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("article").first).to_contain_text("bread")


def test_a_late_answer_never_replaces_a_newer_one(visitor: Visitor) -> None:
    page = visitor.open("/search?index=bakery")
    held: list[Route] = []
    page.route("**/api/v1/search*q=bread*", lambda route: held.append(route))
    with page.expect_request("**/api/v1/search*q=bread*"):
        page.get_by_role("searchbox").fill("bread")
    page.get_by_role("searchbox").fill("invoice")
    expect(page.get_by_role("article").first).to_contain_text("Invoice")
    for route in held:
        route.continue_()
    page.get_by_role("searchbox").fill("invoices")
    expect(page).to_have_url(re.compile("invoices"))
    expect(page.get_by_role("article").first).to_contain_text("Invoice")


def test_half_an_answer_says_what_is_missing(visitor: Visitor) -> None:
    page = visitor.open("/search?index=bakery")
    change(page, _without_meaning)
    page.get_by_role("searchbox").fill("bread")
    expect(page.get_by_text("Answered without meaning.")).to_be_visible()
    expect(page.get_by_text("took longer than 3 s").first).to_be_visible()
    expect(page.get_by_text("25 % can be found by meaning so far.")).to_be_visible()
    expect(page.get_by_role("article").first).to_contain_text("bread")


def test_a_first_index_is_announced_and_the_page_goes_on_by_itself(visit: Visit, mill: Index) -> None:
    with contextlib.ExitStack() as another_writer:
        another_writer.enter_context(write_lock(mill.backend.folder, 1, lambda _: None))
        with running([mill]) as server:
            page = visit(server).open("/search?q=grind")
            expect(page.get_by_text("mill is being indexed for the first time.")).to_be_visible()
            expect(page.get_by_role("alert")).to_contain_text("No index yet")
            another_writer.close()  # now the server's own process may write
            expect(page.get_by_role("article").first).to_contain_text("grind")
            expect(page.get_by_text("mill is being indexed for the first time.")).to_be_hidden()


def change(page: Page, how: Any, url: str = "**/api/v1/search*") -> None:
    """Change the server's real answers on their way: what is amiss can't be ordered from it."""

    def answer(route: Route) -> None:
        response = route.fetch()
        route.fulfill(response=response, json=how(response.json()))

    page.route(url, answer)


def _without_meaning(found: dict[str, Any]) -> dict[str, Any]:
    lanes = [lane for lane in found["lanes"] if lane["lane"] != "embedding"]
    late = {"lane": "embedding", "found": 0, "milliseconds": 3000, "problem": "it took longer than 3 s"}
    embedded = {"encoder": "small", "symbols": 10, "total": 40, "encoded": 0, "candidates_missing": 5}
    return {**found, "lanes": [*lanes, late], "embedded": embedded}
