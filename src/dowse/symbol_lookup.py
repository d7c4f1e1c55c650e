"""Resolve what users type to symbols: `file.py:42`, `name`, `Class.method`, `pkg.Class.method`."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import partial

from dowse.errors import DowseError
from dowse.security.secret_masking import mask_text
from dowse.security.terminal import escape_name, escape_surrogates
from dowse.storage.protocol import Reader
from dowse.types import NON_DEFINITION_KINDS, SymbolRow

_LOCATION = re.compile(r"(?P<path>.+?):(?P<line>\d+)(?::\d+)?\Z")
# Candidates that an error about an ambiguous name lists.
_MAX_LISTED = 8
# Names of files that stand for their folder.
_FOLDER_FILES = frozenset(["__init__", "index", "mod"])
# Symbols of one name that are read: a large repository has tens of thousands of `__init__`.
_MAX_SAME_NAME = 100_000


class UnknownName(DowseError):
    """A name that no symbol has, or a location that is not in the index."""


class AmbiguousName(DowseError):
    """A name that several symbols have."""

    is_list = True

    def __init__(self, name: str, candidates: Sequence[SymbolRow]) -> None:
        shown = "".join(
            f"\n  {escape_name(f'{row.path}:{row.start_line}  {row.kind} {mask_text(row.qualified_name)}')}"
            for row in candidates[:_MAX_LISTED]
        )
        more = f"\n  and {len(candidates) - _MAX_LISTED} more" if len(candidates) > _MAX_LISTED else ""
        message = f"{escape_name(name)} could be any of these; name one by its path:line"
        super().__init__(f"{message}{shown}{more}")
        self.name = name
        self.candidates = tuple(candidates)


def resolve(reader: Reader, text: str) -> SymbolRow:
    """Return the one symbol that a text names; raise if there is none, or more than one."""
    rows = candidates(reader, text)
    if not rows:
        raise _unknown(text)
    if len(rows) > 1:
        raise AmbiguousName(text, rows)
    return rows[0]


def resolve_all(reader: Reader, text: str, kinds: Collection[str] = ()) -> list[SymbolRow]:
    """Return the one symbol that a text names, with all its overloads and the later parts of a long one.

    A location names a symbol without its overloads. If some candidates are of the given kinds, only those
    count.
    """
    matches = _matches(reader, text)
    if not matches:
        raise _unknown(text)
    matches = [row for row in matches if row.kind in kinds] or matches
    names = {(row.file_id, row.qualified_name) for row in matches}
    if len(names) > 1:
        raise AmbiguousName(text, _first_parts(matches))
    if not _LOCATION.match(_normalize(text)):
        return matches
    rows = reader.rows_of_files([matches[0].file_id])
    same = (matches[0].qualified_name, matches[0].signature)
    return [row for row in rows if (row.qualified_name, row.signature) == same]


def candidates(reader: Reader, text: str) -> list[SymbolRow]:
    """Return every symbol that a text can name."""
    return _first_parts(_matches(reader, text))


def symbols_named(reader: Reader, name: str, limit: int) -> list[SymbolRow]:
    """Return the first symbols that a text can name; none if the name or location is unknown."""
    try:
        return candidates(reader, name)[:limit]
    except DowseError:
        return []


def has_symbol(reader: Reader, name: str) -> bool:
    """Whether a text names a symbol."""
    return bool(symbols_named(reader, name, 1))


def is_partial_match(text: str, row: SymbolRow) -> bool:
    """Whether only the last part of a name matches a symbol, and nothing of its qualifier."""
    parts = _parts(text)
    return not _LOCATION.match(_normalize(text)) and len(parts) > 1 and not _ends_with(row, parts[-2:])


def _matches(reader: Reader, text: str) -> list[SymbolRow]:
    """Return what a text names, by location or by name: those with the longest matching suffix."""
    location = _LOCATION.match(_normalize(text))
    if location:
        return _symbols_at_line(reader, location["path"], int(location["line"]))
    parts = _parts(text)
    if not parts:
        return []
    named = [row for row in reader.lookup(parts[-1], _MAX_SAME_NAME) if row.name == parts[-1] and row.row]
    for length in range(len(parts), 0, -1):
        matching = [row for row in named if _ends_with(row, parts[-length:])]
        if matching:
            defined = [row for row in matching if row.kind not in NON_DEFINITION_KINDS] or matching
            # `Y.Y` in Y.java is the constructor, not the file's class.
            exact = [row for row in defined if len(parts) > 1 and row.qualified_name == ".".join(parts)]
            return sorted(exact or _without_constructors(defined), key=partial(_relevance_key, parts))
    return []


def _without_constructors(rows: list[SymbolRow]) -> list[SymbolRow]:
    """Leave out symbols that share the name of a type in the list: constructors, separate impl blocks."""
    types = {(row.file_id, row.qualified_name) for row in rows}
    named = [row for row in rows if (row.file_id, row.qualified_name.rpartition(".")[0]) not in types]
    return [row for row in named if row.kind != "impl"] or named


def _relevance_key(parts: list[str], row: SymbolRow) -> tuple[bool, bool, str, int]:
    """Return a sort key: exact matches first, then the project's own code."""
    return row.qualified_name != ".".join(parts), bool(row.role), row.path, row.start_line


def _normalize(text: str) -> str:
    # An index has no lone surrogates: undecodable bytes in a path are stored as escapes.
    return escape_surrogates(text).strip().strip("`").removesuffix("()")


def _parts(text: str) -> list[str]:
    return [part for part in re.split(r"::|->|[.#/\\]", _normalize(text)) if part]


def _unknown(text: str) -> DowseError:
    return UnknownName(f"no symbol is called {text}; `dowse search {text}` shows the nearest ones")


def _ends_with(row: SymbolRow, parts: list[str]) -> bool:
    """Whether the path and qualified name of a symbol end in these parts."""
    *folders, file = (row.path.rpartition(".")[0] or row.path).split("/")
    names = row.qualified_name.split(".")
    in_package = [*folders, *names] if file in _FOLDER_FILES else []
    return parts in ([*folders, file, *names][-len(parts) :], in_package[-len(parts) :])


def _first_parts(rows: list[SymbolRow]) -> list[SymbolRow]:
    """Leave out the later parts of long symbols that are stored in parts."""
    first: dict[tuple[int, str, str], SymbolRow] = {}
    for row in rows:  # in the order of their lines, within each file
        first.setdefault((row.file_id, row.qualified_name, row.signature), row)
    return list(first.values())


def _symbols_at_line(reader: Reader, path: str, line: int) -> list[SymbolRow]:
    """Return the innermost symbol at a line of each file with a path, or with a path that ends so."""
    wanted = path.removeprefix("./")
    files = reader.files_with_suffix(wanted)
    if not files and "\\" in path:  # as Windows writes it
        wanted = path.replace("\\", "/").removeprefix("./")
        files = reader.files_with_suffix(wanted)
    files = [file for file in files if file.path == wanted] or files
    if not files:
        raise UnknownName(f"there is no file {path} in the index; `dowse status --files` lists what there is")
    innermost: dict[int, SymbolRow] = {}
    for row in reader.rows_of_files([file.file_id for file in files]):
        if not row.start_line <= line <= row.end_line:
            continue
        best = innermost.get(row.file_id)
        if best is None or row.end_line - row.start_line <= best.end_line - best.start_line:
            innermost[row.file_id] = row
    if not innermost:
        raise UnknownName(f"{path} has no symbol at line {line}")
    return list(innermost.values())
