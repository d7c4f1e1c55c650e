"""From how people name a symbol to the symbol: `file.py:42`, `name`, `Class.method`, `pkg.Class.method`."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import partial

from dowse.errors import DowseError
from dowse.kinds import BESIDES
from dowse.security.secret_masking import mask_text
from dowse.security.terminal import escape_name, escape_surrogates
from dowse.storage.protocol import Reader
from dowse.types import SymbolRow

_PLACE = re.compile(r"(?P<path>.+?):(?P<line>\d+)(?::\d+)?\Z")
# Candidates that are named when a name could mean several symbols.
_SHOWN = 8
# Files that stand for the folder they are in.
_FOLDER_FILES = frozenset(["__init__", "index", "mod"])
# Symbols of one name that are looked at: a large repository has tens of thousands of `__init__`.
_MOST = 100_000


class UnknownName(DowseError):
    """A name that no symbol bears, or a place that is not in the index."""


class AmbiguousName(DowseError):
    """A name that several symbols bear."""

    is_list = True

    def __init__(self, name: str, candidates: Sequence[SymbolRow]) -> None:
        shown = "".join(
            f"\n  {escape_name(f'{row.path}:{row.start_line}  {row.kind} {mask_text(row.qualified_name)}')}"
            for row in candidates[:_SHOWN]
        )
        more = f"\n  and {len(candidates) - _SHOWN} more" if len(candidates) > _SHOWN else ""
        said = f"{escape_name(name)} could be any of these; name one by its path:line"
        super().__init__(f"{said}\n{shown[1:]}{more}")
        self.name = name
        self.candidates = tuple(candidates)


def resolve(reader: Reader, text: str) -> SymbolRow:
    """Return the one symbol that a text names; raise if there is none, or more than one."""
    found = candidates(reader, text)
    if not found:
        raise _unknown(text)
    if len(found) > 1:
        raise AmbiguousName(text, found)
    return found[0]


def resolve_all(reader: Reader, text: str, kinds: Collection[str] = ()) -> list[SymbolRow]:
    """Return the one symbol that a text names, with all its overloads and the later parts of a long one.

    A place names a symbol without its overloads. Where some candidates are of the given kinds, only those
    count.
    """
    found = _fitting(reader, text)
    if not found:
        raise _unknown(text)
    found = [row for row in found if row.kind in kinds] or found
    names = {(row.file_id, row.qualified_name) for row in found}
    if len(names) > 1:
        raise AmbiguousName(text, _unparted(found))
    if not _PLACE.match(_plain(text)):
        return found
    here = reader.rows_of_files([found[0].file_id])
    same = (found[0].qualified_name, found[0].signature)
    return [row for row in here if (row.qualified_name, row.signature) == same]


def candidates(reader: Reader, text: str) -> list[SymbolRow]:
    """Return every symbol that a text can name."""
    return _unparted(_fitting(reader, text))


def bearers(reader: Reader, name: str, limit: int) -> list[SymbolRow]:
    """Return some of the symbols that a text can name; none if it names nothing here, or no place."""
    try:
        return candidates(reader, name)[:limit]
    except DowseError:
        return []


def is_loose(text: str, row: SymbolRow) -> bool:
    """Whether a symbol bears the last part of a name but nothing of what was written before it."""
    parts = _parts(text)
    return not _PLACE.match(_plain(text)) and len(parts) > 1 and not _ends_with(row, parts[-2:])


def _fitting(reader: Reader, text: str) -> list[SymbolRow]:
    """Return what a text names, by place or by name: the longest end of the name that somebody bears."""
    place = _PLACE.match(_plain(text))
    if place:
        return _at(reader, place["path"], int(place["line"]))
    parts = _parts(text)
    if not parts:
        return []
    named = [row for row in reader.lookup(parts[-1], _MOST) if row.name == parts[-1] and row.row]
    for known in range(len(parts), 0, -1):
        fitting = [row for row in named if _ends_with(row, parts[-known:])]
        if fitting:
            defined = [row for row in fitting if row.kind not in BESIDES] or fitting
            # `Y.Y` in Y.java is the constructor, not the file's class.
            whole = [row for row in defined if len(parts) > 1 and row.qualified_name == ".".join(parts)]
            return sorted(whole or _without_shadows(defined), key=partial(_order, parts))
    return []


def _without_shadows(rows: list[SymbolRow]) -> list[SymbolRow]:
    """Leave out what only bears the name of a type that is there too: constructors, impl blocks elsewhere."""
    types = {(row.file_id, row.qualified_name) for row in rows}
    named = [row for row in rows if (row.file_id, row.qualified_name.rpartition(".")[0]) not in types]
    return [row for row in named if row.kind != "impl"] or named


def _order(parts: list[str], row: SymbolRow) -> tuple[bool, bool, str, int]:
    """Return what puts first who is most likely meant: by the whole name, in the project's own code."""
    return row.qualified_name != ".".join(parts), bool(row.role), row.path, row.start_line


def _plain(text: str) -> str:
    # Nothing in an index has lone surrogates: what is no text in a path is stored as an escape.
    return escape_surrogates(text).strip().strip("`").removesuffix("()")


def _parts(text: str) -> list[str]:
    return [part for part in re.split(r"::|->|[.#/\\]", _plain(text)) if part]


def _unknown(text: str) -> DowseError:
    return UnknownName(f"no symbol is called {text}; `dowse search {text}` shows what comes nearest")


def _ends_with(row: SymbolRow, parts: list[str]) -> bool:
    """Whether a symbol's full name, with its path before it, ends in these parts."""
    *folders, file = (row.path.rpartition(".")[0] or row.path).split("/")
    names = row.qualified_name.split(".")
    within = [*folders, *names] if file in _FOLDER_FILES else []
    return parts in ([*folders, file, *names][-len(parts) :], within[-len(parts) :])


def _unparted(rows: list[SymbolRow]) -> list[SymbolRow]:
    """Leave out the later parts of symbols that were too long for one piece."""
    first: dict[tuple[int, str, str], SymbolRow] = {}
    for row in rows:  # in the order of their lines, within each file
        first.setdefault((row.file_id, row.qualified_name, row.signature), row)
    return list(first.values())


def _at(reader: Reader, path: str, line: int) -> list[SymbolRow]:
    """Return the innermost symbol at a line of the file that a path, or the end of one, names."""
    wanted = path.removeprefix("./")
    files = reader.files_ending(wanted)
    if not files and "\\" in path:  # as Windows writes it
        wanted = path.replace("\\", "/").removeprefix("./")
        files = reader.files_ending(wanted)
    exact = [file for file in files if file.path == wanted]
    chosen = exact or files
    if not chosen:
        raise UnknownName(f"there is no file {path} in the index; `dowse status --files` lists what there is")
    innermost: dict[int, SymbolRow] = {}
    for row in reader.rows_of_files([file.file_id for file in chosen]):
        if not row.start_line <= line <= row.end_line:
            continue
        known = innermost.get(row.file_id)
        if known is None or row.end_line - row.start_line <= known.end_line - known.start_line:
            innermost[row.file_id] = row
    if not innermost:
        raise UnknownName(f"{path} has no symbol at line {line}")
    return list(innermost.values())
