"""`dowse index` and `dowse clear`: build the index, update it, remove it."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from dowse.config import cache_folder, load_settings
from dowse.interfaces.cli import flags
from dowse.interfaces.cli.addresses import address_of, local_path
from dowse.interfaces.cli.command import EXIT_FOUND, EXIT_NOTHING, CommandParser
from dowse.interfaces.cli.common import embed_in_background, open_index, update_index
from dowse.interfaces.cli.printing import print_json, print_line, print_message
from dowse.lazy_classes import asdict

if TYPE_CHECKING:
    from dowse.index import Index
    from dowse.indexing.embed import EmbedReport
    from dowse.indexing.update import Report
    from dowse.source.git_address import GitAddress

# The worker of the resident process may be linking what is to be removed.
_CLEAR_SECONDS = 60.0


def add_arguments(parser: CommandParser) -> None:
    """Add the flags of `dowse index` or `dowse clear`."""
    if parser.command == "clear":
        flags.add(parser, "path", "--index-dir", "--backend")
        return
    parser.add_argument(
        "paths",
        nargs="*",
        metavar="PATH",
        help="repositories, folders, git addresses, BEIR folders or .jsonl[.gz] corpora (default: .)",
    )
    flags.add(parser, "--index-dir", "--backend")
    parser.add_argument("--list", metavar="FILE", help="a file that lists more of them, one a line")
    parser.add_argument(
        "--workers",
        metavar="W",
        help="index on a Ray cluster: ray://HOST:PORT or local:N (dowse[ray]; docs/CLUSTER.md)",
    )
    flags.add(parser, "--exclude", "--strip-docs", "--include-secrets", "--encoder")
    parser.add_argument("--no-embed", action="store_true", help="build no vectors for now")
    parser.add_argument("--rebuild", action="store_true", help="build anew; the old index answers meanwhile")
    flags.add(parser, "--no-wait", "--quiet", "--json")


def run(options: argparse.Namespace) -> int:
    """Build the index, update it or remove it."""
    return _clear(options) if options.command == "clear" else _index(options)


def _index(options: argparse.Namespace) -> int:
    names_path = bool(options.paths)
    options.paths = options.paths or ([] if options.list else ["."])
    options.paths = [local_path(path, fresh=True) for path in options.paths]
    # A shared index gets its vectors at once: added afterwards, every document would be written twice.
    is_shared = load_settings(None, backend=options.backend).backend
    if len(options.paths) != 1 or options.list or options.workers or is_shared:
        from dowse.interfaces.cli.index_many import index_many

        return index_many(options)
    options.path = options.paths[0]
    index = open_index(options, exact=names_path)
    wait = 0.0 if options.no_wait else None
    report = update_index(index, quiet=options.quiet, rebuild=options.rebuild, wait=wait)
    embedded = None if options.no_embed or not index.encoder else _embed(index, options.quiet, wait)
    if options.json:
        print_json({**report.as_dict(), "embedding": embedded and asdict(embedded)})
    elif not options.quiet:
        print_line(_update_line(report, index.root))
        if embedded and (embedded.encoded or embedded.reused):
            print_line(_embedding_line(embedded))
    if embedded:
        embed_in_background(index)  # nothing is missing: it learns from new commits
    return EXIT_FOUND


def _clear(options: argparse.Namespace) -> int:
    """Remove the index, and those of other revisions; the vector cache stays."""
    address = address_of(options.path)
    if address is not None:
        return _clear_copy(options, address)
    index = open_index(options, exact=True)
    if not index.is_shared:
        from dowse.source.revisions import remove_revisions

        remove_revisions(index.root)
    if not index.backend.exists():
        print_message(f"there is no index of {index.root}")
        return EXIT_NOTHING
    index.backend.clear(_CLEAR_SECONDS, print_message)
    removed = f"{index.root} from {index.backend.address}" if index.is_shared else index.backend.address
    print_line(f"removed {removed} (vectors stay in {cache_folder() / 'vectors'})")
    return EXIT_FOUND


def _clear_copy(options: argparse.Namespace, address: GitAddress) -> int:
    """Remove the index and the copy of a remote repository."""
    from dowse.source.clones import find_clone, remove_clone

    clone = find_clone(address)
    if clone is not None:
        options.path = str(clone.root)
        index = open_index(options, exact=True)
        if index.backend.exists():
            index.backend.clear(_CLEAR_SECONDS, print_message)
    folder = remove_clone(address)
    if folder is None:
        print_message(f"there is no copy of {address.shown}")
        return EXIT_NOTHING
    print_line(f"removed {folder}, its index too (vectors stay in {cache_folder() / 'vectors'})")
    return EXIT_FOUND


def _embed(index: Index, quiet: bool, wait: float | None) -> EmbedReport:
    from dowse.progress import ProgressBar

    with ProgressBar("embedding", "symbols", quiet=quiet) as bar:
        return index.vectors.embed(wait=wait, on_progress=bar.show, on_wait=print_message)


def _update_line(report: Report, root: Path) -> str:
    if not report.wrote:
        return f"up to date: {report.unchanged:,} files in {report.seconds:.2f} s"
    counts = (("added", report.added), ("changed", report.changed), ("deleted", report.deleted))
    done = ", ".join(f"{count:,} {name}" for name, count in counts if count) or "no file changed"
    return f"indexed {root}: {done} ({report.skipped:,} left out) in {report.seconds:.1f} s"


def _embedding_line(report: EmbedReport) -> str:
    reused = f", {report.reused:,} known from before" if report.reused else ""
    return f"embedded {report.encoded:,} symbols{reused} with {report.encoder} in {report.seconds:.1f} s"
