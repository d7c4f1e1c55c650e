"""Definitions of files in a history, found by a process that such a file may end."""

from __future__ import annotations

import pytest

from dowse.history import sources
from dowse.workers.idle import IdleWorkers
from dowse.workers.program import worker_program

CRASH = """
import signal
import dowse.history.sources as sources
parse = sources.parse_definitions
def poisoned(data, path):
    if path == "crash.py":
        signal.raise_signal(signal.SIGSEGV)
    return parse(data, path)
sources.parse_definitions = poisoned
"""


@pytest.fixture
def idle(monkeypatch):
    workers = IdleWorkers(1)
    monkeypatch.setattr(sources, "_idle", workers)
    yield
    workers.clear()


def test_a_file_that_ends_the_parser_has_no_definitions(idle, monkeypatch):
    start, _, main = worker_program("dowse.history.definition_worker").partition("\n")
    monkeypatch.setattr(sources, "worker_program", lambda _: f"{start}\n{CRASH}\n{main}")
    names = [
        [each.qualified_name for each in sources.definitions_in(b"def bake(): ...\n", path).definitions]
        for path in ("before.py", "crash.py", "after.py", "notes.txt")
    ]
    assert names == [["bake"], [], ["bake"], []]


def test_grammars_are_extracted_for_the_parser(idle, monkeypatch, tmp_path):
    monkeypatch.setenv("SEMBLE_GRAMMARS_CACHE_DIR", str(tmp_path))
    text, definitions, _ = sources.definitions_in(b"def bake(): ...\n", "a.py")
    assert text == b"def bake(): ...\n" and [each.name for each in definitions] == ["bake"]
    assert [path.name for path in tmp_path.rglob("*.so")] == ["libtree_sitter_python.so"]
