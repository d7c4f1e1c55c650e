"""Which repositories: those named, and those of a list, each once."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from dowse.errors import ConfigError

_COMMENT = "#"


def read_list(file: Path) -> list[str]:
    """Return the paths that a file names, one a line; empty lines and those that begin with # say nothing."""
    try:
        lines = file.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except IsADirectoryError as error:
        raise ConfigError(f"--list {file} is a folder; name a file with one path a line") from error
    found = [line.strip() for line in lines]
    return [line for line in found if line and not line.startswith(_COMMENT)]


def gather(paths: Iterable[str], file: Path | None) -> list[str]:
    """Return every path once, in full, in the order given."""
    named = [*paths, *(read_list(file) if file is not None else ())]
    return list(dict.fromkeys(os.path.realpath(os.path.expanduser(path)) for path in named))  # noqa: PTH111
