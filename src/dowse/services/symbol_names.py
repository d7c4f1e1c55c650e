"""The names of an index in memory: symbols by id, and what could be meant by the beginning of a name."""

from __future__ import annotations

import heapq
import re
import threading
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from dowse.errors import DowseError
from dowse.query.languages import KINDS
from dowse.storage.protocol import Backend, Reader
from dowse.types import NON_DEFINITION_KINDS, SymbolRow

# Where a word begins inside a name: after a mark, or a capital after a small letter.
_INNER_WORD = re.compile(r"(?<=[_.\-/ :])[^_.\-/ :]|(?<=[a-z0-9])[A-Z]")
# An index with more symbols keeps its names to itself: those of tens of millions do not fit into memory.
_MOST_SYMBOLS = 1_000_000
# Names with the same beginning that are compared: one letter may have hundreds of thousands.
_MOST = 20_000
# Keys that one name has, at most, as a rule: so many more are looked at than names are wanted.
_KEYS = 4
# The end of the range of all keys with a beginning.
_LAST = "\U0010ffff"


class Name(NamedTuple):
    """One name, and the symbol that bears it, or one of several."""

    text: str
    qualified_name: str
    kind: str
    path: str
    line: int
    id: str
    is_own: bool  # in the project's own code, rather than tests or vendored code
    symbols_named: int

    def order(self, wanted: str) -> tuple[bool, bool, int, str]:
        """Return what puts first who is most likely meant by a beginning, given in small letters."""
        begins = self.text.lower().startswith(wanted)
        return not begins, not self.is_own, len(self.text), self.text


@dataclass(frozen=True, slots=True)
class Names:
    """The names of one generation."""

    version: tuple[str, int]
    rows: dict[str, int]  # by id
    files: dict[str, int]  # whole files, as searches by pattern give them, by id
    names: Sequence[Name]  # who is most likely meant first
    keys: Sequence[str]  # in order: names, and names from an inner word on, in small letters
    of_keys: Sequence[int]  # the name of each key; as many more as there are names where it begins inside
    folders: Sequence[str]  # near the root first
    languages: Sequence[str]  # most files first
    kinds: Sequence[str]
    repos: Sequence[str]

    def starting(self, typed: str, limit: int) -> list[Name]:
        """Return names that begin so, or have a word that does: whole ones first, then shorter ones."""
        wanted = typed.lower()
        if not wanted:
            return []
        first, last = bisect_left(self.keys, wanted), bisect_left(self.keys, wanted + _LAST)
        best = heapq.nsmallest(_KEYS * limit, self.of_keys[first : min(last, first + _MOST)])
        found = dict.fromkeys(at % len(self.names) for at in best)
        return [self.names[at] for at in found][:limit]


class NameBook:
    """The names of an index, read again when it has changed."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._names: Names | None = None
        self._reading = threading.Lock()

    def of(self, reader: Reader) -> Names:
        """Return the names of what a reader sees, reading them first if need be."""
        version = (reader.identity, reader.generation)
        known = self._names
        if known is not None and known.version == version:
            return known
        with self._reading:
            if self._names is None or self._names.version != version:
                self._names = _read(reader, version)
            return self._names

    def at_hand(self) -> Names | None:
        """Return what was read last, at once; suggestions may be a generation old."""
        return self._names

    def refresh(self) -> None:
        """Read the names of the newest generation; an index that can't be read has none."""
        try:
            with self._backend.reader() as reader:
                self.of(reader)
        except DowseError:
            self._names = None

    def row_of(self, reader: Reader, symbol_id: str) -> SymbolRow | None:
        """Return the symbol of an id, None if there is none; a whole file has row 0."""
        if reader.symbol_count() > _MOST_SYMBOLS:
            return _asked_for(reader, symbol_id)
        names = self.of(reader)
        row, file = names.rows.get(symbol_id), names.files.get(symbol_id)
        if row is not None:
            return reader.rows([row])[0]
        return reader.file_rows([file])[0] if file is not None else None


def _asked_for(reader: Reader, symbol_id: str) -> SymbolRow | None:
    """Return the symbol of an id, or the whole file, by asking the store."""
    whole = symbol_id.removeprefix("file:")
    if whole == symbol_id:
        return next(iter(reader.rows_by_key([symbol_id])), None)
    files = [file.file_id for file in reader.files_with_suffix(whole)]
    return next((row for row in reader.file_rows(files) if row.key == symbol_id), None)


def _read(reader: Reader, version: tuple[str, int]) -> Names:
    if reader.symbol_count() > _MOST_SYMBOLS:
        known = [name for name in reader.languages() if name]
        return Names(version, {}, {}, (), (), (), (), known, KINDS, ())
    files = reader.files()
    symbols = reader.rows_of_files([file.file_id for file in files])
    names = sorted(_distinct(symbols), key=lambda name: name.order(""))
    keyed = sorted(
        (key, at if name.text.lower() == key else at + len(names))
        for at, name in enumerate(names)
        for key in _keys(name)
    )
    languages = reader.languages()
    return Names(
        version,
        {row.key: row.row for row in symbols},
        {row.key: row.file_id for row in reader.file_rows([file.file_id for file in files])},
        names,
        [key for key, _ in keyed],
        [at for _, at in keyed],
        sorted({folder for file in files for folder in _folders(file.path)}, key=folder_order),
        [name for name in sorted(languages, key=lambda name: -languages[name]) if name],
        sorted({row.kind for row in symbols}),
        sorted({file.repo for file in files if file.repo}),
    )


def _distinct(symbols: Iterable[SymbolRow]) -> Iterator[Name]:
    """Give every name once, with the bearer that is most likely meant."""
    best: dict[str, SymbolRow] = {}
    counts: dict[str, int] = {}
    for row in symbols:
        if not row.name or row.kind in NON_DEFINITION_KINDS:
            continue
        counts[row.name] = counts.get(row.name, 0) + 1
        known = best.get(row.name)
        if known is None or (known.role and not row.role):
            best[row.name] = row
    for name, row in best.items():
        place = (row.qualified_name, row.kind, row.path, row.start_line, row.key)
        yield Name(name, *place, not row.role, counts[name])


def _keys(name: Name) -> set[str]:
    """Return what a name is found by: itself, its inner words, and `class.method`."""
    starts = [0, *(match.start() for match in _INNER_WORD.finditer(name.text))]
    keys = {name.text[start:].lower() for start in starts} | {name.text.lstrip("_").lower()}
    if "." in name.qualified_name:
        keys.add(".".join(name.qualified_name.split(".")[-2:]).lower())
    return keys - {""}


def folder_order(folder: str) -> tuple[int, str]:
    """Return what puts folders near the root first."""
    return folder.count("/"), folder


def _folders(path: str) -> Iterator[str]:
    """Give the folders around a file, as `path:` takes them."""
    parts = path.split("/")[:-1]
    for depth in range(1, len(parts) + 1):
        yield "/".join(parts[:depth]) + "/"
