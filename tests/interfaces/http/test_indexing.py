"""Building and refreshing behind a server that already answers."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dowse import Index
from interfaces.http.conftest import INN
from interfaces.http.running import Running, checked, running
from watch.running import until

from helpers import run_dowse, write_tree


@pytest.fixture
def fresh(tmp_path: Path) -> Index:
    """A tree that nobody has indexed yet."""
    return Index.open(write_tree(tmp_path / "inn", INN), index_dir=str(tmp_path / "i"))


def test_a_missing_index_is_built_while_the_server_answers(fresh: Index) -> None:
    with running([fresh]) as run:
        assert run.get("health")["status"] in ("starting", "ok")
        heard = run.events("done")
        assert {event["index"] for event in heard} == {"inn"}
        assert heard[-1]["detail"].startswith("2 added")
        assert run.get("health")["status"] == "ok"
        assert run.get("search", q="sweep")["hits"][0]["name"] == "sweep"
        assert run.get("suggest", q="swe")["suggestions"][0]["text"] == "sweep"


def test_before_the_first_index_searches_say_so(fresh: Index, bakery: Index) -> None:
    with running([fresh, bakery]) as run:
        run.state.engine.close()  # so that it stays missing
        if not fresh.exists:
            problem = run.get("search", 503, q="sweep", index="inn")
            assert problem["type"].endswith("index-missing")
            answer = run.get("search", q="bread")
            assert answer["hits"] and any("inn is left out" in note["text"] for note in answer["notes"])
            assert answer["indexes"][0]["problem"]
            status = run.get("status")["indexes"][0]
            assert not status["exists"] and status["symbols"] == 0


def test_reindexing_takes_in_what_changed(fresh: Index) -> None:
    fresh.update()
    with running([fresh]) as run:
        run.events("done")
        write_tree(fresh.root, {"inn/cellar.py": "def count_barrels():\n    return 3\n"})
        assert run.post("reindex", {"index": "inn"}, 202) == {"started": ["inn"], "waiting": []}
        run.events("done", "1 added")
        assert run.get("symbol", target="count_barrels")["symbol"]["path"] == "inn/cellar.py"


def test_rebuilding_reads_every_file_again(fresh: Index) -> None:
    fresh.update()
    with running([fresh]) as run:
        run.events("done")
        run.post("reindex", {"rebuild": True}, 202)
        run.events("done", "2 added")
        assert run.get("status")["indexes"][0]["generation"] == 2
        assert run.get("search", q="sweep")["hits"]


def test_a_damaged_index_is_built_again(fresh: Index) -> None:
    fresh.update()
    with running([fresh]) as run:
        run.events("done")
        (garbage := fresh.root.parent / "garbage").write_bytes(b"no database at all" * 100)
        garbage.replace(fresh.backend.folder / "catalog.sqlite")

        def is_answered() -> bool:
            answer = run.client.get("/api/v1/search", params={"q": "sweep"})
            return answer.status_code == 200 or not checked(answer, 503)  # another thread builds it again

        until(is_answered)
        assert run.get("search", q="sweep")["hits"]


def test_reindexing_names_what_it_does_not_know(server: Running) -> None:
    server.post("reindex", {"index": "butchery"}, 404)
    server.post("reindex", {"index": 3}, 422)
    server.post("reindex", {"all": True}, 422)


def test_too_many_listeners_are_sent_away(inn: Index) -> None:
    from dataclasses import replace

    from dowse.services.web.options import Limits, ServeOptions

    options = ServeOptions(limits=replace(Limits(), listeners=1))
    with running([inn], options) as run, run.client.stream("GET", "/api/v1/events") as first:
        lines = first.iter_lines()
        assert next(lines) == "retry: 2000"
        assert run.get("events", 503)["type"].endswith("busy")


def test_status_is_the_command_lines(server: Running, bakery: Index) -> None:
    here = bakery.status()
    found = server.get("status", index="bakery")["indexes"][0]
    for name in ("generation", "files", "symbols", "embedded", "skipped", "changes", "encoder", "repo"):
        assert found[name] == here[name]
    assert {each["language"] or "": each["files"] for each in found["languages"]} == {
        name or "text": count for name, count in here["languages"].items()
    }
    assert found["root"] == str(bakery.root)
    assert [each["name"] for each in server.get("status")["indexes"]] == ["bakery", "inn"]


def test_left_out_files_come_in_pages(server: Running, bakery: Index) -> None:
    whole = server.get("skipped", index="bakery")
    assert [
        (each["path"], each["reason"]) for each in whole["files"] if not each["indexed"]
    ] == bakery.contents.skipped()
    pages = [server.get("skipped", index="bakery", k=1, offset=at) for at in range(whole["total"])]
    assert [page["files"][0] for page in pages] == whole["files"]
    assert [page["more"] for page in pages] == [True] * (len(pages) - 1) + [False]
    reason = whole["reasons"][0]
    assert server.get("skipped", index="bakery", reason=reason["reason"])["total"] == reason["files"]


def test_the_command_line_sees_the_same_index(fresh: Index) -> None:
    with running([fresh]) as run:
        run.events("done")
    done = run_dowse(
        "search", "sweep", fresh.root, "--index-dir", fresh.backend.folder, "--json", **os.environ
    )
    assert done.returncode == 0, done.stderr
