"""`dowse search --batch FILE`: many queries in one process."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from dowse.errors import DowseError, QueryError
from dowse.formats.json_format import answer_to_json, json_line
from dowse.index import Index
from dowse.interfaces.cli.command import EXIT_ERROR, EXIT_FOUND, EXIT_NOTHING
from dowse.interfaces.cli.output import format_answer, format_files, output_format
from dowse.interfaces.cli.printing import print_message
from dowse.security.terminal import escape_name
from dowse.types import Answer


def run_batch(options: argparse.Namespace, search: Callable[[str], Answer], index: Index) -> int:
    """Answer every line of a file: as JSON Lines in a JSON format, else with a heading for each query.

    A query that can't be parsed is reported and skipped; the exit code says whether any failed.
    """
    form = output_format(options)
    any_hits = failed = False
    for line, name, query in _queries(options.batch):
        try:
            if not isinstance(query, str):
                raise DowseError(f'{options.batch}, line {line}: not a JSON object with a text "query"')
            answer = search(query)
        except (DowseError, QueryError) as error:
            failed = True
            print_message(f"query {name}: {error}")
            if form in ("json", "jsonl"):
                _write_line({"id": name, "query": query, "error": str(error)})
            continue
        any_hits |= bool(answer.hits)
        if form in ("json", "jsonl"):
            _write_json(name, answer, form)
        elif options.files_with_matches or options.count:
            sys.stdout.write(_heading(name, query) + format_files(answer, options))
        else:
            notes = "".join(f"-- {escape_name(str(note))}\n" for note in answer.notes)
            sys.stdout.write(_heading(name, query) + notes + format_answer(answer, options, index))
    return EXIT_ERROR if failed else EXIT_FOUND if any_hits else EXIT_NOTHING


def _heading(name: object, query: str) -> str:
    return escape_name(f"== {name}: {query}") + "\n"


def _queries(path: str) -> Iterator[tuple[int, object, object]]:
    """Yield the line number, id and text of each query; a line is a query, or a JSON object with one.

    Ids are returned unchanged; without one, the id is the line number. A query that is no text is an error.
    """
    for number, line in enumerate(_lines(path), 1):
        text = line.strip()
        if not text:
            continue
        query: object = text
        name: object = str(number)
        if text.startswith("{"):
            try:
                entry = json.loads(text)
                query, name = entry["query"], entry.get("id", name)
            except (ValueError, KeyError):
                query = None  # reported by the caller
        yield number, name, query


def _lines(path: str) -> Iterator[str]:
    """Yield the lines of a file, split at line feeds only."""
    with contextlib.ExitStack() as stack:
        stream = sys.stdin
        if path != "-":
            stream = stack.enter_context(Path(path).expanduser().open(encoding="utf-8-sig", newline="\n"))
        try:
            yield from stream
        except UnicodeDecodeError:
            raise DowseError(f"{path} is not UTF-8 text; save it as such") from None


def _write_json(name: object, answer: Answer, form: str) -> None:
    """Write one answer a line, or one hit a line with the id of its query."""
    document = answer_to_json(answer)
    if form == "json":
        _write_line({"id": name, **document})
        return
    for hit in document["hits"]:
        _write_line({"query_id": name, **hit})


def _write_line(data: object) -> None:
    sys.stdout.write(json_line(data))
    sys.stdout.flush()  # so that the reader of a pipe sees each answer at once
