"""`dowse export` and `dowse import`: an index as one file."""

from __future__ import annotations

import argparse
from pathlib import Path

from dowse.errors import ConfigError
from dowse.formats.text import format_size
from dowse.index import Index
from dowse.interfaces.cli import flags
from dowse.interfaces.cli.command import EXIT_FOUND, CommandParser
from dowse.interfaces.cli.common import open_index
from dowse.interfaces.cli.printing import print_json, print_line, print_message
from dowse.lazy_classes import asdict
from dowse.storage.local.backend import LocalBackend


def add_arguments(parser: CommandParser) -> None:
    """Add the flags of `dowse export` or `dowse import`."""
    is_export = parser.command == "export"
    if not is_export:
        parser.add_argument("file")
    parser.add_argument("path", nargs="?", default=".", help="repository, folder or corpus (default: .)")
    if is_export:
        parser.add_argument("file")
    flags.add(parser, "--index-dir")
    if not is_export:
        flags.add(parser, "--no-wait")
    flags.add(parser, "--quiet", "--json")


def run(options: argparse.Namespace) -> int:
    """Export or import an index, and print a report."""
    from dowse.transfer.export_index import export
    from dowse.transfer.import_index import import_archive

    index = open_index(options, exact=True)
    backend, file = _local_backend(index), Path(options.file)
    if options.command == "export":
        index.graph.link()
        report = export(backend, file)
        summary = f"wrote {file} ({format_size(report.bytes)})"
    else:
        wait = 0.0 if options.no_wait else None
        report = import_archive(file, backend, index.root, wait=wait, on_wait=print_message)
        summary = f"read {file} into {backend.address}"
    if options.json:
        print_json(asdict(report))
    elif not options.quiet:
        vectors = "".join(f", {count:,} vectors of {encoder}" for encoder, count in report.vectors.items())
        print_line(summary)
        counts = f"{report.files:,} files, {report.symbols:,} symbols{vectors}"
        print_line(f"{report.source}: {counts}, {report.seconds:.1f} s")
    return EXIT_FOUND


def _local_backend(index: Index) -> LocalBackend:
    if not isinstance(index.backend, LocalBackend):
        raise ConfigError(
            "the index is on a cluster, which has backups of its own (docs/CLUSTER.md); "
            "`dowse index --backend …` puts a repository into another one"
        )
    return index.backend
