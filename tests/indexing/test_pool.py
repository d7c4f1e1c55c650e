"""Parsing processes: real ones, killed, hung and unable to start."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import sys
from functools import partial
from pathlib import Path

import pytest

from dowse import Index
from dowse.errors import DowseError
from dowse.graph.link import link
from dowse.indexing import parse_pool as pool
from dowse.indexing.link_pool import resolve_in_processes
from dowse.indexing.parse_jobs import CorpusJob, Job
from dowse.source.corpus import CorpusFunction
from dowse.storage.local.backend import LocalBackend

from helpers import age, contents, write_tree

# The real worker, except that it crashes or hangs on some names.
FAULTY = """
import os, signal
import dowse.indexing.parse_worker as worker
parse_path, parse_functions = worker.parse_path, worker.parse_functions
def fail(name):
    if "segfault" in name:
        signal.raise_signal(signal.SIGSEGV)
    if "leave" in name:
        os._exit(3)
    if "raise" in name:
        raise RecursionError
    while "hang" in name:
        pass
def faulty_path(job):
    fail(job.path)
    return parse_path(job)
def faulty_functions(job):
    for function in job.functions:
        fail(function.name)
    return parse_functions(job)
worker.parse_path, worker.parse_functions = faulty_path, faulty_functions
"""


def with_patch(patch: str) -> str:
    """Return the program of a parser process that applies a patch to itself first."""
    start, _, main = real_program().partition("\n")
    return f"{start}\n{patch}\n{main}"


real_program = pool.parser_program


def jobs(root: Path, names: list[str]) -> list[Job]:
    write_tree(root, {name: f"def in_{i}(): ...\n" for i, name in enumerate(names)})
    return [Job(name, "r", name, "", str(root), name, 1, 1, "", False) for name in names]


@pytest.mark.parametrize("processes", [1, 3])
def test_every_job_is_answered(tmp_path, processes):
    names = [f"{i}.py" for i in range(30)]
    replies = list(pool.parse_all(jobs(tmp_path, names), processes, root=tmp_path))
    assert [reply.key for reply in replies] == names
    assert all(reply.status == "parsed" and len(reply.records) == 1 for reply in replies)


def test_two_builds_number_files_alike(tmp_path):
    tree = {f"{i}.py": f"def f{i}(): ...\n" * (1 + 997 * i % 499) for i in range(20)}
    write_tree(tmp_path / "repo", tree)
    builds = []
    for build in ("one", "two"):
        with Index.open(tmp_path / "repo", index_dir=str(tmp_path / build), processes=4) as index:
            index.update()
            builds.append([(file.file_id, file.path) for file in index.contents.files()])
    assert builds[0] == builds[1]
    assert [path for _, path in sorted(builds[0])] == sorted(tree)


def test_a_deadly_file_costs_itself_alone(tmp_path):
    names = [f"{i}.py" for i in range(8)]
    names[1], names[4], names[7] = "segfault.py", "leave.py", "raise.py"
    replies = {
        r.key: r for r in pool.parse_all(jobs(tmp_path, names), 1, root=tmp_path, program=with_patch(FAULTY))
    }
    assert replies["segfault.py"].reason == "parser died (SIGSEGV)"
    assert replies["leave.py"].reason == "parser died (exit code 3)"
    # 120: it also failed to print why, since nobody reads that.
    assert replies["raise.py"].reason in ("parser died (exit code 1)", "parser died (exit code 120)")
    assert sorted(key for key, reply in replies.items() if reply.records) == [
        f"{i}.py" for i in (0, 2, 3, 5, 6)
    ]


def test_a_file_that_never_ends_costs_itself_alone(tmp_path):
    names = ["before.py", "hang.py", "after.py"]
    replies = {
        r.key: r for r in pool.parse_all(jobs(tmp_path, names), 1, 1, with_patch(FAULTY), root=tmp_path)
    }
    assert replies["hang.py"].reason == "parser took longer than 1 s"
    assert replies["before.py"].records and replies["after.py"].records


# The real worker with little CPU time for a file; the parser never ends, or dies, on some.
POISONED = """
import os, signal
import dowse.indexing.records as records
import dowse.indexing.parse_worker as worker
worker.file_seconds = lambda size, short=False: 0.3
parse_file = records.parse_file
def poisoned(data, language, path, **limits):
    while "slow" in path:
        pass
    if "hungry" in path:
        bytearray(1 << 31)
    if "crash" in path:
        signal.raise_signal(signal.SIGSEGV)
    return parse_file(data, language, path, **limits)
