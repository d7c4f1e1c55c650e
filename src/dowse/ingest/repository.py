"""The unit of work: index one repository, folder or corpus, with its vectors."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from dowse.config import cache_folder
from dowse.errors import DowseError
from dowse.index import Index
from dowse.indexing.embed import embed
from dowse.indexing.update import Report, update
from dowse.ingest.encoding import BATCH, Dispatch, DistributedEncoder, EncoderSpec
from dowse.ingest.encoding_writer import EncodingBackend, OnCount, VectorProvider
from dowse.ingest.tasks import DONE, FAILED, UNCHANGED, Counts, IngestOptions, Outcome
from dowse.source.corpus import is_corpus
from dowse.source.git import repo_identity
from dowse.storage.open import is_cluster
from dowse.vectors.cache import VectorCache

if TYPE_CHECKING:
    from dowse.storage.elastic.backend import ElasticBackend
    from dowse.storage.protocol import Backend

# Symbols that are encoded between two commits where many workers encode.
DISPATCH_CHUNK = 8 * BATCH


def index_repository(
    path: str,
    options: IngestOptions,
    *,
    known: str | None = None,
    dispatch: Dispatch | None = None,
    on_count: OnCount = lambda _, __: None,
) -> Outcome:
    """Bring one repository up to date; errors are part of the outcome, because others follow.

    Args:
        path: The repository.
        options: How to index it.
        known: The fingerprint of the checkpoint; None if it was never indexed.
        dispatch: Encodes on other workers.
        on_count: Called with the number of files and symbols that were put.
    """
    started = time.monotonic()
    try:
        outcome = _index(path, options, known, dispatch, on_count)
    except DowseError as error:
        outcome = Outcome(path, FAILED, str(error))
    except Exception as error:  # whatever it is, it concerns this repository alone
        outcome = Outcome(path, FAILED, f"{type(error).__name__}: {error}".partition("\n")[0])
    return replace(outcome, seconds=round(time.monotonic() - started, 3))


def _index(
    path: str, options: IngestOptions, known: str | None, dispatch: Dispatch | None, on_count: OnCount
) -> Outcome:
    with Index.open(path, **options.flags) as index:
        repo, fingerprint = repo_identity(index.root), _fingerprint(index.root)
        if known is not None and not options.rebuild and _is_unchanged(index, known, fingerprint):
            return Outcome(path, UNCHANGED, repo=repo, fingerprint=fingerprint)
        if options.rebuild:
            index.backend.start_over(options.wait)
        counts = Counts()

        def count(files: int, symbols: int) -> None:
            nonlocal counts
            counts = Counts(files, symbols)
            on_count(files, symbols)

        settings = index.settings
        encoder = None
        if options.embed and settings.encoder != "none":
            spec = EncoderSpec(settings.encoder, settings.view, settings.device, settings.threads)
            encoder = DistributedEncoder(spec, dispatch)
        report, encoded = _update(index, options, encoder, count)
        return Outcome(
            *(path, DONE, "", repo, report.added, report.changed, report.deleted, *counts),
            encoded=encoded,
            fingerprint=fingerprint,
        )


def _update(
    index: Index, options: IngestOptions, encoder: DistributedEncoder | None, on_count: OnCount
) -> tuple[Report, int]:
    """Index what changed; vectors are sent along to a cluster, and added to a folder afterwards."""

    def run(vectors: VectorProvider | None = None) -> Report:
        # `update` uses only the writing side of a backend.
        backend = cast("Backend", EncodingBackend(index.backend, on_count, vectors))
        return update(backend, index.root, settings, wait=options.wait)

    settings = index.settings
    if encoder is None:
        return run(), 0
    with VectorCache(cache_folder() / "vectors", encoder.id, encoder.dimension) as cache:
        if is_cluster(settings.backend):
            vectors = VectorProvider(encoder, cache, cast("ElasticBackend", index.backend))
            return run(vectors), vectors.encoded
        report = run()
        embedded = embed(
            *(index.backend, encoder, cache),
            clusters=settings.clusters,
            method=settings.vectors,
            wait=options.wait,
            chunk=DISPATCH_CHUNK,
        )
        return report, embedded.encoded


def _is_unchanged(index: Index, known: str, fingerprint: str) -> bool:
    """Whether an index is up to date: sizes and times are compared, nothing is parsed."""
    if not index.exists:
        return False
    with index.backend.reader() as reader:
        meta = reader.meta()
    if "root" not in meta or meta.get("complete") != "1":
        return False
    if fingerprint:
        return known == fingerprint and meta.get("strip_docs") == str(int(index.settings.strip_docs))
    return not index.changes(exact=True).count


def _fingerprint(root: Path) -> str:
    """Return sizes and times of the files of a corpus; nothing for a tree, whose files are compared."""
    if not is_corpus(root):
        return ""
    files = sorted(root.rglob("*")) if root.is_dir() else [root]
    stats = [(file.name, file.stat()) for file in files if file.is_file()]
    return " ".join(f"{name}:{stat.st_size}:{stat.st_mtime_ns}" for name, stat in stats)
