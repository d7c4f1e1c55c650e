"""What symbols and names of an index are called, in memory: lookup by id, and completion of a prefix."""

from __future__ import annotations

import heapq
import re
import threading
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence

from dowse.errors import DowseError
from dowse.lazy_classes import NamedTuple, dataclass
from dowse.query.languages import KINDS
from dowse.storage.protocol import Backend, Reader
from dowse.types import NON_DEFINITION_KINDS, SymbolRow

# Where a word begins inside a name: after punctuation, or a capital after a lower-case letter.
_INNER_WORD = re.compile(r"(?<=[_.\-/ :])[^_.\-/ :]|(?<=[a-z0-9])[A-Z]")
# Names of a larger index are not kept: those of tens of millions of symbols do not fit into memory.
_MAX_SYMBOLS = 1_000_000
# Different names that are completed beside those of symbols, and files whose names are read at once.
_MAX_NAMES, _BATCH = 500_000, 500
# Keys with the same prefix that are compared: one letter may have hundreds of thousands.
_MAX_KEYS = 20_000
# Keys that a name rarely exceeds: so many times more keys are examined than names are wanted.
_KEYS_PER_NAME = 4
# Sorts after every key with a prefix when appended to it.
_LAST = "\U0010ffff"


class SymbolName(NamedTuple):
    """One name, and the symbol that has it, or the likeliest of several."""

    text: str
    qualified_name: str
    kind: str
    path: str
    line: int
    id: str
    is_own: bool  # in the project's own code, rather than tests or vendored code
    symbols: int  # how many have the name
    is_name: bool = False  # no symbol has it

    def sort_key(self, prefix: str) -> tuple[bool, bool, bool, int, str]:
        """Return the sort key for a lower-case prefix: the likeliest completion first, symbols first."""
        is_inner = not self.text.lower().startswith(prefix)
        return is_inner, self.is_name, not self.is_own, len(self.text), self.text


class NameRows(NamedTuple):
    """The rows of names by id, as two columns: names are many."""

    ids: array[int]  # sorted
    rows: array[int]

    def get(self, symbol_id: str) -> int | None:
        """Return the row of a name, None if no name has the id."""
        try:
            wanted = int(symbol_id, 16)
        except ValueError:
            return None
        place = bisect_left(self.ids, wanted)
        is_known = place < len(self.ids) and f"{self.ids[place]:016x}" == symbol_id
        return self.rows[place] if is_known else None


@dataclass(frozen=True, slots=True)
class NameTable:
    """The names of one generation, of symbols and others."""

    version: tuple[str, int]
    rows: dict[str, int]  # by symbol id
    name_rows: NameRows
    files: dict[str, int]  # whole files, as searches by phrase or regex return them, by id
    names: Sequence[SymbolName]  # likeliest first
    keys: Sequence[str]  # sorted, lower case: names, and names from an inner word on
    positions: Sequence[int]  # of each key in `names`; plus len(names) where the key begins inside the name
    folders: Sequence[str]  # near the root first
    languages: Sequence[str]  # most files first
    kinds: Sequence[str]
    repos: Sequence[str]

    def complete(self, prefix: str, limit: int) -> list[SymbolName]:
        """Return names that have a prefix, or an inner word with it: prefixes of the name itself first."""
        wanted = prefix.lower()
        if not wanted:
            return []
        first, last = bisect_left(self.keys, wanted), bisect_left(self.keys, wanted + _LAST)
        best = heapq.nsmallest(_KEYS_PER_NAME * limit, self.positions[first : min(last, first + _MAX_KEYS)])
        positions = dict.fromkeys(position % len(self.names) for position in best)
        return [self.names[position] for position in positions][:limit]


class NameCache:
    """The names of an index, read again when it has changed. Thread-safe."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._table: NameTable | None = None
        self._reading = threading.Lock()

    def load(self, reader: Reader) -> NameTable:
        """Return the names of a reader's generation, from the cache if they are in it."""
        version = (reader.identity, reader.generation)
        known = self._table
        if known is not None and known.version == version:
            return known
        with self._reading:
            if self._table is None or self._table.version != version:
                self._table = _read(reader, version)
            return self._table

    def cached(self) -> NameTable | None:
        """Return what was read last, without waiting; suggestions may be a generation old."""
        return self._table

    def refresh(self) -> None:
        """Read the names of the newest generation; an index that can't be read has none."""
        try:
            with self._backend.reader() as reader:
                self.load(reader)
        except DowseError:
            self._table = None

    def find_symbol(self, reader: Reader, symbol_id: str) -> SymbolRow | None:
        """Return the symbol or name with an id, None if there is none; a whole file has row 0."""
        if reader.symbol_count() > _MAX_SYMBOLS:
            return _find_in_store(reader, symbol_id)
        table = self.load(reader)
        row, file = table.rows.get(symbol_id), table.files.get(symbol_id)
        row = table.name_rows.get(symbol_id) if row is None else row
        if row is not None:
            return reader.rows([row])[0]
        return reader.file_rows([file])[0] if file is not None else None


