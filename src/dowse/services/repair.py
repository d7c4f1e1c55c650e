"""Mends a damaged index: only what is not what was written is made again.

A damaged catalog is rebuilt from the files, text indexes from the catalog. Of vectors the blocks that are
damaged are dropped; their symbols get vectors from the cache of all indexes, or are encoded again.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from dowse.errors import DowseError
from dowse.index import Index
from dowse.indexing.update import Progress
from dowse.storage.compression import unpack
from dowse.storage.local.backend import LocalBackend
from dowse.storage.local.layout import VECTORS, catalog_path
from dowse.storage.protocol import Damage
from dowse.transfer.content import RecordCatalog
from dowse.transfer.records import with_terms
from dowse.types import FileRecord

OnProgress = Callable[[Progress], None]


def repair(
    index: Index, wait: float | None = None, on_progress: OnProgress = lambda _: None
) -> tuple[list[Damage], list[str]]:
    """Mend an index in a folder; return what was damaged, and what was done.

    Args:
        index: The index.
        wait: Seconds to wait for another writer; None waits as long as it takes.
        on_progress: Called after every file that is read, and every few hundred symbols that are encoded.
    """
    backend = index.backend
    if not isinstance(backend, LocalBackend):
        raise DowseError("an index on a cluster has its copies for that; `dowse doctor` tells their state")
    damage = backend.damage()
    done = [_mend_vectors(backend, each.name, wait) for each in damage if each.part == "vectors"]
    for each in damage:
        if each.part == "derived":
            backend.remove_derived(each.name)
            done.append(f"removed {each.name}, which is made again when it is needed")
    parts = {each.part for each in damage}
    if parts & {"catalog", "graph"}:
        with contextlib.suppress(DowseError):  # of a damaged catalog nobody knows how it was built
            index = index.as_built()
        report = index.update(rebuild=True, wait=wait, on_progress=on_progress)
        done.append(f"read {report.added:,} files again; vectors stay")
    elif "text" in parts:
        done.append(f"made the text index of {_replace_text(backend, wait):,} files again from the catalog")
    elif "checksums" in parts:
        with backend.writer(wait):  # computes them
            done.append("computed the checksums of the catalog again")
    if _mend_counts(backend):
        damage.append(Damage("derived", "counts of terms are not what was written", "tfidf"))
        done.append("removed the counts of terms, which are made again when they are needed")
    if parts & {"vectors", "derived"} and index.encoder is not None:
        embedded = index.embed(wait=wait, on_progress=on_progress)
        if embedded.encoded or embedded.reused:
            done.append(
                f"encoded {embedded.encoded:,} symbols, {embedded.reused:,} vectors were in the cache"
            )
    return damage, done


def _mend_counts(backend: LocalBackend) -> bool:
    """Remove damaged counts of terms; whether there were any."""
    from dowse.research.tfidf.index import FOLDER, check_counts
    from dowse.vectors.files import STATE

    if not backend.has_generation():
        return False
    with backend.reader() as reader:
        problems = check_counts(reader)
    if problems:
        backend.remove_derived(f"{FOLDER}/{STATE}")
    return bool(problems)


def _mend_vectors(backend: LocalBackend, encoder: str, wait: float | None) -> str:
    """Drop the damaged rows of a matrix."""
    from dowse.vectors.writer import drop_damaged_rows

    backend.close()
    kept, dropped = drop_damaged_rows(backend.folder / VECTORS / encoder, wait)
    return f"dropped {f'{dropped:,}' if kept else 'all'} vectors of {encoder}, kept {kept:,}"


def _replace_text(backend: LocalBackend, wait: float | None) -> int:
    """Write the text indexes again from what the catalog has of each file; return how many files."""
    with backend.text_writer(wait) as writer:
        catalog = RecordCatalog.open_for_reading(catalog_path(backend.folder))
        try:
            with catalog.snapshot():
                is_corpus = catalog.meta().get("corpus") == "1"
                deferred = {each.file_id for each in catalog.graph.deferred_files()}
                writer.replace_text(_text_records(catalog, is_corpus, deferred))
                return catalog.counts()["files"]
        finally:
            catalog.close()


def _text_records(
    catalog: RecordCatalog, is_corpus: bool, deferred: set[int]
) -> Iterator[tuple[int, list[int], FileRecord]]:
    for file_id, rows, record in catalog.numbered_records():
        data = unpack(record.packed_text)
        whole = with_terms(record._replace(text=data.decode()), data, is_corpus)
        yield file_id, rows, whole._replace(is_deferred=file_id in deferred)
