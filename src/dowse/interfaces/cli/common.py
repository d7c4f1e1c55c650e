"""What commands have in common: open the index that the flags name, bring it up to date, say things."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from dowse.config import read_project_file
from dowse.errors import IndexLocked
from dowse.index import REFRESH_CHANGES, REFRESH_FILES, Index
from dowse.interfaces.cli import environment as surroundings
from dowse.security.terminal import escape_message, escape_name

if TYPE_CHECKING:
    from dowse.indexing.update import Report

# Settings that are flags of several commands.
SETTINGS = (
    *("index_dir", "backend", "exclude", "strip_docs", "processes"),
    *("include_secrets", "show_secrets"),
    *("encoder", "view", "vectors", "device", "threads"),
)


def open_index(options: argparse.Namespace, **more: object) -> Index:
    """Name the index that the flags of a command mean."""
    settings = {name: getattr(options, name, None) for name in SETTINGS}
    index = surroundings.open_index(options.path, **settings, **more)
    if note := read_project_file(index.root).note:
        say(note)
    return index


def prepare(index: Index) -> None:
    """Index on first use; afterwards take in what changed, while that is quick.

    What many share is changed by `dowse index` alone: a search from any folder must not add that folder.
    """
    if index.is_shared:
        return
    if not index.exists:
        say(f"indexing {index.root} (first use)")
        update(index)
        return
    if surroundings.settled(index):
        return
    index = index.as_built()
    refresh = index.settings.refresh
    if refresh == "never" or (refresh == "auto" and index.file_count() > REFRESH_FILES):
        return
    changes = index.changes()
    if refresh == "auto" and changes.count > REFRESH_CHANGES:
        real = index.changes(exact=True).count
        if real > REFRESH_CHANGES:
            say(f"{real:,} files changed since the index was made; run `dowse index`")
            return
    if changes.count:
        _refresh(index)


def _refresh(index: Index) -> None:
    """Take in what changed; if that is not possible now, the index as it is still answers."""
    try:
        update(index, wait=0.0)
    except (IndexLocked, OSError) as error:
        say(f"searching the index as it is ({error})")


def update(index: Index, *, quiet: bool = False, rebuild: bool = False, wait: float | None = None) -> Report:
    """Bring an index up to date, showing how far it is; name what could not be read."""
    from dowse.interfaces.cli.progress import ProgressBar

    with ProgressBar(enabled=not quiet and sys.stderr.isatty()) as bar:
        report = index.update(rebuild=rebuild, wait=wait, on_progress=bar.show, on_wait=say)
    for path, reason in report.failed[:5]:
        say(f"{path}: {reason}")
    if len(report.failed) > 5:
        say(f"and {len(report.failed) - 5} more; `dowse status --files` lists them")
    return report


def say(message: str) -> None:
    """Say something beside the results, on one line: what is named in it may come from the repository."""
    sys.stderr.write(f"dowse: {escape_name(message)}\n")


def say_error(error: Exception) -> None:
    """Say what went wrong; some errors list what a name could mean, one a line."""
    sys.stderr.write(f"dowse: {escape_message(error)}\n")
