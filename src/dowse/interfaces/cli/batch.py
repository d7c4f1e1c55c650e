"""`dowse search --batch FILE`: many queries, one process."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from dowse.errors import DowseError
from dowse.formats.jsonl import json_line
from dowse.formats.write import answer_text, chosen_format, file_lines
from dowse.interfaces.cli.common import say
from dowse.interfaces.cli.main import ERROR, FOUND, NOTHING
from dowse.query.errors import QueryError
from dowse.security.terminal import escape_name
from dowse.types import Answer


def run_batch(options: argparse.Namespace, ask: Callable[[str], Answer], root: Path) -> int:
    """Answer every line of a file: JSON lines where JSON is asked for, else a heading and hits for each.

    A query that can't be understood is told and skipped; the exit code says whether any failed.
    """
    form = chosen_format(options)
    if form == "sarif":
        raise DowseError("a SARIF document answers one query; ask without --batch, or use --format jsonl")
    found = failed = False
    for line, name, query in _queries(options.batch):
        try:
            if not isinstance(query, str):
                raise DowseError(f'{options.batch}, line {line}: not a JSON object with a text "query"')
            answer = ask(query)
        except (DowseError, QueryError) as error:
            failed = True
            say(f"query {name}: {error}")
            if form in ("json", "jsonl"):
                _line({"id": name, "query": query, "error": str(error)})
            continue
        found |= bool(answer.hits)
        if form in ("json", "jsonl"):
            _write_json(name, answer, form)
        elif options.files_with_matches:
            sys.stdout.write(_heading(name, query) + file_lines(answer))
        else:
            notes = "".join(f"-- {escape_name(str(note))}\n" for note in answer.notes)
            sys.stdout.write(_heading(name, query) + notes + answer_text(answer, options, root))
    return ERROR if failed else FOUND if found else NOTHING


def _heading(name: object, query: str) -> str:
    return escape_name(f"== {name}: {query}") + "\n"


def _queries(place: str) -> Iterator[tuple[int, object, object]]:
    """Give the line, id and text of each query; a line is a query, or a JSON object with one.

    An id is given back as it came; a line without one has its number. What is no text is no query.
    """
    for number, line in enumerate(_lines(place), 1):
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
                query = None  # told where it is asked
        yield number, name, query


def _lines(place: str) -> Iterator[str]:
    """Give the lines of a file, cut where files are cut and nowhere else."""
    with contextlib.ExitStack() as stack:
        stream = sys.stdin
        if place != "-":
            stream = stack.enter_context(Path(place).expanduser().open(encoding="utf-8-sig", newline="\n"))
        try:
            yield from stream
        except UnicodeDecodeError:
            raise DowseError(f"{place} is not UTF-8 text; save it as such") from None


def _write_json(name: object, answer: Answer, form: str) -> None:
    """Write one answer a line, or each hit of it with the id of its query."""
    from dowse.formats.answer_json import answer_to_json

    document = answer_to_json(answer)
    if form == "json":
        _line({"id": name, **document})
        return
    for hit in document["hits"]:
        _line({"query_id": name, **hit})


def _line(data: object) -> None:
    sys.stdout.write(json_line(data))
    sys.stdout.flush()  # whoever reads along sees each answer at once
