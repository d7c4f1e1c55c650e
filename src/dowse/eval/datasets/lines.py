"""JSON Lines and JSON files of datasets, compressed or not; messages name file and line.

Datasets are files that anybody may have written: only regular files are read, within limits that the largest
real sets keep.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from dowse.errors import EvalError, SourceError
from dowse.security.limited_json import count_elements, parse_json_limited
from dowse.security.safe_files import read_regular_file
from dowse.security.terminal import replace_surrogates
from dowse.source import corpus
from dowse.source.corpus import ENDINGS, open_packed

# Enough to recognise cases, however many comments come before the first.
_SNIFFED_BYTES = 1_000_000
_SNIFFED_ROWS = 20

# All questions or judgements of a file; the largest public sets have a million, in 50 MB.
MAX_LINES = 2_000_000
MAX_BYTES = 300_000_000
MAX_VALUES = 5_000_000

# Of one JSON document; a list of 63 repositories has 20 KB.
_MAX_JSON_BYTES = 5_000_000
_MAX_JSON_VALUES = 200_000

_COMMENTS = (b"#", b"//")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_HEAD_BYTES = 1_024


def read_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Give the lines of a file that are not blank, with their numbers.

    Raises EvalError if the file can't be read to its end: it is no regular file, damaged, or too large.
    """
    total = 0
    try:
        for number, line in corpus.read_lines(str(path)):
            if isinstance(line, str):
                raise EvalError(f"{path}:{number}: {line}; check that it is complete, and a set of questions")
            total += len(line)
            if total > MAX_BYTES or number > MAX_LINES:
                raise EvalError(f"{path}:{number}: too large for a set of questions; take a part of it")
            text = line.removeprefix(_BYTE_ORDER_MARK).strip()
            if text:
                yield number, text
    except SourceError as error:
        reason = error.__cause__ or error
        raise EvalError(
            f"{path} can't be read ({reason}); check the path, and that it is a whole regular file"
        ) from error


def read_head(path: Path, count: int = _HEAD_BYTES) -> bytes:
    """Return the first bytes of a regular file, unpacked; none if it can't be read."""
    try:
        with open_packed(str(path)) as stream:
            return stream.read(count)
    except (EOFError, OSError, zlib.error):
        return b""  # its reader reports the problem


def check_encoding(path: Path) -> None:
    """Raise EvalError for a file in UTF-16, which editors on Windows may write."""
    if read_head(path).startswith(_UTF_16):
        raise EvalError(f"{path} is written in UTF-16; save it as UTF-8")


def check_form(path: Path) -> None:
    """Raise EvalError for a file that is a JSON list, not JSON Lines."""
    check_encoding(path)
    if read_head(path).removeprefix(_BYTE_ORDER_MARK).lstrip().startswith(b"["):
        raise EvalError(
            f"{path} is a JSON list; write one object a line, without brackets and commas (JSONL)"
        )


def read_rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Give every line's object, each with `file:line` for messages about it; comments are left out."""
    check_form(path)
    values = 0
    for number, line in read_lines(path):
        if line.startswith(_COMMENTS):
            continue
        where = f"{path}:{number}"
        values += count_elements(line, MAX_VALUES - values)
        if values > MAX_VALUES:  # before they are parsed, which takes up to a hundred times the memory
            raise EvalError(f"{where}: too many values for a set of questions; take a part of it")
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise EvalError(f"{where}: not valid JSON ({error}); write one object a line") from error
        if not isinstance(row, dict):
            raise EvalError(f'{where}: not a JSON object; write {{"query": …, "relevant_files": […]}}')
        yield where, row


def first_rows(path: Path) -> list[dict[str, Any]]:
    """Return the objects on the first lines of a file, whatever it is: none if there are none."""
    rows: list[Any] = []
    try:
        with open_packed(str(path)) as stream:
            while len(rows) < _SNIFFED_ROWS and stream.tell() < _SNIFFED_BYTES:
                line = stream.readline(_SNIFFED_BYTES)
                if not line:
                    break
                text = line.removeprefix(_BYTE_ORDER_MARK).strip()
                if text and not text.startswith(_COMMENTS):
                    with suppress(ValueError, RecursionError):
                        rows.append(json.loads(text))
    except (EOFError, OSError, zlib.error):
        pass
    return [row for row in rows if isinstance(row, dict)]


def read_json(path: Path, form: str, *, follow_symlinks: bool = False) -> object:
    """Parse a JSON document of limited size; `form` says in messages what it should be."""
    try:
        data = read_regular_file(path, _MAX_JSON_BYTES, follow_symlinks=follow_symlinks)
        return parse_json_limited(data, max_memory=4 * _MAX_JSON_BYTES, max_elements=_MAX_JSON_VALUES)
    except OSError as error:
        raise EvalError(f"{path} can't be read ({error.strerror}); check the path") from error
    except ValueError as error:
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
