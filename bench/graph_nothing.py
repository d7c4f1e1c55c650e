"""Whether "nothing calls X" is ever wrong: every function of repositories, against a search for its name.

    python bench/graph_nothing.py --repos DIR NAME ... [--out bench/results/graph_nothing.json]

Each function and method is asked for its callers. Where the answer says that nothing calls it, no file
of the index may have its name as a word outside its definition; a constructor of the name of its class is
defined with it.
"""

from __future__ import annotations

import argparse
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
                counts, wrong = check(reader)
            results[name] = {**counts, "wrong": wrong}
            print(name, dict(counts), wrong[:10], flush=True)
    if options.out:
        write_results(options.out, dict(results))


def check(reader: Reader) -> tuple[dict[str, int], list[str]]:
    """Return how many functions there are and what was said of them, and those that were denied wrongly."""
    counts = dict.fromkeys(("functions", "certain", "possible", "mentioned", "denied", "denied_wrongly"), 0)
    wrong: list[str] = []
    files = reader.file_rows([file.file_id for file in reader.files()])
    places = word_places(reader, files)
    for row in (row for row in reader.rows_of_files([file.file_id for file in files]) if is_function(row)):
        answer = query_relation_of(reader, "callers", [row], 1, MENTION_LIMIT)
        is_denied = any("occurs nowhere else" in note.text for note in answer.notes)
        is_certain = any(step.confidence not in ("ambiguous", "possible") for step in answer.steps)
        counts["functions"] += 1
        counts["certain"] += is_certain
        counts["possible"] += bool(answer.steps) and not is_certain
        counts["mentioned"] += bool(answer.mentions) and not answer.steps
        counts["denied"] += is_denied
        if is_denied and (others := other_places(reader, places, row)):
            wrong.append(f"{row.path}:{row.start_line} {row.qualified_name}: {others[0]}")
    counts["denied_wrongly"] = len(wrong)
    return counts, wrong


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
