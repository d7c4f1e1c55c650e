"""Where evaluations keep what they make again and again, and how they write what others read."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Iterable
from pathlib import Path

from dowse.config import cache_folder


def write_text(path: Path, text: str) -> None:
    """Write a file, packed if its name ends with .gz, in a folder that need not be there."""
    # Undecodable bytes of paths are lone surrogates; the escape that stands for them is also JSON's.
    data = text.encode("utf-8", "backslashreplace")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)


def cache_place(kind: str, root: Path, name: str, made_with: Iterable[object]) -> Path:
    """Return where something made for a tree is kept: another place for another tree, or made otherwise."""
    told = "\n".join(map(str, (root, *made_with)))
    digest = hashlib.blake2b(told.encode("utf-8", "surrogateescape"), digest_size=6).hexdigest()
    return cache_folder() / "eval" / kind / f"{name}-{digest}"
