"""SHA-256 checksums of the shipped models: of all for `dowse doctor`, of one on its first use.

Reading and hashing a model takes about a tenth of a second, too long for every cold start. So a process that
loads one checks it only if its files differ, in size, time or inode, from those that were checked last. What
changes on a disk without a write (bit rot) is found by `dowse doctor`, which always reads everything.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from pathlib import Path

from dowse.config import cache_folder
from dowse.encoders.model_files import shipped_folder
from dowse.errors import DowseError

# In the format of sha256sum, which can make and check it, too.
SUMS_FILE = "SHA256SUMS"
# Which models were checked, by folder, as their files were then.
_CHECKED_FILE = "checked-models.json"


def damaged_files(shipped: Path | None = None, model: str = "") -> list[str]:
    """Return the shipped files, or those of one model, that are missing or have another checksum."""
    shipped = shipped or shipped_folder()
    return [name for name, digest in _sums(shipped, model).items() if _digest(shipped / name) != digest]


def count_files(shipped: Path | None = None) -> int:
    """Return how many files have a checksum."""
    return len(_sums(shipped or shipped_folder()))


def check_once(folder: Path) -> None:
    """Check a shipped model, unless that was done since its files were last written.

    Raises:
        DowseError: A file is damaged; the message names it.
    """
    memo = cache_folder() / _CHECKED_FILE
    checked: dict[str, object] = {}
    with contextlib.suppress(OSError, ValueError):
        stored = json.loads(memo.read_bytes())
        checked = stored if isinstance(stored, dict) else {}
    identity = _identity(folder)
    if checked.get(str(folder)) == identity:
        return
    if damaged := damaged_files(folder.parent, folder.name):
        raise DowseError(f"{folder.parent / damaged[0]} is damaged; reinstall dowse")
    from dowse.security.safe_files import make_private_directory, write_atomically

    with contextlib.suppress(OSError, DowseError):  # where nothing can be written, it is checked every time
        make_private_directory(memo.parent)
        write_atomically(memo, json.dumps({**checked, str(folder): identity}).encode())


def _sums(shipped: Path, model: str = "") -> dict[str, str]:
    """Return the checksums by path."""
    try:
        lines = (shipped / SUMS_FILE).read_text().splitlines()
    except OSError as error:
        raise DowseError(
            f"{shipped / SUMS_FILE} can't be read ({error.strerror}); reinstall dowse"
        ) from error
    pairs = (line.split("  ", 1) for line in lines)
    return {name: digest for digest, name in pairs if name.startswith(f"{model}/" if model else "")}


def _digest(file: Path) -> str:
    """Return the checksum of a file; "" if it can't be read."""
    try:
        with file.open("rb") as opened:
            return hashlib.file_digest(opened, "sha256").hexdigest()
    except OSError:
        return ""


def _identity(folder: Path) -> list[list[object]]:
    """Return what tells whether a file of a folder was written or replaced."""
    files = ((file, file.stat()) for file in sorted(folder.iterdir()))
    return [[file.name, stat.st_size, stat.st_mtime_ns, stat.st_ino] for file, stat in files]
