"""`dowse log` finds commits by meaning and words, reads only new ones, and forgets those that are gone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dowse import Index
from dowse.commit_search.filters import parse_commit_query, parse_since
from dowse.commit_search.search import open_commits
from dowse.errors import DowseError
from dowse.interfaces.cli.main import main
from git_servers import git, git_daemon

from helpers import write_tree


def commit(root: Path, message: str, author: str = "Ann <ann@example.org>") -> str:
    """Commit everything, and return the hash."""
    git(root, "add", "-A")
    git(root, "commit", "-q", "--allow-empty", "-m", message, f"--author={author}")
    return git(root, "rev-parse", "HEAD")


@pytest.fixture
def shop(tmp_path, monkeypatch) -> Path:
    """A repository with a few commits, and a cache of its own."""
    monkeypatch.setenv("DOWSE_CACHE_DIR", str(tmp_path / "cache"))
    root = tmp_path / "remotes" / "shop"
    root.mkdir(parents=True)
    git(root, "init", "-q", "-b", "main")
    write_tree(root, {"src/till.py": "class Till:\n    def ring_up(self):\n        return 1\n"})
    commit(root, "open the shop")
    write_tree(root, {"src/till.py": "class Till:\n    def ring_up(self):\n        return round(2)\n"})
    commit(root, "round prices to cents\n\nCustomers complained about fractions.", "Bob <bob@example.org>")
    write_tree(root, {"docs/café \x1b[31m.md": "# Opening hours\n\nclass of customers\n"})
    commit(root, "opening hours \x1b[31mred")
    return root


def subjects(index: Index, query: str) -> list[str]:
    return [hit.commit.subject for hit in index.log(query)]


def test_commits_are_found_by_message_path_symbol_and_changed_line(shop):
    with Index.open(shop) as index:
        rounding = "round prices to cents"
        assert subjects(index, "cents")[0] == rounding
        assert subjects(index, "fractions") == [rounding]  # of the body
        assert subjects(index, "hours")[0].startswith("opening hours")
        assert set(subjects(index, "till")) == {"open the shop", rounding}  # of the path
        assert subjects(index, "symbol:Till.ring_up author:bob") == [rounding]
        assert subjects(index, "symbol:of") == []  # prose defines nothing
        assert subjects(index, "path:docs/** shop hours")[0].startswith("opening")
        assert subjects(index, "since:2190 hours") == []
        assert len(subjects(index, "since:2020-01")) == 3
        with pytest.raises(DowseError, match="say what to look for"):
            index.log("")


def test_meaning_finds_other_words(shop):
    with Index.open(shop, encoder="small") as index:
        assert (
            subjects(index, "amounts without many digits after the decimal point")[0]
            == "round prices to cents"
        )


def test_only_new_commits_are_read(shop):
    with open_commits(shop) as store:
        assert store.count() == 3
        rows = {each.id: each.row for each in store.commits()}
    commit(shop, "a new floor")
    with open_commits(shop) as store:
        assert store.count() == 4
        assert rows.items() <= {each.id: each.row for each in store.commits()}.items()
    git(shop, "reset", "-q", "--hard", "HEAD~2")
    commit(shop, "another floor")
    with open_commits(shop) as store:
        assert {each.subject for each in store.commits()} == {
            *("open the shop", "round prices to cents", "another floor")
        }
        assert list(store.search_words(["anoth"]))


@pytest.mark.parametrize("damage", ["overwritten", "cut", "another letter"])
def test_a_damaged_catalog_is_made_anew(shop, tmp_path, damage):
    with open_commits(shop):
        pass
    (file,) = (tmp_path / "cache").glob("histories/*/commits.v2.sqlite")
    data = file.read_bytes()
    damaged = {
        "overwritten": b"no database" * 1000,
        "cut": data[:-5000],
        "another letter": data.replace(b"round prices", b"pound prices"),
    }
    assert damaged[damage] != data
    file.write_bytes(damaged[damage])
    with Index.open(shop, encoder="none") as index:
        assert [hit.commit.subject for hit in index.log("author:bob")] == ["round prices to cents"]


def test_the_command_line(shop, capfd):
    assert main(["log", "rounding", "cents", str(shop), "--json"]) == 0
    answer = json.loads(capfd.readouterr().out)
    first = answer["commits"][0]
    assert first["subject"] == "round prices to cents" and first["symbols"] == ["ring_up"]
    assert first["paths"] == ["src/till.py"] and first["author"].startswith("Bob")
    assert main(["log", "opening hours", str(shop)]) == 0
    assert "\x1b" not in capfd.readouterr().out
    assert main(["log", "--symbol", "ring_up", str(shop)]) == 0
    assert len(capfd.readouterr().out.splitlines()) == 4
    assert main(["log", "since:yesterday", "x", str(shop)]) == 2
    assert main(["log", "zyzzyva", str(shop)]) == 1


def test_of_an_address_all_commits_are_fetched(shop, capfd):
    with git_daemon(shop.parent) as server:
        assert main(["symbols", "ring", f"{server}/shop", "--no-daemon"]) == 0  # shallow
        assert main(["log", "fractions", "--repo", f"{server}/shop"]) == 0
    assert "round prices to cents" in capfd.readouterr().out


def test_a_shallow_clone_says_so(shop, tmp_path):
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{shop}", "copy")
    with Index.open(tmp_path / "copy") as index, pytest.raises(DowseError, match="shallow"):
        index.log("cents")


def test_filters_are_parsed_apart_from_words():
    query = parse_commit_query('fix author:"Ann B" cookie path:src/** symbol:a::b since:2024')
    assert (query.text, query.authors, query.paths, query.symbols) == (
        "fix cookie",
        ("Ann B",),
        ("src/**",),
        ("b",),
    )
    assert query.since == parse_since("2024-01-01")
    assert parse_since("2 weeks ago") < parse_since("3 days")


def test_a_folder_of_a_repository_has_only_its_own_commits_and_paths(shop):
    write_tree(shop, {"src/door.py": "def close_shop(): ...\n", "secret/plan.py": "def expand_shop(): ...\n"})
    commit(shop, "close the shop at night")
    with Index.open(shop / "docs") as index:
        assert [subject[:13] for subject in subjects(index, "shop hours")] == ["opening hours"]
    with Index.open(shop / "src") as index:
        found = index.log("close shop")
        assert {hit.commit.subject for hit in found} >= {"close the shop at night"}
        assert {path for hit in found for path in hit.commit.paths} == {"src/till.py", "src/door.py"}
