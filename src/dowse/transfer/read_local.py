"""Everything that an index in a folder holds, read back as it was put there."""

from __future__ import annotations

import contextlib
import functools
import json
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dowse.storage.local.catalog import Catalog
from dowse.storage.local.layout import VECTORS, catalog_path
from dowse.transfer.content import VECTORS_AT_ONCE, Content, Encoded, described
from dowse.types import FileRecord, SymbolRecord
from dowse.vectors.files import STATE

if TYPE_CHECKING:
    from dowse.storage.local.backend import LocalBackend
    from dowse.transfer.content import Codes


@contextlib.contextmanager
def local_content(backend: LocalBackend) -> Iterator[Content]:
    """Open the newest generation of a folder."""
    with backend.reader():  # names what is missing or damaged
        pass
    catalog = _Records.open_for_reading(catalog_path(backend.folder))
    assert isinstance(catalog, _Records)  # noqa: S101 - the class method's type is its base's
    try:
        with catalog.snapshot():
            meta = catalog.meta()
            yield Content(
                slot=meta.get("repo", ""),
                meta=described(meta),
                skipped=catalog.skipped(),
                counts=catalog.counts(),
                records=catalog.records,
                encoded=list(_encoded(backend.folder / VECTORS, catalog)),
            )
    finally:
        catalog.close()


class _Records(Catalog):
    """A catalog that gives back whole files."""

    def records(self) -> Iterator[FileRecord]:
        """Give every file as it was put, in the order in which they came; terms are made again later."""
        files = self._db.execute(
            "SELECT f.id, f.key, f.repo, f.path, f.language, f.role, f.size, f.mtime_ns, f.content_hash,"
            " f.encoding, f.lines, f.problem, t.text, coalesce(r.data, x''), coalesce(g.data, x''),"
            " coalesce(g.offers, x''), coalesce(g.rows, x'') FROM files f JOIN texts t ON t.file_id = f.id"
            " LEFT JOIN refs r ON r.file_id = f.id LEFT JOIN facts g ON g.file_id = f.id ORDER BY f.id"
        )
        for file_id, *plain, text, references, facts, offers, rows in files:
            marks = self._db.execute("SELECT key FROM marks WHERE file_id=? ORDER BY key", (file_id,))
            rest = (facts, _numbers(offers), tuple(mark for (mark,) in marks))
            symbols = self._symbols_of(file_id, _numbers(rows))
            yield FileRecord._make((*plain, text, references, "", symbols, *rest))

    def _symbols_of(self, file_id: int, order: Sequence[int]) -> tuple[SymbolRecord, ...]:
        """Return the symbols of a file, in the order in which its references count them."""
        rows = self._db.execute(
            "SELECT id, key, kind, name, qualified_name, start_line, end_line, signature, doc, spans,"
            " content_hash, doc_spans, vector_key, part, scope_key, name_key, overrides"
            " FROM symbols WHERE file_id=? ORDER BY id",
            (file_id,),
        )
        found = {row: _symbol(plain) for row, *plain in rows}
        return tuple(found[row] for row in dict.fromkeys((*order, *found)) if row in found)


def _symbol(row: Sequence[Any]) -> SymbolRecord:
    *plain, spans, digest, doc_spans, vector_key, part, scope_key, name_key, overrides = row
    spans, doc_spans = json.loads(spans), json.loads(doc_spans) if doc_spans else ()
    rest = (vector_key, part, scope_key, name_key, bool(overrides))
    return SymbolRecord._make((*plain, spans, digest, (), doc_spans, *rest))


def _numbers(packed: bytes) -> tuple[int, ...]:
    found = array("q")
    found.frombytes(packed)
    return tuple(found)


def _encoded(folder: Path, catalog: Catalog) -> Iterator[Encoded]:
    """Give the vectors of every encoder, those that a symbol of this generation uses."""
    for place in sorted(each for each in folder.glob("*") if (each / STATE).is_file()):
        dimension = json.loads((place / STATE).read_bytes())["dimension"]
        yield Encoded(place.name, dimension, functools.partial(_chunks, place, dimension, catalog))


def _chunks(folder: Path, dimension: int, catalog: Catalog) -> Iterator[tuple[Sequence[bytes], Codes]]:
    import numpy as np

    from dowse.vectors.keys import as_keys
    from dowse.vectors.matrix import Matrix, blocks

    matrix = Matrix.open(folder, dimension)
    rows = matrix.find(as_keys(sorted(set(catalog.vector_keys()[1]))))
    used = np.sort(rows[rows >= 0])
    for part in blocks(len(used), VECTORS_AT_ONCE):
        yield [key.tobytes() for key in matrix.keys[used[part]]], matrix.codes[used[part]]
