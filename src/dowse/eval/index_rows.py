"""All symbols of an index, whatever their number."""

from __future__ import annotations

from collections.abc import Iterator

from dowse.index import Index
from dowse.types import SymbolRow

# Files whose symbols are held at once.
_BATCH = 5_000


def iter_symbols(index: Index) -> Iterator[SymbolRow]:
    """Give every symbol, some files at a time."""
    with index.backend.reader() as reader:
        ids = [file.file_id for file in reader.files()]
        for start in range(0, len(ids), _BATCH):
            yield from reader.rows_of_files(ids[start : start + _BATCH])
