"""Whether "nothing calls X" is ever wrong: every function of repositories, against grep and compilers.

    python bench/graph_nothing.py --repos DIR NAME ... [--oracles DIR] [--out FILE]

Each function and method is asked for its callers. Where the answer says that nothing calls it, no file
of the index may have its name as a word outside its definition; a constructor of the name of its class is
defined with it. Nor may a call in another function have it as a target in an oracle of the repository
(DIR/LANGUAGE-NAME.jsonl.gz, by bench/graph_oracle.py). `oracle_targets` are the functions that an oracle
says are called.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
from collections import defaultdict
from pathlib import Path

from dowse.config import Settings
from dowse.graph.mentions import MENTION_LIMIT
from dowse.graph.queries import query_relation_of
from dowse.indexing.update import update
from dowse.storage.local.backend import LocalBackend
from dowse.storage.protocol import Reader
from dowse.types import SymbolRow

from common import work_folder, write_results

_WORD = re.compile(r"\w+")


def main() -> None:
    """Index each repository, ask for the callers of every function, and check the denials."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repos", type=Path, required=True)
    parser.add_argument("names", nargs="+", metavar="NAME")
    parser.add_argument("--oracles", type=Path, help="folder of call sites by compilers")
    parser.add_argument("--work", type=Path, help="index here (default: a temporary folder)")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    results: dict[str, dict[str, object]] = {}
    if options.out and options.out.exists():  # repositories that are not measured now stay
        results = json.loads(options.out.read_text())["results"]
    with work_folder(options.work) as work:
        for name in options.names:
            backend = LocalBackend(work / name)
            update(backend, options.repos / name, Settings())
            with backend.reader() as reader:
                counts, wrong = check(reader, oracle_calls(options.oracles, name))
            results[name] = {**counts, "wrong": wrong}
            print(name, dict(counts), wrong[:10], flush=True)
    if options.out:
        write_results(options.out, dict(results))


# Path and line of a call, by path, line and name of what it calls.
Calls = dict[tuple[str, int, str], list[tuple[str, int]]]


def oracle_calls(folder: Path | None, name: str) -> Calls:
    """Return the calls that compilers see in a repository."""
    calls: Calls = defaultdict(list)
    for file in folder.glob(f"*-{name}.jsonl.gz") if folder else ():
        if file.name.split("-", 1)[1] != f"{name}.jsonl.gz":
            continue
        with gzip.open(file, "rt") as lines:
            for site in map(json.loads, lines):
                for target in site["targets"]:
                    key = (target["path"], target["line"], target["name"])
                    calls[key].append((site["path"], site["line"]))
    return calls


def check(reader: Reader, calls: Calls) -> tuple[dict[str, int], list[str]]:
    """Return how many functions there are and what was said of them, and those that were denied wrongly."""
    names = ("functions", "oracle_targets", "certain", "possible", "mentioned", "denied", "denied_wrongly")
    counts = dict.fromkeys(names, 0)
    wrong: list[str] = []
    files = reader.file_rows([file.file_id for file in reader.files()])
    places = word_places(reader, files)
    for row in (row for row in reader.rows_of_files([file.file_id for file in files]) if is_function(row)):
        answer = query_relation_of(reader, "callers", [row], 1, MENTION_LIMIT)
        is_denied = any("occurs nowhere else" in note.text for note in answer.notes)
        is_certain = any(step.is_sure for step in answer.steps)
        called_at = sites_outside(calls, row)
        counts["functions"] += 1
        counts["oracle_targets"] += bool(called_at)
        counts["certain"] += is_certain
        counts["possible"] += bool(answer.steps) and not is_certain
        counts["mentioned"] += bool(answer.mentions) and not answer.steps
        counts["denied"] += is_denied
        if is_denied and (others := called_at or other_places(reader, places, row)):
            wrong.append(f"{row.path}:{row.start_line} {row.qualified_name}: {others[0]}")
    counts["denied_wrongly"] = len(wrong)
    return counts, wrong


def sites_outside(calls: Calls, row: SymbolRow) -> list[tuple[str, int]]:
    """Return the calls of a function from outside of its own lines; its name is on one of its first."""
    return [
        (path, line)
        for at in range(row.start_line, row.end_line + 1)
        for path, line in calls.get((row.path, at, row.name), ())
        if path != row.path or not row.start_line <= line <= row.end_line
    ]


def is_function(row: SymbolRow) -> bool:
    """Whether a symbol is a function or a method."""
    return row.kind in ("function", "method")


def word_places(reader: Reader, files: list[SymbolRow]) -> dict[str, list[tuple[int, str, int]]]:
    """Return where each word of the index occurs: file, path and line."""
    paths = {file.file_id: file.path for file in files}
    places: dict[str, list[tuple[int, str, int]]] = defaultdict(list)
    for file_id, text in reader.texts(list(paths)):
        for number, line in enumerate(text.decode("utf-8", "replace").split("\n"), 1):
            for word in set(_WORD.findall(line)):
                places[word].append((file_id, paths[file_id], number))
    return places


def other_places(
    reader: Reader, places: dict[str, list[tuple[int, str, int]]], row: SymbolRow
) -> list[tuple[str, int]]:
    """Return the lines outside of a definition that have its name, found by its longest word: `valid?`."""
    spans = [(row.start_line, row.end_line)]
    for other in reader.rows_of_files([row.file_id]):
        is_part = (other.qualified_name, other.signature) == (row.qualified_name, row.signature)
        is_class = f"{other.qualified_name}.{other.name}" == row.qualified_name
        if is_part or is_class:
            spans.append((other.start_line, other.end_line))
    word = max(_WORD.findall(row.name) or [""], key=len)
    return [
        (path, line)
        for file_id, path, line in places.get(word, ())
        if (file_id != row.file_id or not any(first <= line <= last for first, last in spans))
        and (
            word == row.name
            or row.name in reader.text(file_id).decode("utf-8", "replace").split("\n")[line - 1]
        )
    ]


if __name__ == "__main__":
    main()
