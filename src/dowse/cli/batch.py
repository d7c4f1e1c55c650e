"""`dowse search --batch FILE`: many queries, one process."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from dowse.cli.main import ERROR, FOUND, NOTHING
from dowse.cli.output import Style, render_answer
from dowse.errors import DowseError
from dowse.query.errors import QueryError
from dowse.types import Answer


def run_batch(options: argparse.Namespace, ask: Callable[[str], Answer]) -> int:
    """Answer every line of a file: JSON lines with --json, else a heading and hits for each.

    A query that can't be understood is told and skipped; the exit code says whether any failed.
    """
    found = failed = False
    for number, (name, query) in enumerate(_queries(options.batch), 1):
        try:
            answer = ask(query)
        except (DowseError, QueryError) as error:
            failed = True
            print(f"dowse: query {number}: {error}", file=sys.stderr)  # noqa: T201
            if options.json:
                _line({"id": name, "query": query, "error": str(error)})
            continue
        found |= bool(answer.hits)
        if options.json:
            from dowse.answer_json import answer_to_json

            _line({"id": name, **answer_to_json(answer)})
        else:
            sys.stdout.write(f"== {name}: {query}\n")
            for note in answer.notes:
                sys.stdout.write(f"-- {note}\n")
            style = Style.choose(options.color)
            sys.stdout.write(render_answer(answer, style, context=options.context, explain=options.explain))
    return ERROR if failed else FOUND if found else NOTHING


def _queries(place: str) -> Iterator[tuple[str, str]]:
    """Give the name and text of each query; a line is a query, or a JSON object with one."""
    lines = sys.stdin if place == "-" else Path(place).expanduser().read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if not text:
            continue
        if not text.startswith("{"):
            yield str(number), text
            continue
        try:
            entry = json.loads(text)
            yield str(entry.get("id", number)), entry["query"]
        except (ValueError, KeyError, TypeError):
            raise DowseError(f'{place}, line {number}: not a JSON object with a "query"') from None


def _line(data: object) -> None:
    sys.stdout.write(json.dumps(data, ensure_ascii=False) + "\n")
    sys.stdout.flush()  # whoever reads along sees each answer at once
