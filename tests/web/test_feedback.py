"""Learning from choices: asked before anything is kept, seen in the reasons, forgotten on request."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from dowse import Index
from interfaces.http.running import Running, running
from web.conftest import Visit

QUESTION = "/search?q=work+the+dough"


@pytest.fixture
def kitchen(bakery: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Running]:
    """A server with nothing chosen yet."""
    monkeypatch.setenv("DOWSE_DATA_DIR", str(tmp_path))
    index = Index(bakery.root, bakery.settings, bakery.backend)
    with running([index]) as run:
        yield run


def chosen(server: Running) -> list[tuple[str, int]]:
    return [(each["name"], each["chosen"]) for each in server.get("feedback")["chosen"]]


def second_name(page: Page) -> str:
    return page.get_by_role("article").nth(1).get_by_role("heading").inner_text().split()[0]


def test_nothing_is_kept_before_somebody_agrees(visit: Visit, kitchen: Running) -> None:
    page = visit(kitchen).open(QUESTION, consent="")
    question = page.get_by_role("complementary", name="Learning from your choices")
    expect(question).to_contain_text("goes nowhere else")
    expect(page.get_by_role("article").first).to_be_visible()
    # It covers nothing: it comes after the content.
    hits, asked = page.get_by_role("main").bounding_box(), question.bounding_box()
    assert hits and asked and asked["y"] >= hits["y"] + hits["height"] and asked["height"] < 40
    page.get_by_role("article").first.get_by_role("button", name="Copy path:line").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    question.get_by_role("button", name="No").click()
    expect(question).to_be_hidden()
    expect(page.get_by_role("button", name="Good answer")).to_have_count(0)
    page.get_by_role("article").nth(1).get_by_role("link").first.click()
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    page.reload()
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(question).to_be_hidden()  # asked once
    assert chosen(kitchen) == []


def test_what_is_chosen_comes_first_and_says_so(visit: Visit, kitchen: Running) -> None:
    page = visit(kitchen).open(QUESTION, consent="")
    page.get_by_role("button", name="Yes, learn").click()
    name = second_name(page)
    good = page.get_by_role("article").nth(1).get_by_role("button", name="Good answer")
    good.click()
    expect(good).to_have_attribute("aria-pressed", "true")
    assert chosen(kitchen) == [(name, 1)]
    page.reload()
    expect(page.get_by_role("article").first).to_contain_text(name)
    why = page.get_by_label("About the selected hit")
    why.locator("summary", has_text="Your choices").click()
    expect(why.get_by_text("what was chosen")).to_be_visible()


def test_it_is_forgotten_on_request_and_switched_off(visit: Visit, kitchen: Running) -> None:
    page = visit(kitchen).open(QUESTION, consent="yes")
    bad = page.get_by_role("article").first.get_by_role("button", name="Wrong answer")
    bad.click()
    expect(bad).to_have_attribute("aria-pressed", "true")
    page.get_by_role("link", name="Index").click()
    settings = page.get_by_role("region", name="Learning from choices")
    expect(settings.get_by_role("row").nth(1)).to_contain_text("work the dough")
    settings.get_by_role("button", name="Forget “work the dough”").click()
    expect(settings).to_contain_text("Nothing was chosen yet.")
    assert chosen(kitchen) == []
    settings.get_by_role("switch").uncheck()
    page.goto(QUESTION)
    expect(page.get_by_role("article").first).to_be_visible()
    expect(page.get_by_role("button", name="Good answer")).to_have_count(0)
