"""JSON Lines and JSON files of datasets, compressed or not; messages name file and line."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

from dowse.errors import EvalError, SourceError
from dowse.security.terminal import replace_surrogates
from dowse.source import corpus
from dowse.source.corpus import ENDINGS, open_packed

# Enough to recognise cases, however many comments come before the first.
_SNIFFED_LINES = 100
_LINE_BYTES = 1_000_000
_COMMENTS = (b"#", b"//")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def read_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Give the lines of a file that are not blank, with their numbers; raise EvalError for a damaged one."""
    try:
        for number, line in corpus.read_lines(str(path)):
            if isinstance(line, str):
                raise EvalError(f"{path}:{number}: {line}; check that it is complete, and a set of questions")
            text = line.removeprefix(_BYTE_ORDER_MARK).strip()
            if text:
                yield number, text
    except SourceError as error:
        reason = error.__cause__ or error
        raise EvalError(f"{path} can't be read ({reason}); check the path, and that it is whole") from error


def read_rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Give every line's object, each with `file:line` for messages about it; comments are left out."""
    for number, line in read_lines(path):
        if line.startswith(_COMMENTS):
            continue
        where = f"{path}:{number}"
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise EvalError(f"{where}: not valid JSON ({error}); write one object a line in UTF-8") from error
        if not isinstance(row, dict):
            raise EvalError(f'{where}: not a JSON object; write {{"query": …, "relevant_files": […]}}')
        yield where, row


def first_rows(path: Path) -> list[dict[str, Any]]:
    """Return the objects on the first lines of a file, whatever it is: none if there are none."""
    rows: list[Any] = []
    with suppress(EOFError, OSError, zlib.error), open_packed(str(path)) as stream:
        for line in islice(iter(lambda: stream.readline(_LINE_BYTES), b""), _SNIFFED_LINES):
            text = line.removeprefix(_BYTE_ORDER_MARK).strip()
            if text and not text.startswith(_COMMENTS):
                with suppress(ValueError, RecursionError):
                    rows.append(json.loads(text))
    return [row for row in rows if isinstance(row, dict)]


def read_json(path: Path, form: str) -> object:
    """Parse a JSON document; `form` says in messages what it should be."""
    try:
        return json.loads(path.read_bytes())
    except OSError as error:
        raise EvalError(f"{path} can't be read ({error.strerror}); check the path") from error
    except (ValueError, RecursionError) as error:
        raise EvalError(f"{path} is not valid JSON ({error}); write {form}") from error


def plain_text(value: object) -> str:
    """Return a text, or a number as one; lone surrogates, which JSON can encode, are replaced."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        return ""
    return replace_surrogates(str(value))


def plain_name(path: Path) -> str:
    """Return a file's name without the endings of JSONL."""
    ending = next((each for each in ENDINGS if path.name.endswith(each)), "")
    return path.name.removesuffix(ending)
