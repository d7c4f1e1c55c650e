"""`dowse index` of several repositories: one after the other, or on the workers of a Ray cluster."""

from __future__ import annotations

import argparse
import contextlib
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from dowse.config import Settings, cache_folder, load_settings
from dowse.errors import ConfigError
from dowse.ingest.encoding import DistributedEncoder, EncoderSpec
from dowse.ingest.repository import (
    DISPATCH_CHUNK,
    DONE,
    FAILED,
    UNCHANGED,
    IngestOptions,
    Status,
    worker_environment,
)
from dowse.ingest.run import LocalWorker, Progress, Summary, Workers, collect_paths, ingest
from dowse.interfaces.cli.command import EXIT_ERROR, EXIT_FOUND
from dowse.interfaces.cli.common import flag_settings
from dowse.interfaces.cli.printing import print_json, print_line, print_message
from dowse.lazy_classes import asdict
from dowse.progress import StatusLine
from dowse.storage.open import is_cluster

if TYPE_CHECKING:
    from dowse.indexing.embed import EmbedReport

# Failures that are listed; JSON has all of them.
_LISTED_FAILURES = 50


def index_many(options: argparse.Namespace) -> int:
    """Index several repositories."""
    paths = collect_paths(options.paths, Path(options.list) if options.list else None)
    settings = load_settings(None, **flag_settings(options))
    _check(options, settings, paths)
    ingest_options = _ingest_options(options, settings)
    with _StatusLine(quiet=options.quiet) as line, _workers(options, ingest_options) as workers:
        if isinstance(workers, LocalWorker):
            workers.on_progress = lambda: line.show_files(workers)
        summary = ingest(paths, workers, shared=is_cluster(settings.backend), on_progress=line.show)
        embedded = _finish_embedding(options, ingest_options, settings, summary)
    _report(options, summary, embedded)
    return EXIT_ERROR if summary.with_status(FAILED) else EXIT_FOUND


def _check(options: argparse.Namespace, settings: Settings, paths: list[str]) -> None:
    if not paths:
        raise ConfigError("nothing to index: name repositories, or a file that lists them with --list")
    if settings.index_dir and not is_cluster(settings.backend):
        raise ConfigError("--index-dir is the folder of one index; leave it out, or name a --backend")
    if options.workers:
        from dowse.ingest.ray_workers import REMOTE, check_workers

        check_workers(options.workers)
        if options.workers.startswith(REMOTE) and not is_cluster(settings.backend):
            raise ConfigError("remote workers need a shared index; name it with --backend")


def _ingest_options(options: argparse.Namespace, settings: Settings) -> IngestOptions:
    flags = {name: value for name, value in flag_settings(options).items() if value is not None}
    if settings.backend:  # the same for all, whatever the settings of each machine
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
def _workers(options: argparse.Namespace, ingest_options: IngestOptions) -> Iterator[Workers]:
    if not options.workers:
        yield LocalWorker(ingest_options)
        return
    from dowse.ingest.ray_workers import ray_workers

    with ray_workers(options.workers, ingest_options) as workers:
        yield workers


def _finish_embedding(
    options: argparse.Namespace, ingest_options: IngestOptions, settings: Settings, summary: Summary
) -> EmbedReport | None:
    """Fit the vector index of a shared index once, and embed what earlier runs left."""
    if not ingest_options.embed or not is_cluster(settings.backend) or not summary.with_status(DONE):
        return None
    from dowse.indexing.embed import embed
    from dowse.storage.open import open_backend
    from dowse.vectors.cache import VectorCache

    spec = EncoderSpec.from_settings(settings)
    encoder = DistributedEncoder(spec)
    if options.workers:
        from dowse.ingest.ray_workers import dispatch_by_ray

        encoder = DistributedEncoder(spec._replace(threads=1), dispatch_by_ray)
    backend = open_backend(settings.backend)
    try:
        with VectorCache(cache_folder() / "vectors", encoder.id, encoder.dimension) as cache:
            return embed(
                *(backend, encoder, cache),
                method=settings.vectors,
                chunk=DISPATCH_CHUNK,
            )
    finally:
        backend.close()


def _report(options: argparse.Namespace, summary: Summary, embedded: EmbedReport | None) -> None:
    failed = summary.with_status(FAILED)
    for outcome in failed[:_LISTED_FAILURES]:
        print_message(f"{outcome.path}: {outcome.problem}")
    if len(failed) > _LISTED_FAILURES:
        print_message(f"and {len(failed) - _LISTED_FAILURES:,} more; --json lists them all")
    if options.json:
        statuses: tuple[Status, ...] = (DONE, UNCHANGED, FAILED)
        outcomes: dict[str, object] = {
            status: [asdict(each) for each in summary.with_status(status)] for status in statuses
        }
        print_json({**outcomes, "embedding": embedded and asdict(embedded), "seconds": summary.seconds})
    elif not options.quiet:
        done = summary.with_status(DONE)
        files, symbols = sum(each.files for each in done), sum(each.symbols for each in done)
        print_line(
            f"indexed {len(done):,} repositories, {files:,} files, {symbols:,} symbols, "
            f"{sum(each.encoded for each in done):,} encoded; "
            f"{len(summary.with_status(UNCHANGED)):,} up to date, {len(failed):,} failed; "
            f"{summary.seconds:.1f} s"
        )


class _StatusLine(StatusLine):
    """One line on standard error with the progress of all workers."""

    def __init__(self, *, quiet: bool) -> None:
        super().__init__(quiet=quiet)
        self._last = Progress()

    def show_files(self, workers: Workers) -> None:
        """Update the files and symbols; the repositories stay."""
        doing, last = workers.counts(), self._last
        self.show(Progress(last.repositories, last.total, last.failed, doing.files, doing.symbols))

    def show(self, progress: Progress) -> None:
        """Rewrite the line, at most a few times a second."""
        self._last = progress
        now = time.monotonic()
        if not self._is_due(now, progress.repositories >= progress.total):
            return
        failed = f", {progress.failed:,} failed" if progress.failed else ""
        done = f"{progress.repositories:,} of {progress.total:,} repositories"
        read = f"{progress.files:,} files, {progress.symbols:,} symbols"
        sys.stderr.write(f"\rindexing: {done}, {read}{failed}, {now - self._started:.0f} s\x1b[K")
        sys.stderr.flush()
