"""Every control shows what the server does unless somebody chose otherwise, and says so to the server."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from dowse import Index
from interfaces.http.running import Running, running
from web.conftest import Visit, Visitor

from helpers import large_from

ASKED = "/search?q=put+the+loaves+into+the+oven"
# Each setting with the label of its control; none is the default of dowse.
CHOICES = {
    "Variety": ("diversify", "cluster"),
    "Fusion": ("fusion", "rrf"),
    "Clusters by": ("clustering", "meaning"),
    "Typos": ("fuzziness", "1"),
}
SWITCHES = {"More words": "expand"}
SET = {**dict(CHOICES.values()), **dict.fromkeys(SWITCHES.values(), True)}


def with_settings(index: Index, **settings: object) -> Index:
    return Index(index.root, replace(index.settings, **settings), index.backend)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def unusual(bakery: Index) -> Iterator[Running]:
    """A server whose settings are not the usual ones."""
    with running([with_settings(bakery, **SET)]) as run:
        yield run


def opened(visitor: Visitor, address: str = ASKED) -> Page:
    page = visitor.open(address)
    expect(page.get_by_role("article").first).to_be_visible()
    page.get_by_role("button", name=re.compile("^Expert")).click()
    return page


def sent(page: Page, url: re.Pattern[str]) -> dict[str, list[str]]:
    """Return the parameters of the search that the page asks for, once its address is as told."""
    expect(page).to_have_url(url)
    expect(page.locator("[aria-busy=true]")).to_have_count(0)
    searches = page.evaluate(
        "performance.getEntriesByType('resource').map(each => each.name)"
        ".filter(name => name.includes('/api/v1/search?'))"
    )
    return parse_qs(urlsplit(searches[-1]).query, keep_blank_values=True)


def test_controls_show_the_settings_of_the_server(visit: Visit, unusual: Running) -> None:
    page = opened(visit(unusual))
    for label, (_, value) in CHOICES.items():
        expect(page.get_by_label(label)).to_have_value(value)
    for label in SWITCHES:
        expect(page.get_by_label(label)).to_be_checked()
    assert not sent(page, re.compile("oven$")).keys() & SET.keys()  # the server needs not be told


@pytest.mark.parametrize("value", large_from(1, ["euclidean", "hyperbolic", "spectral"]))
def test_what_is_chosen_is_asked_for(visit: Visit, unusual: Running, value: str) -> None:
    page = opened(visit(unusual))
    page.get_by_label("Clusters by").select_option(value)
    assert sent(page, re.compile(f"clustering={value}$"))["clustering"] == [value]
    page.get_by_label("Clusters by").select_option("meaning")
    assert "clustering" not in sent(page, re.compile("oven$"))
