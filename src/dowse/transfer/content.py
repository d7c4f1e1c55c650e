"""The content of a snapshot, read from an index in a folder or from one source of a cluster."""

from __future__ import annotations

import contextlib
import functools
import json
from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dowse.errors import DowseError, IndexMissing
from dowse.storage.elastic.backend import ElasticBackend
from dowse.storage.elastic.documents import HEAVY_FIELDS, records
from dowse.storage.elastic.names import FILES, META, SYMBOLS
from dowse.storage.elastic.snapshot import SnapshotSearcher, batches
from dowse.storage.local.backend import LocalBackend
from dowse.storage.local.catalog import Catalog
from dowse.storage.local.graph_tables import unpack_integers
from dowse.storage.local.layout import VECTORS, catalog_path
from dowse.types import FileRecord, SymbolRecord
from dowse.vectors.files import STATE, parse_state

if TYPE_CHECKING:
    from dowse.storage.protocol import Backend
    from dowse.transfer.frames import Codes

# Vectors of one frame: a megabyte or so.
_VECTOR_BATCH = 4_096
# Texts come with the documents of files: some megabytes at a time.
_FILE_BATCH = 200
# So many sources are named where the requested one is missing.
_SUGGESTIONS = 10
# Metadata of one index, not of its content.
_INDEX_ONLY = frozenset(["format", "generation", "commit", "text_sums"])


@dataclass(frozen=True, slots=True)
class EncoderVectors:
    """The vectors of one encoder: batches of keys, and of codes with one signed byte a dimension."""

    encoder: str
    dimension: int
    batches: Callable[[], Iterator[tuple[Sequence[bytes], Codes]]]


@dataclass(frozen=True, slots=True)
class Content:
    """One source, a tree or a corpus, of one generation."""

    source: str  # its name where many are in one index
    meta: Mapping[str, str]
    skipped: Sequence[tuple[str, str]]
    counts: Mapping[str, int]  # files and symbols
    records: Callable[[], Iterator[FileRecord]]
    vectors: Sequence[EncoderVectors] = field(default=())


def open_content(backend: Backend) -> AbstractContextManager[Content]:
    """Open the newest generation of the source that a backend writes."""
    if isinstance(backend, LocalBackend):
        return _local_content(backend)
    assert isinstance(backend, ElasticBackend)  # noqa: S101 - there are two kinds
    return _elastic_content(backend)


def _content_meta(meta: Mapping[str, str]) -> dict[str, str]:
    """Return the metadata of the content, without that of the index it is read from."""
    return {key: value for key, value in meta.items() if key not in _INDEX_ONLY}


@contextlib.contextmanager
def _local_content(backend: LocalBackend) -> Iterator[Content]:
    with backend.reader():  # raises if it is missing or damaged
        pass
    catalog = RecordCatalog.open_for_reading(catalog_path(backend.folder))
    try:
        with catalog.snapshot():
            meta = catalog.meta()
            if meta.get("linked") == "0" and catalog.graph.deferred_files():
                raise DowseError(f"the index in {backend.folder} is not complete; run `dowse index` first")
            yield Content(
                source=meta.get("repo", ""),
                meta=_content_meta(meta),
                skipped=catalog.skipped(),
                counts=catalog.counts(),
                records=catalog.records,
                vectors=list(_encoder_vectors(backend.folder / VECTORS, catalog)),
            )
    finally:
        catalog.close()


class RecordCatalog(Catalog):
    """A catalog that reads records back."""

    def records(self) -> Iterator[FileRecord]:
        """Yield every file in the order in which they were put, without terms."""
        return (record for _, _, record in self.numbered_records())

    def numbered_records(self) -> Iterator[tuple[int, list[int], FileRecord]]:
        """Yield the same, each with its id and the rows of its symbols."""
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
            record = (*fields, text, references, "", tuple(symbols.values()), *linking, False)
            yield file_id, list(symbols), FileRecord._make(record)

    def _symbols_of(self, file_id: int, order: Sequence[int]) -> dict[int, SymbolRecord]:
        """Return the symbols of a file by row, in the order in which its references number them."""
        rows = self._db.execute(
            "SELECT id, key, kind, name, qualified_name, start_line, end_line, signature, doc, spans,"
            " content_hash, doc_spans, vector_key, part, scope_key, name_key, overrides"
            " FROM symbols WHERE file_id=? ORDER BY id",
            (file_id,),
        )
        symbols = {row: _symbol(fields) for row, *fields in rows}
        return {row: symbols[row] for row in dict.fromkeys((*order, *symbols)) if row in symbols}


