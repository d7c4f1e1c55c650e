"""`dowse status`: show what is indexed and whether it is up to date."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dowse.disk_use import measure_stores
from dowse.errors import IndexMissing
from dowse.formats.text import format_age, format_size
from dowse.interfaces.cli import flags
from dowse.interfaces.cli.command import EXIT_FOUND, CommandParser
from dowse.interfaces.cli.common import open_index
from dowse.interfaces.cli.printing import print_json, print_line
from dowse.interfaces.daemon.resident import resident_pid
from dowse.security.terminal import escape_name

if TYPE_CHECKING:
    from dowse.index import Index


def add_arguments(parser: CommandParser) -> None:
    """Add the flags of `dowse status`."""
    flags.add(parser, "target", "--encoder")
    parser.add_argument("--files", action="store_true", help="list each file, and why one is left out")
    flags.add(parser, "--json")


def run(options: argparse.Namespace) -> int:
    """Show the state of the index."""
    index = open_index(options)
    if not index.exists:
        raise IndexMissing(f"no index of {index.root} yet; run `dowse index`")
    if options.files:
        _list_files(index, as_json=options.json)
        return EXIT_FOUND
    facts = {**index.status(), "copy": _copy(index), "resident_process": resident_pid()}
    facts["disk"] = [store._asdict() for store in measure_stores()]
    if options.json:
        print_json(facts)
        return EXIT_FOUND
    files = f"{facts['files']:,} ({format_size(facts['source_bytes'])}), {facts['skipped']:,} left out"
    lines = [
        ("root", facts["root"]),
        *_copy_lines(facts),
        ("index", f"{facts['index']} ({format_size(facts['index_bytes'])})"),
        ("indexed", f"{format_age(facts['indexed_at'])}, generation {facts['generation']}"),
        ("files", files),
        ("symbols", f"{facts['symbols']:,}"),
        ("embedded", _embedded(facts)),
        *_adapter_lines(facts),
        ("languages", ", ".join(f"{name or 'text'} {n:,}" for name, n in facts["languages"].items())),
        ("fresh", _freshness(facts)),
        *_disk_lines(facts),
    ]
    if facts["writer"]:
        lines.append(("writing", f"process {facts['writer']}"))
    if facts["resident_process"]:
        lines.append(("resident", f"process {facts['resident_process']}; `dowse stop` ends it"))
    if facts["cluster"]:
        lines += _cluster_lines(index.backend.health())
    for name, value in lines:
        print_line(f"{name:<10} {value}")
    return EXIT_FOUND


def _copy(index: Index) -> dict[str, Any] | None:
    """Return what the repository is a copy of, None if it is none."""
    from dowse.source.clones import read_clone

    clone = read_clone(index.root)
    return clone and {"address": clone.address, "commit": clone.commit, "fetched_at": clone.fetched_at}


def _copy_lines(facts: Mapping[str, Any]) -> list[tuple[str, str]]:
    copy = facts["copy"]
    if not copy:
        return []
    age = format_age(copy["fetched_at"])
    return [("copy of", f"{copy['address']} at {copy['commit'][:12]}, fetched {age}")]


def _disk_lines(facts: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return what all indexes of the user take, with its limits."""
    lines = [f"{store['name']} {format_size(store['bytes'])} ({store['limit']})" for store in facts["disk"]]
    return [("disk" if not number else "", line) for number, line in enumerate(lines)]


def _embedded(facts: Mapping[str, Any]) -> str:
    if not facts["encoder"]:
        return "no encoder in use"
    done, total = facts["embedded"], facts["symbols"]
    share = 100 * done // total if total else 100
    embedded = f"{done:,} ({share} %) by {facts['encoder']}"
    if done == total:
        return embedded
    if facts["embedding"]:
        return f"{embedded}, {_time_left(facts['embedding'])}"
    return f"{embedded}; `{facts['finish']}` finishes it"


def _adapter_lines(facts: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return what was learnt from commits."""
    return [("adapter", facts["adapter"]["text"])] if facts["adapter"] else []


def _time_left(embedding: Mapping[str, Any]) -> str:
    from dowse.vectors.embedding_progress import EmbeddingProgress

    progress = EmbeddingProgress(*(embedding[name] for name in EmbeddingProgress._fields))
    return f"{progress.time_left} (process {progress.pid})" if progress.pid else progress.time_left


def _freshness(facts: Mapping[str, Any]) -> str:
    if facts["corpus"]:
        return "unknown (corpora are compared by `dowse index`)"
    changes = ", ".join(f"{count:,} {name}" for name, count in facts["changes"].items() if count)
    return f"no: {changes}; run `dowse index`" if changes else "yes"


def _cluster_lines(cluster: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the health of the cluster that holds the index."""
    unassigned = f", {cluster['unassigned']} shards without a node" if cluster["unassigned"] else ""
    nodes = f", {cluster['nodes']} nodes" if cluster["nodes"] else ""
    lines = [("cluster", f"{cluster['status']}{nodes}{unassigned}")]
    for kind, index in cluster["indices"].items():
        lines.append((kind, f"{index['documents']:,} documents, {format_size(index['bytes'])}"))
    if cluster["writing"]:
        lines.append(("writers", f"{cluster['writing']} at work"))
    return lines + [("advice", advice) for advice in cluster["advice"]]


def _list_files(index: Index, *, as_json: bool) -> None:
    files, skipped = index.contents.files(), index.contents.skipped()
    if as_json:
        rows = [file._asdict() for file in files]
        print_json({"files": rows, "skipped": [{"path": path, "reason": why} for path, why in skipped]})
        return
    for file in files:
        notes = "".join(f", {note}" for note in (file.role, file.problem) if note)
        counts = f"{file.language or 'text'}, {file.symbols} symbols, {file.lines} lines{notes}"
        sys.stdout.write(f"in   {escape_name(file.path)}\t{escape_name(counts)}\n")
    for path, reason in skipped:
        sys.stdout.write(f"out  {escape_name(path)}\t{escape_name(reason)}\n")
