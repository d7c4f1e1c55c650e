"""`/symbol/…`: code, documentation, neighbours, the graph, the editor."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from dowse import Index
from interfaces.http.running import Running, running
from web.browser import is_wider_than_screen, violations
from web.conftest import Visit, Visitor


def symbol(server: Running, name: str) -> dict[str, Any]:
    found: dict[str, Any] = server.get("symbol", target=name, index="bakery")
    return found


def address(server: Running, name: str) -> str:
    return f"/symbol/bakery/{symbol(server, name)['symbol']['id']}"


@pytest.fixture
def page(visitor: Visitor, server: Running) -> Page:
    """The page of a function that calls and is called."""
    return visitor.open(address(server, "bake_bread"))


def test_code_documentation_and_place(page: Page) -> None:
    expect(page.get_by_role("heading", level=1)).to_have_text("bake_bread")
    expect(page).to_have_title("bake_bread · dowse")
    expect(page.get_by_text("Sourdough needs more time than anything else.").first).to_be_visible()
    code = page.get_by_role("region", name="Code of bake_bread")
    expect(code).to_contain_text("oven.bake(dough, minutes=45)")
    expect(code.locator(".hljs-keyword").first).to_have_text("def")


def test_callers_and_callees_lead_on(page: Page, server: Running) -> None:
    found = symbol(server, "bake_bread")
    for title, key in (("Called by", "callers"), ("Calls", "callees")):
        shown = page.get_by_role("region", name=title, exact=True)
        code = [neighbour for neighbour in found[key] if not neighbour["test"]]
        expect(shown.get_by_role("listitem")).to_have_count(len(code))
        for neighbour in code:
            place = f"called in {neighbour['path']}:{neighbour['line']}"
            expect(shown.get_by_title(place).first).to_be_visible()
    page.get_by_role("region", name="Calls", exact=True).get_by_role("link", name="Dough.knead").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Dough.knead")


def test_the_outline_shows_the_file(page: Page) -> None:
    outline = page.get_by_role("navigation", name="Outline of the file")
    expect(outline.get_by_role("link", name="bake_bread")).to_have_attribute("aria-current", "true")
    outline.get_by_role("link", name=re.compile("^getUserName")).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("getUserName")


def test_a_long_outline_shows_where_one_is(visit: Visit, crowd: Running) -> None:
    page = visit(crowd).open(symbol_page(crowd, "worker_of_many_39"))
    here = page.get_by_role("navigation", name="Outline of the file").locator("[aria-current]")
    expect(here).to_have_text(re.compile("^worker_of_many_39"))
    page.wait_for_function("here => here.closest('ul').scrollTop > 300", arg=here.element_handle())
    assert page.evaluate("scrollY") == 0


def test_a_class_shows_its_members_and_its_code(visitor: Visitor, server: Running) -> None:
    page = visitor.open(address(server, "Dough"))
    members = page.get_by_role("navigation", name="Members of Dough")
    expect(members.get_by_role("link", name=re.compile("^knead"))).to_be_visible()
    expect(page.get_by_role("region", name="Code of Dough")).to_contain_text("def knead(")
    members.get_by_role("link", name=re.compile("^knead")).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Dough.knead")
    expect(page).to_have_title("Dough.knead · dowse")


def test_the_graph_grows_with_depth_and_shrinks_with_kinds(visitor: Visitor, server: Running) -> None:
    page = visitor.open(address(server, "Order"))
    graph = page.get_by_role("region", name="Graph", exact=True)
    near, far = graph.locator('[data-layer="-1"]'), graph.locator('[data-layer="-2"]')
    walk = server.get("graph/uses", target="Order", index="bakery", depth=2)
    expect(near).to_have_count(sum(node["depth"] == 1 for node in walk["nodes"]))
    expect(far).to_have_count(0)
    graph.get_by_label("2", exact=True).check()
    tests = sum(node["depth"] == 2 and node["test"] for node in walk["nodes"])
    expect(far).to_have_count(sum(node["depth"] == 2 for node in walk["nodes"]) - tests)
    graph.get_by_role("button", name=f"{tests} tests").click()
    expect(far).to_have_count(sum(node["depth"] == 2 for node in walk["nodes"]))
    for kind in {edge["kind"] for edge in walk["edges"]} - {"uses"}:
        graph.get_by_label(kind.capitalize()).uncheck()
    expect(near).to_have_count(1)  # bake_bread names the class as a type
    expect(near).to_contain_text("bake_bread")
    expect(far).to_have_count(0)


def test_the_graph_zooms_moves_and_leads_on(visitor: Visitor, server: Running) -> None:
    page = visitor.open(address(server, "Dough.knead"))
    graph = page.get_by_role("group", name="Graph of references")
    picture = graph.locator("[data-zoom]")
    expect(graph.get_by_role("link", name="bake_bread")).to_be_visible()
    zoom = float(picture.get_attribute("data-zoom") or 0)
    page.get_by_role("button", name="Zoom in").click()
    expect(picture).to_have_attribute("data-zoom", f"{zoom * 1.3:.2f}")
    graph.hover(position={"x": 30, "y": 30})
    page.keyboard.down("Control")
    page.mouse.wheel(0, 300)
    page.keyboard.up("Control")
    expect(picture).not_to_have_attribute("data-zoom", f"{zoom * 1.3:.2f}")
    before = picture.get_attribute("transform")
    box = graph.get_by_role("link", name="bake_bread").bounding_box()
    assert box
    page.mouse.move(box["x"] + 5, box["y"] + 5)
    page.mouse.down()
    page.mouse.move(box["x"] + 50, box["y"] + 25, steps=3)
    page.mouse.up()
    expect(picture).not_to_have_attribute("transform", before or "")
    page.get_by_role("button", name="Show all").click()
    expect(picture).to_have_attribute("data-zoom", f"{zoom:.2f}")
    graph.get_by_role("link", name="bake_bread").press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("bake_bread")


def test_what_is_not_there_is_said(visitor: Visitor) -> None:
    page = visitor.open("/symbol/bakery/0123456789abcdef")
    expect(page.get_by_role("alert")).to_contain_text("No such symbol")


@pytest.fixture(scope="module")
def crowd(busy: Index) -> Iterator[Running]:
    """A server of the repository with a method that 128 call."""
    with running([busy]) as run:
        yield run


def symbol_page(run: Running, name: str) -> str:
    found = run.get("symbol", target=name)
    return f"/symbol/{found['index']}/{found['symbol']['id']}"


def visit_put(visit: Visit, crowd: Running, **how: Any) -> Page:
    found = crowd.get("symbol", target="Queue.put")
    assert (found["callers_total"], found["callers_tests"]) == (128, 88)
    page = visit(crowd).open(f"/symbol/busy/{found['symbol']['id']}", **how)
    expect(page.get_by_role("heading", level=1)).to_have_text("Queue.put")
    return page


def test_callers_in_code_come_first_by_file_and_tests_are_folded(visit: Visit, crowd: Running) -> None:
    page = visit_put(visit, crowd)
    callers = page.get_by_role("region", name="Called by")
    names = callers.get_by_role("listitem")
    expect(names).to_have_count(8)
    expect(callers).to_contain_text("workers/worker_0.py")
    expect(callers).not_to_contain_text("test_put")
    callers.get_by_role("button", name="Show 32 more").click()
    expect(names).to_have_count(40)
    expect(callers).to_contain_text("guess_7")  # not certain, but code
    callers.get_by_text("88 tests").click()
    expect(names).to_have_count(128)
    expect(callers).to_contain_text("test_put_7_10")


@pytest.mark.parametrize(("width", "shown"), [(1280, 12), (390, 6)])
def test_the_first_view_of_a_large_graph_can_be_read(
    visit: Visit, crowd: Running, width: int, shown: int
) -> None:
    page = visit_put(visit, crowd, width=width)
    graph = page.get_by_role("group", name="Graph of references")
    near = graph.locator('[data-layer="-1"]')
    expect(near).to_have_count(shown)
    expect(graph.locator('[data-file="workers/worker_0.py"]').get_by_role("link")).to_have_count(4)
    assert float(graph.locator("[data-zoom]").get_attribute("data-zoom") or 0) >= 0.75
    graph.scroll_into_view_if_needed()
    frame = graph.bounding_box()
    assert frame
    for link in graph.get_by_role("link").all():
        box = link.bounding_box()
        assert box and box["height"] >= 12
        assert frame["x"] <= box["x"] and box["x"] + box["width"] <= frame["x"] + frame["width"]
        assert frame["y"] <= box["y"] and box["y"] + box["height"] <= frame["y"] + frame["height"]
    assert not is_wider_than_screen(page)
    assert violations(page) == []


def test_the_page_of_a_name(visitor: Visitor, server: Running) -> None:
    """A constant: its line among others, what uses it, and nothing that only symbols have."""
    page = visitor.open(address(server, "DEFAULT_CURRENCY"))
    expect(page.get_by_role("heading", level=1)).to_have_text("DEFAULT_CURRENCY")
    code = page.get_by_role("region", name="Code of DEFAULT_CURRENCY")
    expect(code).to_contain_text('DEFAULT_CURRENCY = "EUR"')
    expect(page.get_by_role("region", name="Used by")).to_be_visible()
    expect(page.get_by_role("region", name="Calls", exact=True)).to_have_count(0)
    outline = page.get_by_role("navigation", name="Outline of the file")
    expect(outline.get_by_role("link", name="DEFAULT_CURRENCY")).to_have_attribute("aria-current", "true")