def _symbol(row: Sequence[Any]) -> SymbolRecord:
    *fields, spans, digest, doc_spans, vector_key, part, scope_key, name_key, overrides = row
    spans, doc_spans = json.loads(spans), json.loads(doc_spans) if doc_spans else ()
    linking = (vector_key, part, scope_key, name_key, bool(overrides))
    return SymbolRecord._make((*fields, spans, digest, (), doc_spans, *linking))


def _encoder_vectors(folder: Path, catalog: Catalog) -> Iterator[EncoderVectors]:
    """Yield the vectors of every encoder."""
    for path in sorted(each for each in folder.glob("*") if (each / STATE).is_file()):
        dimension = parse_state((path / STATE).read_bytes())["dimension"]
        yield EncoderVectors(
            path.name, dimension, functools.partial(_local_batches, path, dimension, catalog)
        )


def _local_batches(folder: Path, dimension: int, catalog: Catalog) -> Iterator[tuple[Sequence[bytes], Codes]]:
    """Yield the vectors that symbols of this generation use."""
    import numpy as np

    from dowse.vectors.keys import as_keys
    from dowse.vectors.matrix import Matrix, blocks

    matrix = Matrix.open(folder, dimension)
    rows = matrix.find(as_keys(sorted(set(catalog.vector_keys()[1]))))
    used = np.sort(rows[rows >= 0])
    for block in blocks(len(used), _VECTOR_BATCH):
        yield [key.tobytes() for key in matrix.keys[used[block]]], matrix.codes[used[block]]


@contextlib.contextmanager
def _elastic_content(backend: ElasticBackend) -> Iterator[Content]:
    searcher = backend.searcher()
    version = _source_version(searcher)
    encoders = sorted(searcher.snapshot.encoders.items())
    yield Content(
        source=searcher.source,
        meta=_content_meta(version["meta"]),
        skipped=[(path, reason) for path, reason in version.get("skipped", ())],
        counts=version["counts"],
        records=functools.partial(_elastic_records, searcher),
        vectors=[
            EncoderVectors(
                name, int(about["dimension"]), functools.partial(_elastic_batches, searcher, about["field"])
            )
            for name, about in encoders
        ],
    )


def _source_version(searcher: SnapshotSearcher) -> Mapping[str, Any]:
    """Return the version of the source; raises, with the names of some others, if there is none."""
    version = searcher.source_version()
    if version:
        return version
    body = {"query": {"term": {"kind": "source"}}, "size": _SUGGESTIONS, "sort": [{"slot": "asc"}]}
    others = [hit["_source"]["data"]["slot"] for hit in searcher.hits(META, body)]
    raise IndexMissing(
        f"the index {searcher.client.address.name} holds no {searcher.source or 'such repository'}; "
        f"name one that it holds with --repo, such as {', '.join(others) or 'none'}"
    )


def _elastic_records(searcher: SnapshotSearcher) -> Iterator[FileRecord]:
    own = {"term": {"source": searcher.source}}
    symbols = searcher.scan(SYMBOLS, own, "file", source={"excludes": HEAVY_FIELDS})
    files = searcher.scan(FILES, own, "file", page=_FILE_BATCH)
    for record, body, _ in records(files, symbols):
        yield record._replace(packed_text=b64decode(body["data"]["text"]))


def _elastic_batches(searcher: SnapshotSearcher, field: str) -> Iterator[tuple[Sequence[bytes], Codes]]:
    """Yield the vectors of the source, each key once."""
    import numpy as np

    query = {"bool": {"filter": [{"term": {"source": searcher.source}}, {"exists": {"field": field}}]}}
    hits = searcher.scan(SYMBOLS, query, "row", source=["vector_key", field])
    seen: set[str] = set()

    def unseen() -> Iterator[Mapping[str, str]]:
        for source in (hit["_source"] for hit in hits):
            if source["vector_key"] not in seen:
                seen.add(source["vector_key"])
                yield source

    for batch in batches(unseen(), _VECTOR_BATCH):
        codes = np.frombuffer(bytes.fromhex("".join(source[field] for source in batch)), np.int8)
        yield [bytes.fromhex(source["vector_key"]) for source in batch], codes.reshape(len(batch), -1)
