"""Which tables of the catalog the pages of its file belong to (SQLite's file format, section 1.6)."""

from __future__ import annotations

import contextlib
import sqlite3
import struct
from collections.abc import Collection, Iterator
from pathlib import Path

from dowse.storage.local.page_sums import catalog_page_size
from dowse.storage.local.raw_files import ReadAt, raw_file

# Kinds of pages that have pages below them: of an index, and of a table.
_INNER = (2, 5)
_INNER_HEADER = struct.Struct(">BHHHBI")  # kind, first free block, cells, their begin, free bytes, last child


def tables_of_pages(catalog: Path, pages: Collection[int]) -> frozenset[str]:
    """Return the tables that some damaged pages belong to, or an index of which; nothing if one is unknown.

    Pages beyond the end of a long value are, and so are all below a damaged page.
    """
    damaged = frozenset(pages)
    table_of: dict[int, str] = {}
    uri = f"{catalog.absolute().as_uri()}?immutable=1"
    try:
        page_size = catalog_page_size(catalog)
        with contextlib.closing(sqlite3.connect(uri, uri=True)) as database, raw_file(catalog) as read_at:
            roots = database.execute("SELECT tbl_name, rootpage FROM sqlite_master WHERE rootpage > 1")
            for table, root in roots.fetchall():
                table_of.update((page, table) for page in _tree(read_at, page_size, root, damaged))
    except (sqlite3.Error, OSError, struct.error):
        return frozenset()
    return frozenset(table_of[page] for page in damaged) if damaged <= table_of.keys() else frozenset()


def _tree(read_at: ReadAt, page_size: int, root: int, damaged: Collection[int]) -> Iterator[int]:
    """Yield the pages of a b-tree, without those below damaged ones."""
    pending = [root]
    while pending:
        page = pending.pop()
        yield page
        if page in damaged:
            continue
        data = read_at((page - 1) * page_size, page_size)
        if not data or data[0] not in _INNER:
            continue
        _, _, cells, _, _, last = _INNER_HEADER.unpack_from(data)
        places = struct.unpack_from(f">{cells}H", data, _INNER_HEADER.size)
        pending += [last, *(int.from_bytes(data[place : place + 4], "big") for place in places)]
