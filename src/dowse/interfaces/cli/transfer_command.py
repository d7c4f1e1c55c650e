"""`dowse export` and `dowse import`: an index as one file."""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from dowse.formats.text import print_json, render_size
from dowse.interfaces.cli.common import open_index, say
from dowse.interfaces.cli.main import FOUND
from dowse.interfaces.cli.progress import ProgressBar
from dowse.security.terminal import escape_name
from dowse.storage.open import is_cluster

if TYPE_CHECKING:
    from dowse.index import Index
    from dowse.storage.protocol import Backend
    from dowse.transfer.export_snapshot import TransferReport


def export(options: argparse.Namespace) -> int:
    """Write an index, or one source of a cluster, to a file."""
    from dowse.transfer.export_snapshot import export as write

    index = _index(options)
    backend = _of_source(index, options.repo) if options.repo else index.backend
    with ProgressBar(_shows(options), "exporting") as bar:
        report = write(backend, Path(options.file), on_progress=bar.show)
    return _tell(options, report, f"wrote {options.file} ({render_size(report.bytes)})")


def import_(options: argparse.Namespace) -> int:
    """Make an index what a file says."""
    from dowse.transfer.import_snapshot import import_snapshot
    from dowse.transfer.validate import open_snapshot

    # Open from the check to the end: nobody can put another file in its place meanwhile.
    with open_snapshot(Path(options.file)) as (snapshot, header):
        index = _index(options)
        # Without a place of its own, a source keeps its name on a cluster.
        goes_by_its_name = is_cluster(index.settings.backend) and options.path is None
        backend = _of_source(index, header.source) if goes_by_its_name else index.backend
        with ProgressBar(_shows(options), "importing") as bar:
            report = import_snapshot(
                snapshot,
                header,
                backend,
                index.settings,
                root=None if goes_by_its_name else index.root,
                wait=0.0 if options.no_wait else None,
                on_wait=say,
                on_progress=bar.show,
            )
    return _tell(options, report, f"read {options.file} into {backend.address}")


def _index(options: argparse.Namespace) -> Index:
    place = argparse.Namespace(**{**vars(options), "path": options.path or "."})
    return open_index(place)


def _of_source(index: Index, source: str) -> Backend:
    """Return the index on the same cluster, for another of the sources that it holds."""
    from dowse.errors import ConfigError

    if not is_cluster(index.settings.backend):
        raise ConfigError("--repo names a repository of a cluster; name that with --backend")
    from dowse.storage.elastic.backend import ElasticBackend

    return ElasticBackend(index.settings.backend, source)


def _shows(options: argparse.Namespace) -> bool:
    return not options.quiet and sys.stderr.isatty()


def _tell(options: argparse.Namespace, report: TransferReport, done: str) -> int:
    if options.json:
        print_json(asdict(report))
    elif not options.quiet:
        vectors = "".join(f", {count:,} vectors of {encoder}" for encoder, count in report.vectors.items())
        what = f"{report.source}: {report.files:,} files, {report.symbols:,} symbols{vectors}"
        sys.stdout.write(f"{escape_name(done)}\n{escape_name(what)}, {report.seconds:.1f} s\n")
    return FOUND
