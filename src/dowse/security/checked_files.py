"""Checksums of files: damage on disk is found before it becomes an answer.

CRC-32 finds every flipped byte and all but one in four billion of other damage, at 1.5 GB/s; BLAKE2 and SHA
read a fifth to two thirds of that. It is no protection from people: who can write an index can write its
checksums.

What was read and found intact is not read again as long as the system says that the file is the same: inode,
size and both times. Bits that flip on the disk itself change none of those, so after a day all is read again.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path

from dowse.security.safe_files import (
    PRIVATE_FILE,
    make_private_directory,
    read_regular_file,
    temporary_path,
)

VERIFIED = "verified.json"
Stamp = tuple[int, ...]  # inode, size, time of change of the content, and of anything
Stamps = dict[str, Stamp | None]  # by name; None for a file that is missing or empty
# How long a file that did not change is taken to be intact.
_TRUST_SECONDS = 86_400.0
_BLOCK_BYTES = 1 << 20
_MAX_LIST_BYTES = 10_000_000
# A line break before and after eight hexadecimal digits.
_SEAL_BYTES = 10


def seal(data: bytes) -> bytes:
    """Return a file's content with its checksum at the end."""
    return data + b"\n%08x\n" % zlib.crc32(data)


def unseal(data: bytes) -> bytes:
    """Return what was sealed; raises ValueError if it is not what was written."""
    content = data[:-_SEAL_BYTES]
    if seal(content) != data:
        raise ValueError("it is not what was written")
    return content


def file_checksum(path: Path) -> tuple[int, int]:
    """Return size and checksum of a file."""
    size = checksum = 0
    with open(path, "rb", buffering=0) as file:
        while block := file.read(_BLOCK_BYTES):
            size, checksum = size + len(block), zlib.crc32(block, checksum)
    return size, checksum


def stamp(path: str | Path) -> Stamp | None:
    """Return what the system says of a file, None if it is missing or empty."""
    try:
        status = os.stat(path)  # noqa: PTH116 - every search asks this of dozens of files
    except OSError:
        return None
    if not status.st_size:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def stamps(folder: Path, names: Iterable[str]) -> Stamps:
    """Return what the system says of files."""
    base = str(folder)
    return {name: stamp(f"{base}/{name}") for name in names}


class VerifiedFiles:
    """Which files of a folder were found intact, in this process or another; a list that may be lost.

    Files that belong together are a part: they are checked, and replaced in the list, together.
    """

    def __init__(self, folder: Path) -> None:
        """Name the folder of the list."""
        self._path = folder / VERIFIED
        self._known: dict[str, Stamps] = {}
        self._since = 0.0

    def has(self, part: str, files: Stamps) -> bool:
        """Whether all files of a part are known to be intact."""
        if not self._has(part, files):
            self._read()
        return self._has(part, files)

    def _has(self, part: str, files: Stamps) -> bool:
        return self._is_recent() and self._known.get(part) == files

    def _is_recent(self) -> bool:
        # A clock that was set back is no reason to trust a file for longer.
        return 0 <= time.time() - self._since < _TRUST_SECONDS

    def add(self, parts: Mapping[str, Stamps]) -> None:
        """Record parts whose files were read, or just written, with their stamps from before."""
        self._read()
        if not self._is_recent():
            self._known, self._since = {}, time.time()
        self._known = {**self._known, **parts}
        content = json.dumps({"since": self._since, "parts": self._known}).encode()
        temporary = temporary_path(self._path)
        with contextlib.suppress(OSError):  # a read-only folder: then each process reads for itself
            make_private_directory(self._path.parent)
            temporary.unlink(missing_ok=True)
            # Not synced to the disk: a torn list has a wrong checksum and counts as none.
            handle = os.open(temporary, os.O_WRONLY | os.O_EXCL | os.O_CREAT, PRIVATE_FILE)
            with os.fdopen(handle, "wb") as file:
                file.write(seal(content))
            temporary.replace(self._path)

    def _read(self) -> None:
        with contextlib.suppress(OSError, ValueError, TypeError, KeyError, AttributeError):
            stored = json.loads(unseal(read_regular_file(self._path, _MAX_LIST_BYTES)))
            self._known = {
                part: {name: tuple(each) if each else None for name, each in files.items()}
                for part, files in stored["parts"].items()
            }
            self._since = float(stored["since"])


def is_sealed(path: Path, part: str) -> bool:
    """Whether a sealed file is what was written; one that is known to be is not read."""
    verified, known = VerifiedFiles(path.parent), stamps(path.parent, [path.name])
    if verified.has(part, known):
        return True
    try:
        unseal(path.read_bytes())
    except (OSError, ValueError):
        return False
    verified.add({part: known})
    return True
