"""Locations that an answer points at, and the formats of one line each: `path`, `grep` and `vimgrep`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from dowse.formats.snippets import definition_line, find_name
from dowse.lazy_classes import NamedTuple
from dowse.security.safe_files import read_below
from dowse.security.terminal import escape_controls, escape_line_ends, escape_name
from dowse.types import Hit, LineMatch

if TYPE_CHECKING:
    from dowse.answer import Answer
    from dowse.graph.model import GraphAnswer, GraphStep

# Files are read for their indentation only: a larger one is not worth it.
_MAX_BYTES = 10_000_000
# Longer lines are data or minified code; nobody goes through more matches of one.
_LONG_LINE, _MATCH_CONTEXT, _MAX_MATCHES = 500, 100, 1_000


class Location(NamedTuple):
    """A position in a file, and the text of its line."""

    path: str
    line: int  # from 1
    column: int  # from 1, in bytes of UTF-8, as the quickfix lists of editors count
    text: str


# What the formats print of a location: `grep` as `grep -n` does, `vimgrep` as `rg --vimgrep` does.
_COLUMNS = {"path": ("path",), "grep": ("path", "line", "text"), "vimgrep": Location._fields}


def answer_locations(answer: Answer, root: Path) -> Iterator[Location]:
    """Yield the locations of a search: every match of a pattern, else the line that names each symbol."""
    files = SourceFiles(root)
    for hit in answer.hits:
        if hit.matches:
            for match in hit.matches:
                yield from match_locations(hit.symbol.path, match)
        else:
            yield _definition_location(hit, files)


def graph_locations(answer: GraphAnswer) -> Iterator[Location]:
    """Yield every reference of an answer of the code graph, with a description of the symbol it leads to.

    Mentions of the name follow.
    """
    for step in answer.steps:
        for edge in step.references:
            yield Location(step.path, edge.line, edge.column + 1, describe_step(step))
    for mention in answer.mentions:
        yield Location(mention.symbol.path, mention.line, 1, f"mention: {mention.text}")


def describe_step(step: GraphStep) -> str:
    """Return the symbol that a step leads to, and the kind and certainty of the reference."""
    from dowse.graph.model import describe_symbol

    return f"{describe_symbol(step.symbol)}: {step.edge.kind}, {step.certainty}"


def match_locations(path: str, match: LineMatch) -> Iterator[Location]:
    """Yield the matches in one line; a long line is cut around each, or output grows quadratically."""
    text = match.text.rstrip("\r")
    column, end = 1, 0
    for start, _ in islice(match.spans or ((0, 0),), _MAX_MATCHES):
        column += len(text[end:start].encode("utf-8", "replace"))
        end = start
        is_long = len(text) > _LONG_LINE
        shown = text[max(0, start - _MATCH_CONTEXT) : start + _MATCH_CONTEXT] if is_long else text
        yield Location(path, match.line, column, shown)


def _definition_location(hit: Hit, files: SourceFiles) -> Location:
    """Return the line that names a symbol: comments and decorators may precede it."""
    symbol = hit.symbol
    lines = [(number, text) for number, text in symbol.numbered_lines if text.strip()]
    number, text = lines[definition_line(symbol, lines)] if lines else (symbol.start_line, symbol.signature)
    whole = files.line(symbol.path, number)
    start = whole.find(text)
    is_as_indexed = start >= 0 or (symbol.name and find_name(whole, symbol.name) >= 0)
    whole = whole if is_as_indexed else text
    start = max(0, start)
    found = find_name(whole[start:], symbol.name) if symbol.name else -1
    # Without a name in the line, the column is that of its first character.
    text, column = whole, start + found if found >= 0 else len(whole) - len(whole.lstrip())
    return Location(symbol.path, number, len(text[:column].encode("utf-8", "replace")) + 1, text)


class SourceFiles:
    """The files of an answer, each read once: the text of a symbol may begin and end within a line."""

    def __init__(self, root: Path) -> None:
        self._root = root if root.is_dir() else None
        self._lines: dict[str, list[str]] = {}

    def line(self, path: str, number: int) -> str:
        """Return a line as it is now; "" if there is none."""
        if self._root is None:
            return ""
        if path not in self._lines:
            try:
                data = read_below(self._root, path, _MAX_BYTES)
            except OSError:
                data = b""
            self._lines[path] = data.decode("utf-8", "replace").split("\n")
        lines = self._lines[path]
        return lines[number - 1].rstrip("\r") if number <= len(lines) else ""


def format_lines(
    name: str, locations: Iterable[Location], openable: Callable[[str], str], *, terminal: bool
) -> str:
    """Return locations as `path`, `grep` or `vimgrep`, each line once, in the order of the answer.

    The other arguments are those of `escape_locations`.
    """
    columns = _COLUMNS[name]
    escaped = escape_locations(locations, openable, terminal=terminal)
    rows = dict.fromkeys(tuple(getattr(location, name) for name in columns) for location in escaped)
    return "".join(":".join(map(str, row)) + "\n" for row in rows)


def escape_locations(
    locations: Iterable[Location], openable: Callable[[str], str], *, terminal: bool
) -> Iterator[Location]:
    """Yield locations whose parts fit on one line, with paths that can be opened.

    Args:
        locations: The locations, with paths as in the index.
        openable: Returns a path that can be opened from the current folder, as ripgrep prints it.
        terminal: Whether control characters in code are escaped as well; in a pipe it stays exact.
    """
    escape = escape_controls if terminal else escape_line_ends
    paths: dict[str, str] = {}  # an answer has many locations in each file
    for location in locations:
        path = paths.get(location.path)
        if path is None:
            path = paths[location.path] = escape_name(openable(location.path))
        yield location._replace(path=path, text=escape(location.text))
