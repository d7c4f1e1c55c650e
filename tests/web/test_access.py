"""Every page can be used by everybody: axe finds nothing in both themes, at any width; keys reach all."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from interfaces.http.running import Running
from web.browser import is_wider_than_screen, violations
from web.conftest import Visitor

from helpers import large_from

# Every page with what comes last on it.
PAGES = {
    "landing": ("/", "section[aria-label='How an answer is found'] li"),
    "search": (
        "/search?q=bake+bread+lang:python&index=bakery&fusion=rrf",
        "article .hljs-keyword",
    ),
    "examples": ("/search", "section[aria-label='Example questions'] li .mono"),
    "nothing": ("/search?q=xylophone&mode=keyword&index=bakery", "text=Nothing here answers that"),
    "problem": ("/search?q=lang:klingon", "[role=alert]"),
    "eval": ("/eval", "section[aria-label='In short'] li"),
    # One with many configurations: its tables are wide.
    "figures": ("/eval?run=repos&order=worst", "ul[aria-label=Questions] li"),
    "status": ("/status", "section[aria-label='Left out'] tbody tr"),
    "nowhere": ("/nowhere", "h1"),
}


@pytest.mark.parametrize("name", large_from(2, PAGES))
def test_axe_finds_nothing_and_a_phone_is_wide_enough(visitor: Visitor, name: str) -> None:
    everybody_can_use(open_page(visitor, *PAGES[name]))


def test_the_page_of_a_symbol(visitor: Visitor, server: Running) -> None:
    for name, last in (("bake_bread", "[data-layer='1']"), ("Dough", "nav[aria-label^=Members] li")):
        found = server.get("symbol", target=name, index="bakery")["symbol"]["id"]
        everybody_can_use(open_page(visitor, f"/symbol/bakery/{found}", last))


def test_axe_finds_nothing_in_the_help_and_the_question(visitor: Visitor) -> None:
    page = open_page(visitor, *PAGES["examples"], consent="")
    expect(page.get_by_role("button", name="Yes, learn")).to_be_visible()
    assert violations(page) == []
    page.get_by_role("button", name="Keys and query language").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    assert violations(page) == []


def test_the_focus_is_always_seen(visitor: Visitor) -> None:
    page = open_page(visitor, *PAGES["search"])
    outline = """() => {
        const box = document.activeElement.closest('label') ?? document.activeElement;
        const inside = getComputedStyle(document.activeElement), around = getComputedStyle(box);
        const seen = style => style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0;
        return seen(inside) || seen(around);
    }"""
    for _ in range(25):
        page.keyboard.press("Tab")
        assert page.evaluate(outline), page.evaluate("document.activeElement.outerHTML.slice(0, 200)")


def everybody_can_use(page: Page) -> None:
    """Check one page in both themes, and at the widths of a tablet and of phones."""
    assert violations(page) == []
    page.emulate_media(color_scheme="dark")
    assert violations(page, "color-contrast") == []
    for width in (768, 320, 375):
        page.set_viewport_size({"width": width, "height": 800})
        assert not is_wider_than_screen(page), width
    assert violations(page) == []


def open_page(visitor: Visitor, address: str, last: str, **options: Any) -> Page:
    """Open an address and wait for what comes last."""
    page = visitor.open(address, **options)
    expect(page.locator(last).first).to_be_visible()
    return page
