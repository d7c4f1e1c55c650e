"""Where evaluations keep what they make again and again, and how they write what others read."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Iterable
from pathlib import Path

from dowse.config import cache_folder
from dowse.security.safe_files import write_atomically


def write_text(path: Path, text: str) -> None:
    """Write a file, packed if its name ends with .gz, in a folder that need not be there."""
    # Undecodable bytes of paths are lone surrogates; the escape that stands for them is also JSON's.
    data = text.encode("utf-8", "backslashreplace")
    if path.suffix == ".gz":
        data = gzip.compress(data, mtime=0)
    path.parent.mkdir(parents=True, exist_ok=True)
    if _is_stream(path):
        path.write_bytes(data)
    else:  # a link of that name, which a repository may hold, is replaced and not followed
        write_atomically(path, data, mode=0o666)


def _is_stream(path: Path) -> bool:
    """Whether a path is no file to be replaced but something to write into: a pipe, a terminal."""
    return path.is_fifo() or path.is_char_device() or path.is_relative_to("/dev")


def cache_path(kind: str, root: Path, name: str, made_with: Iterable[object]) -> Path:
    """Return where something made for a tree is kept: another place for another tree, or made otherwise."""
    told = "\n".join(map(str, (root, *made_with)))
    digest = hashlib.blake2b(told.encode("utf-8", "surrogateescape"), digest_size=6).hexdigest()
    return cache_folder() / "eval" / kind / f"{name}-{digest}"
