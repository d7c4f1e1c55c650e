"""Where the CPU time of a full index goes: every stage in one process, one after another.

For `bench/index_speed.py`. A stage has its own time only, without that of stages that it calls. All threads
but this one are tantivy's.
"""

from __future__ import annotations

import functools
import gc
import pickle
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dowse.graph.link import Linker
from dowse.indexing import parse_worker, records
from dowse.indexing.parse_jobs import Job
from dowse.parsing import parser
from dowse.parsing.grammar import CompiledGrammar
from dowse.source.content import decode
from dowse.source.walk import WalkedFile, walk
from dowse.storage.local.backend import LocalBackend
from dowse.storage.local.catalog import Catalog
from dowse.storage.local.fulltext import FulltextWriter
from dowse.storage.local.graph_tables import GraphTables

# What is timed: the place of a function, its name there, and the stage.
_PARTS = (
    (parse_worker, "read_regular_file", "read"),
    (CompiledGrammar, "parse", "syntax trees"),
    (parser, "Matches", "queries and captures"),
    (parser, "Outline", "outline"),
    (parser, "_definitions", "outline"),
    (parser, "_remainder", "outline"),
    (records, "symbol_record", "terms and hashes"),
    (records, "pack", "compression"),
    (Catalog, "put_file", "SQLite"),
    (Catalog, "commit", "SQLite"),
    (FulltextWriter, "put", "tantivy"),
    (FulltextWriter, "commit", "tantivy"),
    (FulltextWriter, "put_trigrams", "trigrams"),
    (GraphTables, "complete_file", "symbol tables in SQLite"),
    (GraphTables, "put_links", "edges in SQLite"),
)
# The stages that words do not wait for: they make the call graph, and exact search faster.
_EXTRACT = "second parse, references and bindings"
_GRAPH_STAGES = (_EXTRACT, "trigrams", "symbol tables in SQLite", "link", "edges in SQLite")


class StageClock:
    """CPU seconds by stage; the time of an inner stage is not that of the outer one."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._stages = ["other"]
        self._is_whole = False
        self._since, self._others_since = time.thread_time(), time.process_time() - time.thread_time()

    def run(self, stage: str, function: Callable[..., Any], *arguments: Any, **more: Any) -> Any:  # noqa: ANN401
        """Call a function as part of a stage."""
        if self._is_whole:
            return function(*arguments, **more)
        self._enter(stage)
        try:
            return function(*arguments, **more)
        finally:
            self._count()
            self._stages.pop()

    def run_whole(self, stage: str, function: Callable[..., Any], *arguments: Any) -> Any:  # noqa: ANN401
        """Call a function with all that it calls as one stage."""

        def run() -> Any:  # noqa: ANN401
            self._is_whole = True
            try:
                return function(*arguments)
            finally:
                self._is_whole = False

        return self.run(stage, run)

    def other_threads(self) -> float:
        """Return the CPU seconds of other threads so far."""
        return time.process_time() - time.thread_time() - self._others_since

    def _enter(self, stage: str) -> None:
        self._count()
        self._stages.append(stage)

    def _count(self) -> None:
        now, stage = time.thread_time(), self._stages[-1]
        self.seconds[stage] = self.seconds.get(stage, 0.0) + now - self._since
        self._since = now


def measure_stages(tree: Path, folder: Path) -> dict[str, Any]:
    """Index a tree in this process; return CPU seconds and shares of the syntax trees' time by stage."""
    clock = StageClock()
    originals = [(owner, name, getattr(owner, name)) for owner, name, _ in _PARTS]
    for owner, name, stage in _PARTS:
        setattr(owner, name, _timed(clock, stage, getattr(owner, name)))
    gc.disable()  # as in a parser process
    try:
        _index(clock, tree, folder)
    finally:
        gc.enable()
        for owner, name, original in originals:
            setattr(owner, name, original)
    clock.seconds["trigrams"] += clock.other_threads()
    parsing = clock.seconds["read"] + clock.seconds["syntax trees"]
    return {
        stage: {
            "cpu_s": round(seconds, 3),
            "of_parsing": round(seconds / parsing, 2),
            "for": "graph" if stage in _GRAPH_STAGES else "words",
        }
        for stage, seconds in sorted(clock.seconds.items(), key=lambda each: -each[1])
    }


def _timed(clock: StageClock, stage: str, function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function, updated=())
    def run(*arguments: Any, **more: Any) -> Any:  # noqa: ANN401
        return clock.run(stage, function, *arguments, **more)

    return run


def _index(clock: StageClock, tree: Path, folder: Path) -> None:
    files = [each for each in walk(tree) if isinstance(each, WalkedFile)]
    with LocalBackend(folder).writer() as writer:
        for file in files:
            place = (file.path, str(tree / file.path), file.size)
            job = Job(
                *(place[0], "", place[0], "", place[1], place[2], 0, ""), strip_docs=False, is_deferred=True
            )
            reply = parse_worker.parse_path(job)
            frame = clock.run("messages", pickle.dumps, reply, pickle.HIGHEST_PROTOCOL)
            for record in clock.run("messages", pickle.loads, frame).records:
                writer.put(record)
        writer.commit({})
        words_threads = clock.other_threads()
        clock.seconds["tantivy"] += words_threads
        for deferred in writer.deferred_files():
            keys = writer.graph().symbol_keys(deferred.file_id)
            text = (tree / deferred.path).read_bytes()
            make = parse_worker.make_graph_part
            part = clock.run_whole(_EXTRACT, make, deferred, decode(text)[0].encode(), keys, tree.name)
            writer.complete_file(deferred.file_id, part)
        writer.commit({})
        clock.seconds["trigrams"] -= words_threads
        graph = writer.graph()
        links = clock.run("link", lambda: list(Linker(graph).resolve(graph.files_to_link())))
        for each in links:
            graph.put_links(*each)
        writer.begin_generation()
        writer.commit({})
