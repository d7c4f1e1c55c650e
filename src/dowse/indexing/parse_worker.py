"""A process that parses and links: it gets jobs from its parent and sends a reply to each.

It is apart from the indexing process so that a grammar which hangs or crashes on some odd file costs that
file its syntax tree and nothing else. Wall time, CPU time and memory are limited by the system: native code
that never returns to Python is ended all the same.
"""

from __future__ import annotations

import contextlib
import gc
from pathlib import Path
from typing import TYPE_CHECKING

from dowse.errors import DowseError
from dowse.indexing.hashes import content_hash
from dowse.indexing.parse_jobs import (
    GROWTH_BYTES,
    MAX_REPLY_BYTES,
    AnyJob,
    CorpusJob,
    GraphJob,
    Job,
    LinkJob,
    ParserSetup,
    Reply,
)
from dowse.indexing.records import Source, corpus_record, make_graph_part, make_record
from dowse.parsing.grammar_library import GrammarMissing, ask_for_missing, grammars_folder
from dowse.parsing.languages import detect_language
from dowse.parsing.limits import PROCESS_MEMORY_BYTES, file_seconds
from dowse.security.safe_files import read_below
from dowse.source.content import classify_content, decode
from dowse.source.secrets import secret_content_reason
from dowse.workers.child import READY, Channel, limit_memory, time_limit
from dowse.workers.sandbox import confine, program_paths

if TYPE_CHECKING:
    from dowse.graph.link import Linker
    from dowse.storage.local.catalog import Catalog

# How much of a file decides its language: C++ headers often begin with pages of preprocessor lines.
_HEAD_BYTES = 65_536


def main() -> None:
    """Answer jobs until the parent is gone; its first message is a `ParserSetup`."""
    channel = Channel(MAX_REPLY_BYTES)
    # Parsing makes objects by the hundred thousand and no cycles: looking for some took 8 % on pydantic.
    gc.disable()
    limit_memory(PROCESS_MEMORY_BYTES)
    with contextlib.suppress(EOFError):
        setup: ParserSetup = channel.receive()
        _confine(setup)
        channel.send(READY)
        asked = set[str]()  # for grammars, by jobs that come again
        while True:
            job = channel.receive()
            ask_for_missing(job.key not in asked)
            reply: Reply | DowseError
            try:
                with time_limit(setup.seconds, _cpu_seconds(job)):
                    reply = _handle(job)
            except GrammarMissing as missing:
                asked.add(job.key)
                reply = Reply(job.key, "grammar", reason=str(missing))
            except DowseError as error:  # not the fault of the file: a grammar can't be loaded
                reply = error
            channel.send(reply)  # without a limit: the parent may take its time to read this


def _confine(setup: ParserSetup) -> None:
    """Keep what is needed: the tree, the index, and what Python may still import or load."""
    confine([*program_paths(), grammars_folder(), *(path for path, _ in setup.folders)])


def _cpu_seconds(job: AnyJob) -> float:
    """Return the CPU time limit of a job, 0 for none: only parsing a file can take any time."""
    if isinstance(job, LinkJob):
        return 0
    if isinstance(job, GraphJob):
        return file_seconds(job.file.size)
    return file_seconds(job.size, short=job.short_limits)


def _handle(job: AnyJob) -> Reply:
    if isinstance(job, LinkJob):
        return link_files(job)
    if isinstance(job, GraphJob):
        return extract_graph(job)
    return parse_functions(job) if isinstance(job, CorpusJob) else parse_path(job)


def parse_functions(job: CorpusJob) -> Reply:
    """Parse functions that came with their text."""
    records = tuple(corpus_record(each, job.strip_docs, job.plain_reason) for each in job.functions)
    return Reply(job.key, "parsed", records)


def parse_path(job: Job) -> Reply:
    """Read one file and parse it."""
    try:
        data = read_below(job.root, job.file, job.size + GROWTH_BYTES)
    except OSError as error:
        return Reply(job.key, "unreadable", reason=f"unreadable: {error.strerror}")
    digest = content_hash(data)
    if digest == job.known_hash:
        return Reply(job.key, "unchanged")
    verdict = classify_content(data, job.path)
    reason = verdict.skip_reason or ("" if job.include_secrets else secret_content_reason(data, job.path))
    if reason:
        return Reply(job.key, "skipped", reason=reason)
    text, encoding = decode(data)
    language = detect_language(job.path, data[:_HEAD_BYTES]) or "text"
    role = "generated" if verdict.generated else job.role
    # The size of what was read: the file may have been saved again since it was listed.
    source = Source(
        *(job.key, job.repo, job.path, language, role, len(data), job.mtime_ns, digest, encoding, text),
        tree=Path(job.root).name,
    )
    record = make_record(source, job.strip_docs, job.plain_reason, is_deferred=job.is_deferred)
    return Reply(job.key, "parsed", (record,))


# The catalogs and the graph that this process reads, by the key of the run.
_catalogs: dict[str, Catalog] = {}
_linkers: dict[str, tuple[Catalog, Linker]] = {}


def extract_graph(job: GraphJob) -> Reply:
    """Parse a stored file once more, for its references and bindings."""
    if job.key not in _catalogs:
        from dowse.storage.local.catalog import Catalog

        for each in _catalogs.values():
            each.close()
        _catalogs.clear()
        _catalogs[job.key] = Catalog.open_for_reading(Path(job.address), is_mapped=False)
    catalog = _catalogs[job.key]
    with catalog.snapshot():
        ((_, text),) = catalog.texts([job.file.file_id])
        keys = catalog.graph.symbol_keys(job.file.file_id)
    part = make_graph_part(job.file, text, keys, job.tree)
    return Reply(job.key, "extracted", graph=part)


def link_files(job: LinkJob) -> Reply:
    """Resolve the references of some files; what was looked up is kept for the next job of the run."""
    if job.key not in _linkers:
        from dowse.graph.link import Linker
        from dowse.storage.local.catalog import Catalog

        _linkers.clear()
        catalog = Catalog.open_for_reading(Path(job.address), is_mapped=False)
        catalog.graph.load_keys()
        _linkers[job.key] = catalog, Linker(catalog.graph)
    catalog, linker = _linkers[job.key]
    with catalog.snapshot():  # of this job alone: the writer's log grows as long as one is open
        links = tuple(
            (each.file_id, list(map(tuple, each.resolved)), list(map(tuple, each.named)), each.dependencies)
            for each in linker.resolve(job.file_ids)
        )
    return Reply(job.key, "linked", links=links)
