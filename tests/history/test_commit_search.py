"""`dowse log` finds commits by meaning and words, reads only new ones, and forgets those that are gone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dowse import Index
from dowse.commit_search import search
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
    write_tree(root, {"docs/café\t\x1b[31m.md": "# Opening hours\n\nclass of customers\n"})
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


def test_a_symbol_has_the_commits_that_changed_its_lines(shop):
    """git's context of a hunk names the function before it, and a comment has words after `class`."""
    first = "RATE = 2\n\n\ndef open_till():\n    return 1\n"
    text = f"{first}\n\n# a class may be last\ndef close_till():\n    return 2\n"
    write_tree(shop, {"src/night.py": text})
    commit(shop, "open and close at night")
    write_tree(shop, {"src/night.py": text.replace("return 2", "return 3")})
    commit(shop, "close later")
    write_tree(shop, {"src/night.py": text.replace("RATE = 2", "RATE = 5").replace("return 2", "return 3")})
    commit(shop, "a higher rate")
    moved = (
        text.replace("RATE = 2", "RATE = 5").replace("return 2", "return 3").replace("return 1", "return 4")
    )
    (shop / "src/night.py").unlink()
    write_tree(shop, {"src/shop/night.py": moved})
    commit(shop, "open later, and move")
    with Index.open(shop, encoder="none") as index:
        assert set(subjects(index, "symbol:open_till")) == {"open and close at night", "open later, and move"}
        assert set(subjects(index, "symbol:close_till")) == {"open and close at night", "close later"}
        assert set(subjects(index, "symbol:RATE")) == {"open and close at night", "a higher rate"}
        assert subjects(index, "symbol:close_till path:src/till.py") == []
        assert [subjects(index, f"symbol:{word}") for word in ("may", "last", "is", "of")] == [[], [], [], []]
        by_subject = {hit.commit.subject: hit.commit.symbols for hit in index.log("since:2000")}
    assert by_subject["close later"] == ("close_till",)
    assert by_subject["a higher rate"] == () and by_subject["open and close at night"] == (
        "open_till",
        "close_till",
    )


def test_of_a_symbol_that_is_gone_its_lines_are_looked_for(shop):
    write_tree(shop, {"src/till.py": "class Till:\n    pass\n"})
    commit(shop, "no till rings any more")
    with Index.open(shop, encoder="none") as index:
        found = ["no till rings any more", "open the shop"]
        assert sorted(subjects(index, "symbol:Till.ring_up")) == found
        assert subjects(index, "symbol:zyzzyva") == []


def test_a_name_of_many_definitions_asks_for_its_class(shop):
    text = "".join(f"class C{number}:\n    def run(self): ...\n\n\n" for number in range(41))
    write_tree(shop, {"src/many.py": text})
    commit(shop, "many classes")
    with Index.open(shop, encoder="none") as index:
        with pytest.raises(DowseError, match=r"run has 41 definitions; name one as Class\.run"):
            index.log("symbol:run")
        assert subjects(index, "symbol:C7.run") == ["many classes"]


def test_reading_is_reported_and_goes_on_where_it_was_interrupted(shop, monkeypatch):
    monkeypatch.setattr(search, "_BATCH", 1)
    monkeypatch.setattr(search, "_READERS", 1)

    def interrupt(done: int, total: int) -> None:
        assert total == 3
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), open_commits(shop, on_progress=interrupt):
        pass
    read: list[tuple[int, int]] = []
    with open_commits(shop, on_progress=lambda *done: read.append(done)) as store:
        assert read == [(1, 1)] and store.count() == 3


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
    (file,) = (tmp_path / "cache").glob("histories/*/commits.v3.sqlite")
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
    assert first["subject"] == "round prices to cents" and first["symbols"] == ["Till.ring_up"]
    assert first["paths"] == ["src/till.py"] and first["author"].startswith("Bob")
    assert main(["log", "opening hours", str(shop)]) == 0
    assert "\x1b" not in capfd.readouterr().out
    assert main(["log", "--symbol", "ring_up", str(shop)]) == 0
    assert len(capfd.readouterr().out.splitlines()) == 4
    assert main(["log", "since:yesterday", "x", str(shop)]) == 2
    capfd.readouterr()
    assert main(["log", "zyzzyva", str(shop)]) == 1
    assert capfd.readouterr() == ("", "dowse: no commit is about this\n")


def test_the_last_word_of_a_question_is_a_word(shop, capfd, monkeypatch):
    monkeypatch.chdir(shop)
    assert main(["log", "rounding", "of", "src", "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["query"] == "rounding of src"
    assert main(["log", "rounding", "src", "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["query"] == "rounding"


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
        ("a::b",),
    )
    assert query.since == parse_since("2024-01-01")
    assert parse_since("2 weeks ago") < parse_since("3 days")


def test_a_folder_of_a_repository_has_only_its_own_commits_and_paths(shop, capfd):
    write_tree(shop, {"src/door.py": "def close_shop(): ...\n", "secret/plan.py": "def expand_shop(): ...\n"})
    commit(shop, "close the shop at night")
    with Index.open(shop / "docs") as index:
        (found,) = index.log("shop hours")
        assert found.commit.subject[:13] == "opening hours"
        assert list(found.commit.paths) == ["docs/café\t\x1b[31m.md"]
    with Index.open(shop / "src") as index:
        found = index.log("close shop")
        assert {hit.commit.subject for hit in found} >= {"close the shop at night"}
        assert {path for hit in found for path in hit.commit.paths} == {"src/till.py", "src/door.py"}
    assert (
        main(["log", "hours shop", str(shop / "docs"), "--json"]) == 0
    )  # whose index is that of the repository
    assert [each["subject"][:13] for each in json.loads(capfd.readouterr().out)["commits"]] == [
        "opening hours"
    ]
