"""The order in which symbols get their vectors: what is likely to be asked for comes first."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

from dowse.errors import DowseError

if TYPE_CHECKING:
    from dowse.storage.protocol import Reader

# Commits whose files count as changed last; older ones say little about what is asked for now.
_COMMITS = 200
# Code that is read least.
_LAST_ROLES = frozenset(["test", "benchmark", "generated", "vendored"])


def embedding_order(
    reader: Reader, missing: list[tuple[int, bytes]], root: Path, asked: Collection[str] = ()
) -> list[tuple[int, bytes]]:
    """Sort the symbols without a vector: files that a question is about, those changed last, the others.

    Tests, generated and vendored code come last.

    Args:
        reader: The index.
        missing: Row and vector key of the symbols.
        root: The tree; without a history, the times of files alone tell what was changed last.
        asked: Paths of the files that a question is about.
    """
    recent = {path: rank for rank, path in enumerate(recently_changed(root))}
    files = sorted(
        reader.files(),
        key=lambda file: (
            file.path not in asked,
            file.role in _LAST_ROLES,
            recent.get(file.path, len(recent)),
            -file.mtime_ns,
        ),
    )
    rank_of_file = {file.file_id: rank for rank, file in enumerate(files)}
    rank_of_row = {
        row: rank_of_file[file_id]
        for file_id, ranges in reader.symbol_ranges([file.file_id for file in files])
        for row in ranges.rows
    }
    return sorted(missing, key=lambda symbol: rank_of_row.get(symbol[0], len(files)))


def recently_changed(root: Path) -> list[str]:
    """Return the files that the last commits changed, newest first, relative to a folder; [] without git."""
    from dowse.history.log import open_repository

    log = [
        "log",
        f"--max-count={_COMMITS}",
        "--name-only",
        "--format=",
        "-z",
        "--no-renames",
        "--no-relative",
    ]
    try:
        with open_repository(root) as repository:
            names = repository.git.run(*log, "--no-ext-diff", "--ignore-submodules=all", "HEAD", "--")
            prefix = repository.prefix.encode()
    except DowseError:  # no repository, no git, no commit
        return []
    changed = dict.fromkeys(name for name in names.split(b"\0") if name.startswith(prefix))
    return [name[len(prefix) :].decode("utf-8", "surrogateescape") for name in changed if name]