def _find_in_store(reader: Reader, symbol_id: str) -> SymbolRow | None:
    path = symbol_id.removeprefix("file:")
    if path == symbol_id:
        return next(iter(reader.rows_by_key([symbol_id])), None)
    files = [file.file_id for file in reader.files_with_suffix(path)]
    return next((row for row in reader.file_rows(files) if row.key == symbol_id), None)


def _read(reader: Reader, version: tuple[str, int]) -> NameTable:
    if reader.symbol_count() > _MAX_SYMBOLS:
        known = [name for name in reader.languages() if name]
        none = NameRows(array("Q"), array("q"))
        return NameTable(version, {}, none, {}, (), (), (), (), known, KINDS, ())
    files = reader.files()
    symbols = reader.rows_of_files([file.file_id for file in files])
    found = {name.text: name for name in _distinct_names(symbols)}
    name_rows, kinds = _add_names(reader, [file.file_id for file in files], found)
    names = sorted(found.values(), key=lambda name: name.sort_key(""))
    keyed = sorted(
        (key, position if name.text.lower() == key else position + len(names))
        for position, name in enumerate(names)
        for key in _keys(name)
    )
    languages = reader.languages()
    return NameTable(
        version,
        {row.key: row.row for row in symbols},
        name_rows,
        {row.key: row.file_id for row in reader.file_rows([file.file_id for file in files])},
        names,
        [key for key, _ in keyed],
        [position for _, position in keyed],
        sorted({folder for file in files for folder in _folders(file.path)}, key=folder_order),
        [name for name in sorted(languages, key=lambda name: -languages[name]) if name],
        sorted({row.kind for row in symbols} | kinds),
        sorted({file.repo for file in files if file.repo}),
    )


def _add_names(
    reader: Reader, files: Sequence[int], found: dict[str, SymbolName]
) -> tuple[NameRows, set[str]]:
    """Add names that no symbol has; return the rows of all by id, and their kinds."""
    rows: list[tuple[int, int]] = []
    kinds: set[str] = set()
    for start in range(0, len(files), _BATCH):
        batch = reader.names_of_files(files[start : start + _BATCH])
        rows += ((int(row.key, 16), row.row) for row in batch)
        kinds |= {row.kind for row in batch}
        for name in _distinct_names(batch):
            known = found.get(name.text)
            if known is None and len(found) < _MAX_NAMES:
                found[name.text] = name._replace(is_name=True)
            elif known is not None and known.is_name:
                better = name._replace(is_name=True) if name.is_own and not known.is_own else known
                found[name.text] = better._replace(symbols=known.symbols + name.symbols)
    rows.sort()
    return NameRows(array("Q", (key for key, _ in rows)), array("q", (row for _, row in rows))), kinds


def _distinct_names(symbols: Iterable[SymbolRow]) -> Iterator[SymbolName]:
    """Give every name once, with the likeliest of its symbols."""
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
        symbol = (row.qualified_name, row.kind, row.path, row.start_line, row.key)
        yield SymbolName(name, *symbol, not row.role, counts[name])


def _keys(name: SymbolName) -> set[str]:
    """Return the keys of a name: itself, its inner words, and `class.method`."""
    starts = [0, *(match.start() for match in _INNER_WORD.finditer(name.text))]
    keys = {name.text[start:].lower() for start in starts} | {name.text.lstrip("_").lower()}
    if "." in name.qualified_name:
        keys.add(".".join(name.qualified_name.split(".")[-2:]).lower())
    return keys - {""}


def folder_order(folder: str) -> tuple[int, str]:
    """Return the sort key that puts folders near the root first."""
    return folder.count("/"), folder


def _folders(path: str) -> Iterator[str]:
    """Give the folders that contain a file, as the filter `path:` takes them."""
    parts = path.split("/")[:-1]
    for depth in range(1, len(parts) + 1):
        yield "/".join(parts[:depth]) + "/"
