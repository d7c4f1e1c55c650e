"""The unit of work: one repository, folder or corpus, from its files to what is searched."""

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
from dowse.ingest.counting_writer import CountedBackend, Note, VectorFinder
from dowse.ingest.encoding import CHUNK, EncoderChoice, Spread, SpreadEncoder
from dowse.ingest.tasks import DONE, FAILED, UNCHANGED, Doing, Order, Outcome
from dowse.source.corpus import is_corpus
from dowse.source.git import repo_identity
from dowse.storage.open import is_cluster
from dowse.vectors.cache import VectorCache

if TYPE_CHECKING:
    from dowse.storage.elastic.backend import ElasticBackend
    from dowse.storage.protocol import Backend

# Symbols that are encoded between two commits where many workers do it.
SPREAD_CHUNK = 8 * CHUNK


def index_repository(
    path: str,
    order: Order,
    *,
    known: str | None = None,
    spread: Spread | None = None,
    note: Note = lambda _, __: None,
) -> Outcome:
    """Bring one repository up to date; what goes wrong is told, not raised, for others are to follow.

    Args:
        path: Where it is.
        order: What is to be done.
        known: What was noted when it was last done; None if it never was.
        spread: What encodes on other workers.
        note: Called with how many files and symbols were put.
    """
    started = time.monotonic()
    try:
        outcome = _index(path, order, known, spread, note)
    except DowseError as error:
        outcome = Outcome(path, FAILED, str(error))
    except Exception as error:  # whatever it is, it concerns this repository alone
        outcome = Outcome(path, FAILED, f"{type(error).__name__}: {error}".partition("\n")[0])
    return replace(outcome, seconds=round(time.monotonic() - started, 3))


def _index(path: str, order: Order, known: str | None, spread: Spread | None, note: Note) -> Outcome:
    with Index.open(path, **order.flags) as index:
        repo = repo_identity(index.root)
        fingerprint = _fingerprint(index.root)
        if known is not None and not order.rebuild and _is_unchanged(index, known, fingerprint):
            return Outcome(path, UNCHANGED, repo=repo, fingerprint=fingerprint)
        if order.rebuild:
            index.backend.start_over(order.wait)
        doing = Doing()

        def count(files: int, symbols: int) -> None:
            nonlocal doing
            doing = Doing(files, symbols)
            note(files, symbols)

        settings = index.settings
        encoder = None
        if order.embed and settings.encoder != "none":
            choice = EncoderChoice(settings.encoder, settings.view, settings.device, settings.threads)
            encoder = SpreadEncoder(choice, spread)
        report, encoded = _update(index, order, encoder, count)
        return Outcome(
            *(path, DONE, "", repo, report.added, report.changed, report.deleted, doing.files, doing.symbols),
            encoded=encoded,
            fingerprint=fingerprint,
        )


def _update(index: Index, order: Order, encoder: SpreadEncoder | None, note: Note) -> tuple[Report, int]:
    """Read what changed, and give it vectors: on the way to a cluster, afterwards in a folder."""
    if encoder is None:
        return _read(index, CountedBackend(index.backend, note), order), 0
    with VectorCache(cache_folder() / "vectors", encoder.id, encoder.dimension) as cache:
        if is_cluster(index.settings.backend):
            finder = VectorFinder(encoder, cache, cast("ElasticBackend", index.backend))
            return _read(index, CountedBackend(index.backend, note, finder), order), finder.encoded
        report = _read(index, CountedBackend(index.backend, note), order)
        settings = index.settings
        made = embed(
            *(index.backend, encoder, cache),
            clusters=settings.clusters,
            method=settings.vectors,
            wait=order.wait,
            chunk=SPREAD_CHUNK,
        )
        return report, made.encoded


def _read(index: Index, backend: CountedBackend, order: Order) -> Report:
    # Only its writing side is asked for.
    return update(cast("Backend", backend), index.root, index.settings, wait=order.wait)


def _is_unchanged(index: Index, known: str, fingerprint: str) -> bool:
    """Whether an index has all that is there now: sizes and times are compared, nothing is parsed."""
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
    """Return what tells whether a corpus was written to; nothing for a tree, whose files tell."""
    if not is_corpus(root):
        return ""
    files = sorted(root.rglob("*")) if root.is_dir() else [root]
    stats = [(str(file), file.stat()) for file in files if file.is_file()]
    return " ".join(f"{Path(name).name}:{stat.st_size}:{stat.st_mtime_ns}" for name, stat in stats)
