"""`dowse search --batch FILE`: many queries, one process."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from dowse.cli.main import ERROR, FOUND, NOTHING
from dowse.cli.output import Style, render_answer
from dowse.errors import DowseError
from dowse.query.errors import QueryError
from dowse.types import Answer

# Characters that JSON leaves as they are and that some readers take for the end of a line.
_LINE_ENDS = "\u0085\u2028\u2029"


def run_batch(options: argparse.Namespace, ask: Callable[[str], Answer]) -> int:
    """Answer every line of a file: JSON lines with --json, else a heading and hits for each.

    A query that can't be understood is told and skipped; the exit code says whether any failed.
    """
    found = failed = False
    for line, name, query in _queries(options.batch):
        try:
            if not isinstance(query, str):
                raise DowseError(f'{options.batch}, line {line}: not a JSON object with a text "query"')
            answer = ask(query)
        except (DowseError, QueryError) as error:
            failed = True
            print(f"dowse: query {name}: {error}", file=sys.stderr)  # noqa: T201
            if options.json:
                _line({"id": name, "query": query, "error": str(error)})
            continue
        found |= bool(answer.hits)
        if options.json:
            from dowse.answer_json import answer_to_json

            _line({"id": name, **answer_to_json(answer)})
        elif options.files_with_matches:
            paths = dict.fromkeys(hit.symbol.path for hit in answer.hits)
            sys.stdout.write(f"== {name}: {query}\n" + "".join(f"{path}\n" for path in paths))
        else:
            sys.stdout.write(f"== {name}: {query}\n")
            for note in answer.notes:
                sys.stdout.write(f"-- {note}\n")
            style = Style.choose(options.color)
            sys.stdout.write(render_answer(answer, style, context=options.context, explain=options.explain))
    return ERROR if failed else FOUND if found else NOTHING


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


def _line(data: object) -> None:
    text = json.dumps(data, ensure_ascii=False)
    for mark in _LINE_ENDS:
        text = text.replace(mark, f"\\u{ord(mark):04x}")
    sys.stdout.write(text + "\n")
    sys.stdout.flush()  # whoever reads along sees each answer at once
