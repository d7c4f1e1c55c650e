"""`dowse index` of several repositories: one after the other, or on the workers of a Ray cluster."""

from __future__ import annotations

import argparse
import contextlib
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from dowse.config import Settings, cache_folder, load_settings
from dowse.errors import ConfigError
from dowse.formats.text import print_json
from dowse.ingest.checkpoint import Checkpoint
from dowse.ingest.encoding import DistributedEncoder, EncoderSpec
from dowse.ingest.repository import DISPATCH_CHUNK
from dowse.ingest.run import LocalWorker, Progress, Summary, Workers, collect_paths, ingest
from dowse.ingest.tasks import DONE, FAILED, UNCHANGED, IngestOptions, Status, worker_environment
from dowse.interfaces.cli.common import SETTINGS, say
from dowse.interfaces.cli.main import ERROR, FOUND
from dowse.interfaces.cli.progress import StatusLine
from dowse.storage.open import is_cluster

if TYPE_CHECKING:
    from dowse.indexing.embed import EmbedReport

# What decides what lies in an index.
_DECIDING = ("exclude", "strip_docs", "include_secrets", "encoder", "view", "max_file_bytes")
# So many failures are told in full; JSON has all of them.
_TOLD = 50


def index_many(options: argparse.Namespace) -> int:
    """Index several repositories."""
    paths = collect_paths(options.paths, Path(options.list) if options.list else None)
    settings = load_settings(None, **{name: getattr(options, name, None) for name in SETTINGS})
    _check(options, settings, paths)
    order = _order(options, settings)
    deciding = {name: getattr(settings, name) for name in _DECIDING}
    checkpoint = Checkpoint.for_index(settings.backend, {**deciding, "embed": order.embed})
    with checkpoint, _line(options) as line, _workers(options, order) as workers:
        if isinstance(workers, LocalWorker):
            workers.on_progress = lambda: line.touch(workers)
        summary = ingest(
            paths, workers, checkpoint, shared=is_cluster(settings.backend), on_progress=line.show
        )
        embedded = _complete(options, order, settings, summary)
    _tell(options, summary, embedded)
    return ERROR if summary.with_status(FAILED) else FOUND


def _check(options: argparse.Namespace, settings: Settings, paths: list[str]) -> None:
    if not paths:
        raise ConfigError("nothing to index: name repositories, or a file that lists them with --list")
    if settings.index_dir and not is_cluster(settings.backend):
        raise ConfigError("--index-dir is a place for one repository; leave it out, or name a --backend")
    if options.workers:
        from dowse.ingest.ray_workers import REMOTE, check_workers

        check_workers(options.workers)
        if options.workers.startswith(REMOTE) and not is_cluster(settings.backend):
            raise ConfigError("workers elsewhere need an index that they all reach; name it with --backend")


def _order(options: argparse.Namespace, settings: Settings) -> IngestOptions:
    flags = {name: value for name in SETTINGS if (value := getattr(options, name, None)) is not None}
    if settings.backend:  # what all share is made in one way, whatever each machine's settings are
        flags |= {name: getattr(settings, name) for name in ("backend", "encoder", "view")}
    if options.workers:
        flags |= {"processes": 1, "threads": 1}  # a worker is one processor
    return IngestOptions(
        flags,
        embed=not options.no_embed and settings.encoder != "none",
        rebuild=options.rebuild,
        wait=0.0 if options.no_wait else None,
        environment=worker_environment() if options.workers else {},
    )


@contextlib.contextmanager
def _workers(options: argparse.Namespace, order: IngestOptions) -> Iterator[Workers]:
    if not options.workers:
        yield LocalWorker(order)
        return
    from dowse.ingest.ray_workers import ray_workers

    with ray_workers(options.workers, order) as workers:
        yield workers


def _complete(
    options: argparse.Namespace, order: IngestOptions, settings: Settings, summary: Summary
) -> EmbedReport | None:
    """Fit what an index that all share needs as a whole, once; also what runs before this left unencoded."""
    if not order.embed or not is_cluster(settings.backend) or not summary.with_status(DONE):
        return None
    from dowse.indexing.embed import embed
    from dowse.storage.open import open_backend
    from dowse.vectors.cache import VectorCache

    spec = EncoderSpec(settings.encoder, settings.view, settings.device, settings.threads)
    encoder = DistributedEncoder(spec)
    if options.workers:
        from dowse.ingest.ray_workers import dispatch_by_ray

        encoder = DistributedEncoder(spec._replace(threads=1), dispatch_by_ray)
    backend = open_backend(settings.backend)
    try:
        with VectorCache(cache_folder() / "vectors", encoder.id, encoder.dimension) as cache:
            return embed(
                *(backend, encoder, cache),
                clusters=settings.clusters,
                method=settings.vectors,
                chunk=DISPATCH_CHUNK,
            )
    finally:
        backend.close()


def _tell(options: argparse.Namespace, summary: Summary, embedded: EmbedReport | None) -> None:
    failed = summary.with_status(FAILED)
    for outcome in failed[:_TOLD]:
        say(f"{outcome.path}: {outcome.problem}")
    if len(failed) > _TOLD:
        say(f"and {len(failed) - _TOLD:,} more; --json lists them all")
    if options.json:
        statuses: tuple[Status, ...] = (DONE, UNCHANGED, FAILED)
        found: dict[str, object] = {
            status: [asdict(each) for each in summary.with_status(status)] for status in statuses
        }
        print_json({**found, "embedding": embedded and asdict(embedded), "seconds": summary.seconds})
    elif not options.quiet:
        done, unchanged = summary.with_status(DONE), summary.with_status(UNCHANGED)
        files, symbols = sum(each.files for each in done), sum(each.symbols for each in done)
        sys.stdout.write(
            f"indexed {len(done):,} repositories, {files:,} files, {symbols:,} symbols, "
            f"{sum(each.encoded for each in done):,} encoded; "
            f"{len(unchanged):,} up to date, {len(failed):,} failed; {summary.seconds:.1f} s\n"
        )


def _line(options: argparse.Namespace) -> _Line:
    return _Line(not options.quiet and sys.stderr.isatty())


class _Line(StatusLine):
    """One line on standard error that says how far all workers together are."""

    def __init__(self, enabled: bool) -> None:
        super().__init__(enabled)
        self._last = Progress()

    def touch(self, workers: Workers) -> None:
        """Show that files and symbols came, where the repositories are as they were."""
        last = self._last
        self.show(Progress(last.repositories, last.total, last.failed, *workers.counts()))

    def show(self, progress: Progress) -> None:
        """Write the line anew, unless that was a moment ago."""
        self._last = progress
        now = time.monotonic()
        if not self._is_due(now, progress.repositories >= progress.total):
            return
        failed = f", {progress.failed:,} failed" if progress.failed else ""
        done = f"{progress.repositories:,} of {progress.total:,} repositories"
        read = f"{progress.files:,} files, {progress.symbols:,} symbols"
        sys.stderr.write(f"\rindexing: {done}, {read}{failed}, {now - self._started:.0f} s\x1b[K")
        sys.stderr.flush()
