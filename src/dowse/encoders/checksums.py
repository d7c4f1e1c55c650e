"""SHA-256 checksums of the shipped models: of all for `dowse doctor`, of one on its first use.

Reading and hashing a model takes about a tenth of a second, too long for every cold start. So a process that
loads one checks it only if its files are not those that were checked before, by inode, size and times; an
empty file in the cache is named after those. `dowse doctor` always reads everything.
"""

from __future__ import annotations

import contextlib
import hashlib
from pathlib import Path

from dowse.config import cache_folder
from dowse.errors import DowseError
from dowse.runtime_paths import digest
from dowse.security.safe_files import make_private_directory

# In the format of sha256sum, which can make and check it, too.
SUMS_FILE = "SHA256SUMS"


def damaged_files(shipped: Path, model: str = "") -> list[str]:
    """Return the files of a folder of models, or of one model, that are missing or damaged."""
    return [name for name, digest in _sums(shipped, model).items() if _digest(shipped / name) != digest]


def count_files(shipped: Path) -> int:
    """Return how many files have a checksum."""
    return len(_sums(shipped))


def check_once(folder: Path) -> None:
    """Check a shipped model, unless that was done before and its files are the same.

    Raises:
        DowseError: A file is damaged; the message names it.
    """
    checked = _checked_mark(folder)
    if checked.exists():
        return
    if damaged := damaged_files(folder.parent, folder.name):
        raise DowseError(f"{folder.parent / damaged[0]} is damaged; reinstall dowse")
    with contextlib.suppress(DowseError, OSError):  # where nothing can be written, it is checked every time
        make_private_directory(checked.parent)
        checked.touch()


def _checked_mark(folder: Path) -> Path:
    """Return the file that there is if the files of a model, as they are now, were checked."""
    stats = [(file.name, file.stat()) for file in sorted(folder.iterdir())]
    seen = [(name, each.st_ino, each.st_size, each.st_mtime_ns, each.st_ctime_ns) for name, each in stats]
    return cache_folder() / "checked-models" / digest(f"{folder} {seen}")


def _sums(shipped: Path, model: str = "") -> dict[str, str]:
    """Return the checksums by path; the list has models that are in another package, too."""
    try:
        lines = (shipped / SUMS_FILE).read_text().splitlines()
    except OSError as error:
        raise DowseError(
            f"{shipped / SUMS_FILE} can't be read ({error.strerror}); reinstall dowse"
        ) from error
    pairs = (line.split("  ", 1) for line in lines)
    chosen = {name: digest for digest, name in pairs if name.startswith(f"{model}/" if model else "")}
    return {name: digest for name, digest in chosen.items() if (shipped / name).parent.is_dir()}


def _digest(file: Path) -> str:
    """Return the checksum of a file; "" if it can't be read."""
    try:
        with file.open("rb") as opened:
            return hashlib.file_digest(opened, "sha256").hexdigest()
    except OSError:
        return ""
