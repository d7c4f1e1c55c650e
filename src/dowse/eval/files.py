"""Files that evaluations write, and where caches are kept."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Iterable
from pathlib import Path

from dowse.config import cache_folder
from dowse.security.safe_files import write_atomically

# The key by which a report says what it is.
REPORT = "dowse_report"


def write_text(path: Path, text: str) -> None:
    """Write a file atomically, compressed if its name ends with .gz; missing folders are created."""
    # Undecodable bytes of paths are lone surrogates; the escape that stands for them is also JSON's.
    data = text.encode("utf-8", "backslashreplace")
    if path.suffix == ".gz":
        data = gzip.compress(data, mtime=0)
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_fifo() or path.is_char_device() or path.is_relative_to("/dev"):
        path.write_bytes(data)  # a pipe or a terminal is written into, not replaced
    else:  # a link of that name, which a repository may hold, is replaced and not followed
        write_atomically(path, data, mode=0o666)


def cache_path(kind: str, root: Path, name: str, parameters: Iterable[object]) -> Path:
    """Return where something made for a tree is cached: one path for each tree and parameters."""
    text = "\n".join(map(str, (root, *parameters)))
    digest = hashlib.blake2b(text.encode("utf-8", "surrogateescape"), digest_size=6).hexdigest()
    return cache_folder() / "eval" / kind / f"{name}-{digest}"
