"""Commits over HTTP: as the command line finds them, and nothing where there is no history."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from dowse import Index
from dowse.config import cache_folder
from dowse.interfaces.http.routes.log import _MAX_UNREAD
from dowse.json_form import to_json
from dowse.write_lock import write_lock
from git_servers import git
from interfaces.http.running import Running, running

from helpers import index_tree, write_tree


def commit(root: Path, message: str) -> None:
    """Commit everything."""
    git(root, "add", "-A")
    git(root, "commit", "-q", "--allow-empty", "-m", message)


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Index:
    """A repository with two commits, and a cache of its own."""
    monkeypatch.setenv("DOWSE_CACHE_DIR", str(tmp_path / "cache"))
    root = write_tree(tmp_path / "shop", {"till.py": "def ring_up(price):\n    return price\n"})
    git(root, "init", "-q", "-b", "main")
    commit(root, "open the shop")
    (root / "till.py").write_text("def ring_up(price):\n    return round(price, 2)\n")
    commit(root, "round prices\n\nto whole cents")
    return index_tree(root, {}, refresh="never")


@pytest.fixture
def server(shop: Index, inn: Index) -> Iterator[Running]:
    """A server with a history, and without."""
    with running([shop, inn]) as run:
        yield run


def test_commits_have_the_command_lines_json(server: Running, shop: Index) -> None:
    answer = server.get("log", q="prices", index="shop")
    here = [{"index": "shop", **to_json(hit)} for hit in shop.log("prices")]
    assert answer == {"query": "prices", "commits": here, "notes": []}
    assert (here[0]["subject"], here[0]["body"]) == ("round prices", "to whole cents")
    changed = server.get("log", symbol="ring_up", index="shop", k=1)
    assert [each["subject"] for each in changed["commits"]] == ["round prices"]
    assert changed["query"] == 'symbol:"ring_up"'
    assert server.get("log", symbol='ring_up" prices', index="shop")["commits"] == []


def test_without_a_history_there_is_a_note(server: Running) -> None:
    alone = server.get("log", symbol="sweep", index="inn")
    assert alone["commits"] == [] and [note["code"] for note in alone["notes"]] == ["index-failed"]
    both = server.get("log", q="prices")
    assert {each["index"] for each in both["commits"]} == {"shop"} and both["notes"] == alone["notes"]


def test_what_makes_no_sense_is_refused(server: Running) -> None:
    server.get("log", 400)
    server.get("log", 400, q="since:yesterday shop")
    server.get("log", 404, q="shop", index="butchery")
    server.get("log", 422, q="shop", k=0)
    server.get("log", 422, q="shop", k=101)


def test_a_long_history_is_read_on_request_alone(server: Running, shop: Index) -> None:
    for number in range(_MAX_UNREAD):
        git(shop.root, "commit", "-q", "--allow-empty", "-m", f"day {number}")
    unread = server.get("log", symbol="ring_up", index="shop", read=False)
    assert unread["commits"] == [] and [note["code"] for note in unread["notes"]] == ["refreshing"]
    assert len(server.get("log", symbol="ring_up", index="shop")["commits"]) == 2
    commit(shop.root, "one more day")
    assert len(server.get("log", symbol="ring_up", index="shop", read=False)["commits"]) == 2


def test_nobody_waits_long_for_another_reader(server: Running) -> None:
    server.get("log", symbol="ring_up", index="shop")
    (folder,) = (cache_folder() / "histories").iterdir()
    with write_lock(folder, 0, lambda _: None):
        assert server.get("log", 409, symbol="ring_up", index="shop")["type"].endswith("index-busy")
