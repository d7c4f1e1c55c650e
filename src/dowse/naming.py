"""From how people name a symbol to the symbol: `file.py:42`, `name`, `Class.method`, `pkg.Class.method`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dowse.backends.protocol import Reader
from dowse.errors import DowseError
from dowse.types import SymbolRow

_PLACE = re.compile(r"(?P<path>.+?):(?P<line>\d+)(?::\d+)?\Z")
# Candidates that are named when a name could mean several symbols.
_SHOWN = 8
# Symbols of one name that are looked at: a large repository has tens of thousands of `__init__`.
_MOST = 100_000


class AmbiguousName(DowseError):
    """A name that several symbols bear."""

    def __init__(self, name: str, candidates: Sequence[SymbolRow]) -> None:
        shown = "".join(
            f"\n  {row.path}:{row.start_line}  {row.kind} {row.qualified_name}" for row in candidates[:_SHOWN]
        )
        more = f"\n  and {len(candidates) - _SHOWN} more" if len(candidates) > _SHOWN else ""
        super().__init__(f"{name} could be any of these; name one by its path:line\n{shown[1:]}{more}")
        self.candidates = tuple(candidates)


def resolve(reader: Reader, text: str) -> SymbolRow:
    """Return the one symbol that a text names; raise if there is none, or more than one."""
    found = candidates(reader, text)
    if not found:
        raise DowseError(f"no symbol is called {text}; `dowse symbols {text}` looks for similar names")
    if len(found) > 1:
        raise AmbiguousName(text, found)
    return found[0]


def candidates(reader: Reader, text: str) -> list[SymbolRow]:
    """Return every symbol that a text can name."""
    text = text.strip().strip("`").removesuffix("()")
    place = _PLACE.match(text)
    if place:
        return _at(reader, place["path"], int(place["line"]))
    parts = [part for part in re.split(r"::|[.#/\\]", text) if part]
    if not parts:
        return []
    named = [row for row in reader.lookup(parts[-1], _MOST) if row.name == parts[-1] and row.row]
    for known in range(len(parts), 0, -1):  # the longest end of the name that somebody bears
        fitting = [row for row in named if _ends_with(row, parts[-known:])]
        if fitting:
            # A file's head bears the file's name; who names it means the definition, if there is one.
            return _unparted([row for row in fitting if row.kind != "module"] or fitting)
    return []


def _ends_with(row: SymbolRow, parts: list[str]) -> bool:
    """Whether a symbol's full name, with its path before it, ends in these parts."""
    path = row.path.rpartition(".")[0] or row.path
    return [*path.split("/"), *row.qualified_name.split(".")][-len(parts) :] == parts


def _unparted(rows: list[SymbolRow]) -> list[SymbolRow]:
    """Leave out the later parts of symbols that were too long for one piece."""
    first: dict[tuple[int, str, str], SymbolRow] = {}
    for row in sorted(rows, key=lambda row: (row.path, row.start_line)):
        first.setdefault((row.file_id, row.qualified_name, row.signature), row)
    return list(first.values())


def _at(reader: Reader, path: str, line: int) -> list[SymbolRow]:
    """Return the innermost symbol at a line of the file that a path, or the end of one, names."""
    wanted = path.replace("\\", "/").removeprefix("./")
    files = [file for file in reader.files() if f"/{file.path}".endswith(f"/{wanted}")]
    exact = [file for file in files if file.path == wanted]
    chosen = exact or files
    if not chosen:
        raise DowseError(f"there is no file {path} in the index; `dowse status --files` lists what there is")
    innermost: dict[int, SymbolRow] = {}
    for row in reader.rows_of_files([file.file_id for file in chosen]):
        if not row.start_line <= line <= row.end_line:
            continue
        known = innermost.get(row.file_id)
        if known is None or row.end_line - row.start_line <= known.end_line - known.start_line:
            innermost[row.file_id] = row
    if not innermost:
        raise DowseError(f"{path} has no symbol at line {line}")
    return list(innermost.values())
