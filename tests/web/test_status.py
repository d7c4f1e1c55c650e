"""`/status`: what is indexed, progress as it happens, what was left out and why."""

from __future__ import annotations

import time

from playwright.sync_api import Page, expect

from dowse import Index
from interfaces.http.running import Running, running
from web.conftest import Visit, Visitor

from helpers import write_tree


def test_what_is_indexed(visitor: Visitor, server: Running) -> None:
    page = visitor.open("/status")
    for index in server.get("status")["indexes"]:
        card = page.get_by_role("region", name=index["name"], exact=True)
        expect(card).to_contain_text(index["root"])
        for term in ("files", "symbols"):
            expect(card.locator("dt", has_text=term.capitalize()).locator("+ dd")).to_have_text(
                str(index[term])
            )
        expect(card).to_contain_text(index["languages"][0]["language"])


def test_what_was_left_out_and_why(visitor: Visitor, server: Running) -> None:
    page = visitor.open("/status")
    left_out = page.get_by_role("region", name="Left out", exact=True)
    everything = server.get("skipped")
    expect(left_out.get_by_role("row")).to_have_count(everything["total"] + 1)
    row = left_out.get_by_role("row").filter(has_text="assets/bundle.js")
    reason = next(file["reason"] for file in everything["files"] if file["path"] == "assets/bundle.js")
    expect(row).to_contain_text(reason)
    left_out.get_by_role("button", name=reason).click()
    same = [each["files"] for each in everything["reasons"] if each["reason"] == reason]
    expect(left_out.get_by_role("row")).to_have_count(same[0] + 1)


def test_bringing_up_to_date_is_seen_as_it_happens(visit: Visit, mill: Index) -> None:
    mill.update()
    with running([mill]) as server:
        server.events("done")
        page = visit(server).open("/status")
        card = page.get_by_role("region", name="mill", exact=True)
        symbols = card.locator("dt", has_text="Symbols").locator("+ dd")
        before = server.get("status")["indexes"][0]["symbols"]
        expect(symbols).to_have_text(str(before))
        write_tree(mill.root, {f"part{n}.py": f"def part{n}():\n    return {n}\n" for n in range(8)})
        card.get_by_role("button", name="Bring up to date").click()
        expect(symbols).to_have_text(str(before + 8))
        expect(card.locator("dt", has_text="By meaning").locator("+ dd")).to_have_text("100 %")
        expect(card.get_by_role("button", name="Bring up to date")).to_be_enabled()


def turn(page: Page, state: str) -> None:
    """Have the page believe that its tab is seen or not; a headless browser shows all of them."""
    page.evaluate(
        """state => {
            Object.defineProperty(document, "visibilityState", { configurable: true, get: () => state });
            document.dispatchEvent(new Event("visibilitychange"));
        }""",
        state,
    )


def listens(server: Running, expected: bool) -> None:
    """Wait until the page listens, or does no more."""
    end = time.monotonic() + 20
    while bool(server.state.broker.subscribers) != expected and time.monotonic() < end:
        time.sleep(0.01)
    assert bool(server.state.broker.subscribers) == expected
