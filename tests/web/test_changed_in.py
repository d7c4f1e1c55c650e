"""The page of a symbol shows which commits changed it, and asks before it reads a long history."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from git_servers import git
from interfaces.http.running import running
from web.browser import is_wider_than_screen, violations
from web.conftest import Visit

from helpers import index_tree, write_tree

MARKUP = "<img src=x onerror=\"document.title='pwned'\"> \u202eprices"


def commit(root: Path, message: str) -> str:
    """Commit everything, and return the hash."""
    git(root, "add", "-A")
    author = "--author=Ann Baker <ann@example.org>"
    git(root, "commit", "-q", "--allow-empty", "--date=2024-05-01T12:00:00Z", author, "-m", message)
    return git(root, "rev-parse", "HEAD")


def test_commits_come_after_a_click(visit: Visit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOWSE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("GIT_COMMITTER_DATE", "2024-05-01T12:00:00Z")
    namesake = "def ring_up(price):\n    return price\n"
    root = write_tree(tmp_path / "shop", {"till.py": namesake})
    git(root, "init", "-q", "-b", "main")
    commit(root, "open the shop")
    for number in range(49):
        git(root, "commit", "-q", "--allow-empty", "-m", f"day {number}")
    (root / "till.py").write_text("def ring_up(price):\n    return round(price, 2)\n")
    changed = commit(root, MARKUP)
    (root / "bell.py").write_text(namesake)
    commit(root, "a bell")
    with running([index_tree(root, {}, refresh="never")]) as run:
        found = run.get("symbol", target="till.py:1")["symbol"]["id"]
        page = visit(run).open(f"/symbol/shop/{found}")
        section = page.get_by_role("region", name="Changed in")
        expect(section).to_contain_text("52 commits are not read yet")
        section.get_by_role("button", name="Read the commits").click()
        entries = section.get_by_role("listitem")
        expect(entries).to_have_count(2)
        entry = entries.filter(has_text="onerror")
        expect(entry).to_contain_text(MARKUP.replace("\u202e", "\ufffd"))
        expect(entry).to_contain_text(re.compile(f"{changed[:12]}.*2024-05-01.*Ann Baker"))
        expect(section.get_by_role("button")).to_have_count(0)
        assert page.title() != "pwned" and violations(page) == []
        page.set_viewport_size({"width": 375, "height": 900})
        assert not is_wider_than_screen(page)
        page.reload()  # what was read is there at once
        expect(entries).to_have_count(2)
