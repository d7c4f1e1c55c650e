"""Checksums of the pages of the catalog, which SQLite itself does not have.

    catalog.sqlite.sums     the number of the commit that it belongs to, then one CRC-32 a page

A commit writes changed pages to SQLite's log first. They are read from there, the list is replaced, and only
then does the log go into the catalog: whenever a process is killed, a page is that of the list or is in the
log, which has checksums of its own.
"""

from __future__ import annotations

import contextlib
import os
import struct
import zlib
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from dowse.security.checked_files import seal, unseal
from dowse.security.safe_files import write_atomically
from dowse.storage.local.raw_files import raw_file

SUMS = ".sums"
LOG = "-wal"
_LOG_INDEX = "-shm"
_MAGIC = b"dowsesum"
_HEADER = struct.Struct("<8sQII")  # magic, commit, bytes of a page, pages
# SQLite's file format, section 4: header of the log, and of each of its frames.
_LOG_HEADER = struct.Struct(">IIIIIIII")  # magic, version, bytes of a page, checkpoints, salts, checksums
_FRAME = struct.Struct(">IIIIII")  # page, pages after a commit or 0, salts, checksums
_LOG_MAGIC = (0x377F0682, 0x377F0683)
# SQLite's format of the log's index; it begins with two copies of this: whether it is set up, byte order,
# bytes of a page, frames, pages, a checksum, salts, a checksum.
_LOG_INDEX_HEADER = struct.Struct("=12xBBHII8s8s8s")
_PAGE_SIZE_AT = 16  # in the header of a database
_CHUNK_PAGES = 256
_INDEX_TRIES = 10
_UNKNOWN = 0  # stands for a page that was never written: it is free


@dataclass(frozen=True, slots=True)
class PageSums:
    """The checksums of all pages after a commit."""

    commit: int
    page_size: int
    sums: array[int]


class LoggedPages:
    """The committed pages in the log, by number.

    Nothing is mapped into memory: another process may cut the log meanwhile.
    """

    def __init__(self, catalog: Path) -> None:
        self.page_size = self.page_count = 0
        self._path = f"{catalog}{LOG}"
        self._places: dict[int, int] = {}
        with contextlib.suppress(OSError, struct.error), open(self._path, "rb", buffering=0) as file:
            self._read_frames(file, catalog)

    def _read_frames(self, file: IO[bytes], catalog: Path) -> None:
        magic, _, page_size, _, *salts, _, _ = _LOG_HEADER.unpack(file.read(_LOG_HEADER.size))
        if magic not in _LOG_MAGIC or not _is_page_size(page_size):
            return
        self.page_size = page_size
        step = _FRAME.size + page_size
        size = file.seek(0, os.SEEK_END)
        # After a power cut, the last frames may be torn: SQLite has checked how many are not.
        valid = _valid_frames(catalog, salts)
        if valid is not None:
            size = min(size, _LOG_HEADER.size + step * valid)
        pending: dict[int, int] = {}
        for at in range(_LOG_HEADER.size, size - step + 1, step):
            file.seek(at)
            page, pages_after, *frame_salts, _, _ = _FRAME.unpack(file.read(_FRAME.size))
            if frame_salts != salts:  # of an earlier use of the log
                return
            pending[page] = at + _FRAME.size
            if pages_after:
                self._places.update(pending)
                self.page_count = pages_after
                pending.clear()

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, page: int) -> bool:
        return page in self._places

    def checksums(self) -> Iterator[tuple[int, int]]:
        """Yield each page with its checksum."""
        if not self._places:
            return
        with open(self._path, "rb", buffering=0) as file:
            for page, at in self._places.items():
                file.seek(at)
                yield page, zlib.crc32(file.read(self.page_size))


def _valid_frames(catalog: Path, salts: list[int]) -> int | None:
    """Return how many frames of a log SQLite uses; None if no connection has it open."""
    size = _LOG_INDEX_HEADER.size
    with contextlib.suppress(OSError), raw_file(catalog, _LOG_INDEX) as read_at:
        for _ in range(_INDEX_TRIES):
            data = read_at(0, 2 * size)
            if len(data) == 2 * size and data[:size] == data[size:]:  # else it is being written
                is_set_up, _, _, frames, _, _, own_salts, _ = _LOG_INDEX_HEADER.unpack_from(data)
                if is_set_up:
                    return frames if own_salts == struct.pack(">II", *salts) else 0
    return None


