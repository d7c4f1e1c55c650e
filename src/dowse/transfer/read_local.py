"""The content of an index in a folder, as it was put there."""

from __future__ import annotations

import contextlib
import functools
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dowse.storage.local.catalog import Catalog
from dowse.storage.local.graph_tables import unpack_integers
from dowse.storage.local.layout import VECTORS, catalog_path
from dowse.transfer.content import VECTOR_BATCH, Content, EncoderVectors, content_meta
from dowse.types import FileRecord, SymbolRecord
from dowse.vectors.files import STATE

if TYPE_CHECKING:
    from dowse.storage.local.backend import LocalBackend
    from dowse.transfer.vector_frames import Codes


@contextlib.contextmanager
def local_content(backend: LocalBackend) -> Iterator[Content]:
    """Open the newest generation of a folder."""
    with backend.reader():  # raises if it is missing or damaged
        pass
    catalog = _RecordCatalog.open_for_reading(catalog_path(backend.folder))
    assert isinstance(catalog, _RecordCatalog)  # noqa: S101 - the class method's type is its base's
    try:
        with catalog.snapshot():
            meta = catalog.meta()
            yield Content(
                source=meta.get("repo", ""),
                meta=content_meta(meta),
                skipped=catalog.skipped(),
                counts=catalog.counts(),
                records=catalog.records,
                vectors=list(_encoder_vectors(backend.folder / VECTORS, catalog)),
            )
    finally:
        catalog.close()


class _RecordCatalog(Catalog):
    """A catalog that reads records back."""

    def records(self) -> Iterator[FileRecord]:
        """Yield every file in the order in which they were put, without terms."""
        files = self._db.execute(
            "SELECT f.id, f.key, f.repo, f.path, f.language, f.role, f.size, f.mtime_ns, f.content_hash,"
            " f.encoding, f.lines, f.problem, t.text, coalesce(r.data, x''), coalesce(g.data, x''),"
            " coalesce(g.offers, x''), coalesce(g.rows, x'') FROM files f JOIN texts t ON t.file_id = f.id"
            " LEFT JOIN refs r ON r.file_id = f.id LEFT JOIN facts g ON g.file_id = f.id ORDER BY f.id"
        )
        for file_id, *fields, text, references, facts, offers, rows in files:
            marks = self._db.execute("SELECT key FROM marks WHERE file_id=? ORDER BY key", (file_id,))
            linking = (facts, tuple(unpack_integers(offers)), tuple(mark for (mark,) in marks))
            symbols = self._symbols_of(file_id, unpack_integers(rows))
            yield FileRecord._make((*fields, text, references, "", symbols, *linking))

    def _symbols_of(self, file_id: int, order: Sequence[int]) -> tuple[SymbolRecord, ...]:
        """Return the symbols of a file, in the order in which its references number them."""
        rows = self._db.execute(
            "SELECT id, key, kind, name, qualified_name, start_line, end_line, signature, doc, spans,"
            " content_hash, doc_spans, vector_key, part, scope_key, name_key, overrides"
            " FROM symbols WHERE file_id=? ORDER BY id",
            (file_id,),
        )
        symbols = {row: _symbol(fields) for row, *fields in rows}
        return tuple(symbols[row] for row in dict.fromkeys((*order, *symbols)) if row in symbols)


def _symbol(row: Sequence[Any]) -> SymbolRecord:
    *fields, spans, digest, doc_spans, vector_key, part, scope_key, name_key, overrides = row
    spans, doc_spans = json.loads(spans), json.loads(doc_spans) if doc_spans else ()
    linking = (vector_key, part, scope_key, name_key, bool(overrides))
    return SymbolRecord._make((*fields, spans, digest, (), doc_spans, *linking))


def _encoder_vectors(folder: Path, catalog: Catalog) -> Iterator[EncoderVectors]:
    """Yield the vectors of every encoder."""
    for path in sorted(each for each in folder.glob("*") if (each / STATE).is_file()):
        dimension = json.loads((path / STATE).read_bytes())["dimension"]
        yield EncoderVectors(path.name, dimension, functools.partial(_batches, path, dimension, catalog))


def _batches(folder: Path, dimension: int, catalog: Catalog) -> Iterator[tuple[Sequence[bytes], Codes]]:
    """Yield the vectors that symbols of this generation use."""
    import numpy as np

    from dowse.vectors.keys import as_keys
    from dowse.vectors.matrix import Matrix, blocks

    matrix = Matrix.open(folder, dimension)
    rows = matrix.find(as_keys(sorted(set(catalog.vector_keys()[1]))))
    used = np.sort(rows[rows >= 0])
    for block in blocks(len(used), VECTOR_BATCH):
        yield [key.tobytes() for key in matrix.keys[used[block]]], matrix.codes[used[block]]
