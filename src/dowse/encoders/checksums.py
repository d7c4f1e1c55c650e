"""SHA-256 checksums of the shipped models: of all for `dowse doctor`, of one on its first use.

Reading and hashing a model takes about a tenth of a second, too long for every cold start. So a process that
loads one checks it only if its files are not those that were checked last, or after a day
(`dowse.security.checked_files`); `dowse doctor` always reads everything.
"""

from __future__ import annotations

import contextlib
import hashlib
from pathlib import Path

from dowse.config import cache_folder
from dowse.encoders.model_files import shipped_folder
from dowse.errors import DowseError
from dowse.security.checked_files import VerifiedFiles, stamps

# In the format of sha256sum, which can make and check it, too.
SUMS_FILE = "SHA256SUMS"


def damaged_files(shipped: Path | None = None, model: str = "") -> list[str]:
    """Return the shipped files, or those of one model, that are missing or have another checksum."""
    shipped = shipped or shipped_folder()
    return [name for name, digest in _sums(shipped, model).items() if _digest(shipped / name) != digest]


def count_files(shipped: Path | None = None) -> int:
    """Return how many files have a checksum."""
    return len(_sums(shipped or shipped_folder()))


def check_once(folder: Path) -> None:
    """Check a shipped model, unless that was done lately and its files are the same.

    Raises:
        DowseError: A file is damaged; the message names it.
    """
    names = [file.name for file in sorted(folder.iterdir())]
    verified, files = VerifiedFiles(cache_folder()), stamps(folder, names)
    if verified.has(str(folder), files):
        return
    if damaged := damaged_files(folder.parent, folder.name):
        raise DowseError(f"{folder.parent / damaged[0]} is damaged; reinstall dowse")
    with contextlib.suppress(DowseError):  # where nothing can be written, it is checked every time
        verified.add({str(folder): files})


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
