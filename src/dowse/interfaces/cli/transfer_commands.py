"""`dowse export` and `dowse import`: an index as one file."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from dowse.errors import ConfigError
from dowse.formats.text import format_size
from dowse.interfaces.cli import flags
from dowse.interfaces.cli.command import EXIT_FOUND, CommandParser
from dowse.interfaces.cli.common import open_index
from dowse.interfaces.cli.printing import print_json, print_line, print_message
from dowse.interfaces.cli.progress import ProgressBar
from dowse.storage.open import is_cluster

if TYPE_CHECKING:
    from dowse.index import Index
    from dowse.storage.protocol import Backend
    from dowse.transfer.export_snapshot import TransferReport


def add_arguments(parser: CommandParser) -> None:
    """Add the flags of `dowse export` or `dowse import`."""
    is_export = parser.command == "export"
    if not is_export:
        parser.add_argument("file")
    # Without a path, `import` to a cluster keeps the name that the source was exported with.
    parser.add_argument("path", nargs="?", help="repository, folder or corpus (default: .)")
    if is_export:
        parser.add_argument("file")
    flags.add(parser, "--index-dir", "--backend")
    if is_export:
        parser.add_argument("--repo", metavar="NAME", help="a repository of the cluster, by its name there")
    else:
        flags.add(parser, "--no-wait")
    flags.add(parser, "--quiet", "--json")


def run(options: argparse.Namespace) -> int:
    """Export or import an index, and print a report."""
    names_source = options.path is not None
    options.path = options.path or "."
    if options.command == "export":
        report, summary = _export(options)
    else:
        report, summary = _import(options, names_source)
    if options.json:
        print_json(asdict(report))
    elif not options.quiet:
        vectors = "".join(f", {count:,} vectors of {encoder}" for encoder, count in report.vectors.items())
        print_line(summary)
        counts = f"{report.files:,} files, {report.symbols:,} symbols{vectors}"
        print_line(f"{report.source}: {counts}, {report.seconds:.1f} s")
    return EXIT_FOUND


def _export(options: argparse.Namespace) -> tuple[TransferReport, str]:
    """Write an index, or one source of a cluster, to a file."""
    from dowse.transfer.export_snapshot import export

    index = open_index(options, exact=True)
    backend = _source_backend(index, options.repo) if options.repo else index.backend
    if not index.is_shared:
        index.link()
    with ProgressBar("exporting", quiet=options.quiet) as bar:
        report = export(backend, Path(options.file), on_progress=bar.show)
    return report, f"wrote {options.file} ({format_size(report.bytes)})"


def _import(options: argparse.Namespace, names_source: bool) -> tuple[TransferReport, str]:
    """Replace an index with the contents of a file."""
    from dowse.transfer.import_snapshot import import_snapshot
    from dowse.transfer.validate import open_snapshot

    # Open from validation to the end: nobody can replace the file meanwhile.
    with open_snapshot(Path(options.file)) as (snapshot, header):
        index = open_index(options, exact=True)
        keeps_name = is_cluster(index.settings.backend) and not names_source
        backend = _source_backend(index, header.source) if keeps_name else index.backend
        with ProgressBar("importing", quiet=options.quiet) as bar:
            report = import_snapshot(
                snapshot,
                header,
                backend,
                index.settings,
                root=None if keeps_name else index.root,
                wait=0.0 if options.no_wait else None,
                on_wait=print_message,
                on_progress=bar.show,
            )
    return report, f"read {options.file} into {backend.address}"


def _source_backend(index: Index, source: str) -> Backend:
    """Return the backend of another source on the same cluster."""
    if not is_cluster(index.settings.backend):
        raise ConfigError("--repo names a repository of a cluster; name that with --backend")
    from dowse.storage.elastic.backend import ElasticBackend

    return ElasticBackend(index.settings.backend, source)
