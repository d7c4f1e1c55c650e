"""`dowse diff-search` finds only what a branch changed, or the work tree."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dowse.interfaces.cli.main import main
from git_servers import git

from helpers import write_tree

TILL = """class Till:
    size = 1

    def ring_up(self, price):
        return price

    def open_drawer(self, price):
        return price

    def close_drawer(self, price):
        note = price
        return note
"""


@pytest.fixture
def shop(tmp_path, monkeypatch) -> Path:
    """A repository whose branch `sale` changed one method, deleted a line of another and added a file."""
    monkeypatch.setenv("DOWSE_CACHE_DIR", str(tmp_path / "cache"))
    root = write_tree(tmp_path / "shop", {"src/till.py": TILL, "src/other.py": "def price(): pass\n"})
    git(root, "init", "-q", "-b", "main")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "open the shop")
    git(root, "checkout", "-qb", "sale")
    changed = TILL.replace("return price\n\n    def open", "return price * 0.5\n\n    def open")
    changed = changed.replace("        note = price\n", "")
    write_tree(root, {"src/till.py": changed, "src/sale café.py": "def sale_price(): pass\n"})
    git(root, "add", "-A")
    git(root, "commit", "-qm", "a sale")
    git(root, "checkout", "-q", "main")
    write_tree(root, {"src/later.py": "def later_price(): pass\n"})
    git(root, "add", "-A")
    git(root, "commit", "-qm", "later on main")
    return root


def names(capfd, *arguments: str) -> set[str]:
    main(["diff-search", *arguments, "--json", "-k", "50", "--no-daemon"])
    out = capfd.readouterr().out
    return {hit["name"] for hit in json.loads(out)["hits"]} if out else set()


def test_a_path_may_hold_what_separates_folders_for_git(shop, capfd, tmp_path):
    odd = shop.rename(tmp_path / 'a:b "c\\d')
    (odd / "src/other.py").write_text("def new_price(): pass\n")
    assert names(capfd, "main..", "price", str(odd)) == {"new_price"}


@pytest.mark.parametrize("dots", ["..", "..."])
def test_only_what_the_branch_changed_is_found(shop, capfd, dots):
    found = names(capfd, f"main{dots}sale", "price", str(shop))
    assert found == {"ring_up", "close_drawer", "sale_price"}  # not what main got meanwhile
    assert git(shop, "status", "--short") == ""


def test_the_work_tree_and_new_files(shop, capfd):
    git(shop, "checkout", "-q", "sale")
    write_tree(shop, {"src/other.py": "def price(): return 2\n", "src/new.py": "def new_price(): pass\n"})
    git(shop, "checkout", "-q", "--detach")
    assert names(capfd, "HEAD..", "price", str(shop)) == {"price", "new_price"}
    assert names(capfd, "main..", "price", str(shop)) == {
        *("ring_up", "close_drawer", "sale_price", "price", "new_price"),
    }
    assert names(capfd, "main..", "price", str(shop / "src/new.py")) == {"new_price"}
    assert git(shop, "status", "--short").split("\n") == ["M src/other.py", "?? src/new.py"]


def test_a_commit_that_is_checked_out_needs_no_other_index(shop, capfd):
    git(shop, "checkout", "-q", "sale")
    assert names(capfd, "main..HEAD", "price", str(shop)) == {"ring_up", "close_drawer", "sale_price"}
    assert not (Path(shop).parent / "cache" / "revisions").exists()
    (shop / "src/till.py").write_text("def moved(): pass\n" + TILL)
    assert names(capfd, "main..HEAD", "price", str(shop)) == {"ring_up", "close_drawer", "sale_price"}


@pytest.mark.parametrize("words", ["nonesuch..sale", "main..nonesuch", "--output=x..", "..sale", "a..b..c"])
def test_what_is_no_range_is_an_error(shop, capfd, words):
    assert main(["diff-search", "--no-daemon", "--", words, "price", str(shop)]) == 2
    assert capfd.readouterr().err.splitlines()[-1].startswith("dowse: ")


def test_nothing_changed(shop, capfd):
    assert main(["diff-search", "HEAD..", "price", str(shop), "--no-daemon"]) == 1
    assert "no indexed symbol was changed" in capfd.readouterr().err