def read_page_sums(catalog: Path) -> PageSums | None:
    """Return the stored checksums, None if there are none; raises ValueError if they are damaged."""
    try:
        content = unseal(Path(f"{catalog}{SUMS}").read_bytes())
    except FileNotFoundError:
        return None
    try:
        magic, commit, page_size, pages = _HEADER.unpack_from(content)
    except struct.error as error:
        raise ValueError(str(error)) from error
    if magic != _MAGIC or not _is_page_size(page_size) or len(content) != _HEADER.size + 4 * pages:
        raise ValueError("it is not what was written")
    sums = array("I")
    sums.frombytes(content[_HEADER.size :])
    return PageSums(commit, page_size, sums)


def write_page_sums(catalog: Path, sums: PageSums) -> None:
    """Replace the stored checksums; they are on the disk afterwards."""
    header = _HEADER.pack(_MAGIC, sums.commit, sums.page_size, len(sums.sums))
    write_atomically(f"{catalog}{SUMS}", seal(header + sums.sums.tobytes()))


def sums_after_commit(catalog: Path, before: PageSums | None, commit: int) -> PageSums:
    """Return the checksums after a commit: of all pages, or with those before, of the pages in the log."""
    log = LoggedPages(catalog)
    if before is None or (len(log) and log.page_size != before.page_size):
        page_size = log.page_size if len(log) else catalog_page_size(catalog)
        pages = log.page_count or catalog.stat().st_size // page_size
        sums = array("I", [_UNKNOWN]) * pages
        for first, known in _stored(catalog, page_size, pages):
            sums[first : first + len(known)] = known
    else:
        page_size, sums = before.page_size, before.sums[:]
        pages = log.page_count or len(sums)
        del sums[pages:]
        sums.extend([_UNKNOWN] * (pages - len(sums)))
    for page, checksum in log.checksums():
        if page <= pages:
            sums[page - 1] = checksum
    return PageSums(commit, page_size, sums)


def damaged_pages(
    catalog: Path, sums: PageSums, *, commit: int, uses_log: bool = True
) -> tuple[list[int], list[int]]:
    """Return the pages that are not what was written: in the catalog, and in its log; reads all of them.

    The log may be ahead of the checksums, if its writer was killed between the two: then its pages are
    SQLite's to check.
    """
    logged = LoggedPages(catalog) if uses_log else None
    pages, read, wrong = len(sums.sums), 0, []
    for first, found in _stored(catalog, sums.page_size, pages):
        read = first + len(found)
        wanted = sums.sums[first:read]
        if found != wanted:
            pairs = enumerate(zip(found, wanted, strict=True), first + 1)
            wrong += [page for page, (now, then) in pairs if now != then and then != _UNKNOWN]
    wrong += [page + 1 for page in range(read, pages) if sums.sums[page] != _UNKNOWN]
    if logged is None or not len(logged):
        return wrong, []
    wrong = [page for page in wrong if page not in logged]
    if commit > sums.commit:
        return wrong, []
    in_log = [page for page, now in logged.checksums() if page > pages or sums.sums[page - 1] != now]
    return wrong, in_log


def _stored(catalog: Path, page_size: int, pages: int) -> Iterator[tuple[int, array[int]]]:
    """Yield the checksums of the pages in the catalog, some at a time, with the number of the first."""
    with raw_file(catalog) as read_at:
        for first in range(0, pages, _CHUNK_PAGES):
            data = memoryview(read_at(page_size * first, page_size * min(_CHUNK_PAGES, pages - first)))
            whole = range(0, len(data) - page_size + 1, page_size)
            yield first, array("I", [zlib.crc32(data[at : at + page_size]) for at in whole])
            if len(data) < page_size * _CHUNK_PAGES:
                return


def is_all_in_log(catalog: Path) -> bool:
    """Whether nothing has gone from the log into the catalog yet, but its first page."""
    log = LoggedPages(catalog)
    return len(log) > 0 and catalog.stat().st_size <= log.page_size


def catalog_page_size(catalog: Path) -> int:
    """Return the bytes of a page by the header of the catalog."""
    with raw_file(catalog) as read_at:
        header = read_at(0, _PAGE_SIZE_AT + 2)
    size = int.from_bytes(header[_PAGE_SIZE_AT:], "big")
    return 65_536 if size == 1 else size


def _is_page_size(size: int) -> bool:
    return 512 <= size <= 65_536 and not size & (size - 1)
