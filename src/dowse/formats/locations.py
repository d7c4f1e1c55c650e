"""Places in files: what an answer points at, for the formats that are read line by line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from dowse.security.safe_files import read_regular_file, resolve_inside
from dowse.security.secret_masking import mask_text
from dowse.security.terminal import escape_controls, escape_line_ends, escape_name
from dowse.types import Answer, Hit, LineMatch

if TYPE_CHECKING:
    from dowse.graph.answer import GraphAnswer, GraphStep

# Only indentation is looked up here: a file that has grown beyond this is not worth it.
_MAX_BYTES = 10_000_000
# Longer lines are data or minified; nobody goes through more matches of one.
_LONG_LINE, _AROUND, _MAX_MATCHES = 500, 100, 1_000


class Spot(NamedTuple):
    """One place, and what stands there."""

    path: str
    line: int  # from 1
    column: int  # from 1, in bytes of UTF-8, as editors' quickfix lists count
    text: str


def answer_spots(answer: Answer, root: Path) -> Iterator[Spot]:
    """Give the places of a search: every match of a pattern, else the line that names each symbol."""
    files = _Files(root)
    for hit in answer.hits:
        if hit.matches:
            for match in hit.matches:
                yield from _match_spots(hit.symbol.path, match)
        else:
            yield _naming_spot(hit, files)


def graph_spots(answer: GraphAnswer) -> Iterator[Spot]:
    """Give every reference of an answer of the graph, and what it leads to."""
    for step in answer.steps:
        for edge in step.references:
            yield Spot(step.path, edge.line, edge.column + 1, describe_step(step))


def describe_step(step: GraphStep) -> str:
    """Say what a step leads to, of which kind the reference is and how sure."""
    return f"{step.symbol.kind} {step.symbol.qualified_name}: {step.edge.kind}, {step.certainty}"


def openable(path: str, place: str, root: Path) -> str:
    """Return a path as it can be opened from where the command was run, as ripgrep prints it.

    Args:
        path: As the index has it.
        place: Where was searched, as the user wrote it.
        root: What that means; a corpus is a file, and its paths are no files.
    """
    if place in ("", ".") or not root.is_dir():
        return path
    return str(Path(place).expanduser() / path)


def escaped_spots(spots: Iterable[Spot], place: str, root: Path, *, terminal: bool) -> Iterator[Spot]:
    """Give places as parts of one line each, with paths that can be opened (`openable`).

    Args:
        spots: The places.
        place: Where was searched, as the user wrote it.
        root: What that means.
        terminal: Whether control characters in the code are escaped, too; in a pipe it stays exact.
    """
    escape = escape_controls if terminal else escape_line_ends
    paths: dict[str, str] = {}  # an answer has many places in each file
    for spot in spots:
        path = paths.get(spot.path)
        if path is None:
            path = paths[spot.path] = escape_name(openable(spot.path, place, root))
        yield Spot(path, spot.line, spot.column, escape(spot.text))


def _match_spots(path: str, match: LineMatch) -> Iterator[Spot]:
    """Give the matches of one line; of a long one only what is around each, or output grows by its square."""
    text = match.text.rstrip("\r")
    column, passed = 1, 0
    for start, _ in islice(match.spans or ((0, 0),), _MAX_MATCHES):
        column += len(text[passed:start].encode("utf-8", "replace"))
        passed = start
        shown = text if len(text) <= _LONG_LINE else text[max(0, start - _AROUND) : start + _AROUND]
        yield Spot(path, match.line, column, shown)


def _naming_spot(hit: Hit, files: _Files) -> Spot:
    """Return the line that names a symbol: above it may stand comments and decorators."""
    symbol = hit.symbol
    lines = [(number, text) for number, text in symbol.numbered_lines if text.strip()]
    number, text = lines[0] if lines else (symbol.start_line, symbol.signature)
    column = 0
    if symbol.name:
        name = re.compile(rf"(?<!\w){re.escape(symbol.name)}(?!\w)")
        named = ((*line, name.search(line[1])) for line in lines)
        number, text, found = next((line for line in named if line[2]), (number, text, None))
        column = found.start() if found else 0
    missing = files.before(symbol.path, number, text)
    if not column:
        column = len(text) - len(text.lstrip())
    return Spot(symbol.path, number, _byte_column(missing + text, len(missing) + column), missing + text)


class _Files:
    """The files that an answer names, each read once: a symbol's own text may begin within a line."""

    def __init__(self, root: Path) -> None:
        self._root = root if root.is_dir() else None
        self._lines: dict[str, list[str]] = {}

    def before(self, path: str, number: int, text: str) -> str:
        """Return the blanks that stand before a text in its line; "" where the file is another by now."""
        if self._root is None or text[:1].isspace():
            return ""
        if path not in self._lines:
            try:
                read = read_regular_file(resolve_inside(self._root, path), _MAX_BYTES).decode(
                    "utf-8", "replace"
                )
            except OSError:
                read = ""
            self._lines[path] = read.split("\n")
        lines = self._lines[path]
        line = lines[number - 1].rstrip("\r") if number <= len(lines) else ""
        blanks = line[: len(line) - len(line.lstrip())]
        # A text with a secret in it is masked, the file is not.
        return blanks if line == blanks + text or mask_text(line) == blanks + text else ""


def _byte_column(text: str, start: int) -> int:
    return len(text[:start].encode("utf-8", "replace")) + 1