records.parse_file = poisoned
"""


def test_a_file_that_cannot_be_parsed_is_indexed_as_plain_lines(tmp_path):
    names = ["before.py", "slow.py", "crash.py", "after.py"]
    replies = {
        r.key: r
        for r in pool.parse_all(jobs(tmp_path, names), 1, root=tmp_path, program=with_patch(POISONED))
    }
    assert {key: reply.records[0].problem for key, reply in replies.items()} == {
        "before.py": "",
        "slow.py": "parser took too much CPU time for the size of the file; indexed as plain lines",
        "crash.py": "parser died (SIGSEGV); indexed as plain lines",
        "after.py": "",
    }
    assert [s.kind for s in replies["slow.py"].records[0].symbols] == ["text"]
    assert [s.name for s in replies["after.py"].records[0].symbols] == ["in_3"]


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not limit the memory of a process")
def test_a_file_that_takes_too_much_memory_is_indexed_as_plain_lines(tmp_path):
    replies = {
        r.key: r
        for r in pool.parse_all(
            jobs(tmp_path, ["hungry.py", "b.py"]), 1, root=tmp_path, program=with_patch(POISONED)
        )
    }
    assert replies["hungry.py"].records[0].problem.endswith("; indexed as plain lines")
    assert replies["b.py"].records[0].problem == ""


def test_an_update_says_which_files_were_not_parsed(tmp_path):
    """Comments that never end: the lexer follows each of them to the end of the file."""
    root = write_tree(tmp_path / "tree", {"A.java": "/* a\n" * 16_000, "b.py": "def fine(): ...\n"})
    with Index.open(root, index_dir=str(tmp_path / "index")) as index:
        report = index.update()
        assert report.added == 2 and index.contents.skipped() == []
        ((path, problem),) = report.failed
        assert path == "A.java" and problem.endswith("; indexed as plain lines")
        assert [row.name for row in index.symbols("fine")] == ["fine"]


def test_a_deadly_function_of_a_corpus_costs_itself_alone():
    names = [f"f{i}" for i in range(6)]
    names[2], names[5] = "segfault", "leave"
    functions = tuple(CorpusFunction(n, "", "", n, "python", f"def {n}(): ...", "", 1, "") for n in names)
    batches = [CorpusJob("first", functions, False), CorpusJob("second", functions[:2], False)]
    replies = list(pool.parse_all(batches, 1, program=with_patch(FAULTY)))
    lost = {reply.key: reply.reason for reply in replies if not reply.records}
    assert lost == {"segfault": "parser died (SIGSEGV)", "leave": "parser died (exit code 3)"}
    assert sorted(record.key for reply in replies for record in reply.records) == sorted(
        ["f0", "f1", "f3", "f4", "f0", "f1"]
    )


@pytest.mark.parametrize(
    ("program", "reason"),
    [("raise ImportError('no grammar here')", "ImportError: no grammar here"), ("", "")],
)
def test_a_process_that_cannot_start_is_told_at_once(tmp_path, program, reason):
    with pytest.raises(DowseError, match=r"could not start .*or the installation not whole\?") as raised:
        list(pool.parse_all(jobs(tmp_path, ["a.py", "b.py"]), 2, program=program or "pass"))
    assert reason in str(raised.value)


def test_an_update_lists_what_killed_the_parser(tmp_path, monkeypatch):
    root = write_tree(tmp_path / "tree", {"good.py": "def fine(): ...\n", "segfault.py": "def bad(): ...\n"})
    age(root)
    monkeypatch.setattr(pool, "parser_program", lambda: with_patch(FAULTY))
    with Index.open(root, index_dir=str(tmp_path / "index")) as index:
        report = index.update()
        assert report.added == 1
        assert report.failed == (("segfault.py", "parser died (SIGSEGV)"),)
        assert index.contents.skipped() == [("segfault.py", "parser died (SIGSEGV)")]
        assert [row.name for row in index.symbols()] == ["fine"]
        written = contents(index.backend.folder)
        assert not index.update().wrote
        assert contents(index.backend.folder) == written
        monkeypatch.undo()
        (root / "segfault.py").write_text("def mended(): ...\n")
        assert index.update().added == 1
        assert index.contents.skipped() == []


def test_a_writer_that_cannot_parse_leaves_the_index_as_it_was(tmp_path, monkeypatch):
    root = write_tree(tmp_path / "tree", {"a.py": "def first(): ...\n"})
    with Index.open(root, index_dir=str(tmp_path / "index")) as index:
        index.update()
        (root / "a.py").unlink()
        (root / "b.py").write_text("def second(): ...\n")
        monkeypatch.setattr(pool, "parser_program", lambda: "pass")
        with pytest.raises(DowseError, match="could not start"):
            index.update()
        assert [row.name for row in index.symbols()] == ["first"]
        assert index.backend.check() == []
        assert len(os.listdir(index.backend.folder / "text")) == 1


GRAPH_TABLES = ("edges", "named", "lookups")
LINKED = {
    f"{name}.py": f"from {other} import {other}\n\ndef {name}():\n    {other}()\n    found.{name}()\n"
    for name, other in zip("abcdefgh", "bcdefgha", strict=True)
}


@pytest.mark.parametrize(
    "patch", ["", "import dowse.indexing.parse_worker as worker\nworker.link_files = exit"]
)
def test_links_are_those_of_one_process_even_if_the_processes_die(tmp_path, patch):
    root = write_tree(tmp_path / "tree", LINKED)
    made = [Job(name, "r", name, "", str(root), name, 1, 1, "", False) for name in LINKED]
    tables = []
    for name in ("alone", "together"):
        with LocalBackend(tmp_path / name).writer() as writer:
            for reply in pool.parse_all(made, 2, root=root):
                writer.put(reply.records[0])
            program = with_patch(patch) if patch else ""
            shared = partial(resolve_in_processes, writer, 2, program=program)
            link(writer.graph(), shared if name == "together" else None)
            writer.commit({})
        with contextlib.closing(sqlite3.connect(tmp_path / name / "catalog.sqlite")) as db:
            tables.append([db.execute(f"SELECT * FROM {table}").fetchall() for table in GRAPH_TABLES])
    assert tables[0] == tables[1]
    assert all(tables[0])
