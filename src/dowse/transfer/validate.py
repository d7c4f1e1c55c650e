"""Validate a snapshot from end to end before the first byte of it is written anywhere."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from dowse.errors import IndexVersionError
from dowse.transfer.check_records import check_file
from dowse.transfer.frames import FILES, HEADER, VECTORS, Frame, SnapshotFile
from dowse.transfer.header import Header, check_header
from dowse.transfer.limits import BrokenSnapshot, Budget
from dowse.transfer.vector_frames import check_vector_frame


@contextlib.contextmanager
def open_snapshot(path: Path) -> Iterator[tuple[SnapshotFile, Header]]:
    """Open and validate a snapshot, which stays open: nobody can exchange what was validated.

    Raises:
        BrokenSnapshot: It is damaged, or not what dowse writes.
        IndexVersionError: Another version of dowse wrote it.
    """
    with SnapshotFile(path) as snapshot:
        yield snapshot, _validate(snapshot)


def _validate(snapshot: SnapshotFile) -> Header:
    """Read all of a snapshot and return its header; raises if anything in it is wrong."""
    header: Header | None = None
    budget, files = Budget(snapshot.size), 0
    for frame in snapshot.frames():
        try:
            if header is None:
                header = _read_header(snapshot, frame)
            elif frame.kind == FILES:
                files += _check_files(frame, header, budget)
                if files > header.files:
                    raise BrokenSnapshot("it holds more files than it says")
            elif frame.kind == VECTORS:
                check_vector_frame(frame.data, header.encoders)
            else:
                raise BrokenSnapshot("it has a frame of an unknown kind")
        except BrokenSnapshot as error:
            raise snapshot.broken(error) from None
    if header is None:
        raise snapshot.broken("it does not say what it holds")
    if files != header.files:
        raise snapshot.broken("it holds fewer files than it says")
    return header


def _check_files(frame: Frame, header: Header, budget: Budget) -> int:
    """Check a frame of files; return how many they are."""
    files = frame.json()
    if type(files) is not list:
        raise BrokenSnapshot("a frame holds no list of files")
    for file in files:
        check_file(file, header.is_corpus, budget)
    return len(files)


def _read_header(snapshot: SnapshotFile, frame: Frame) -> Header:
    if frame.kind != HEADER:
        raise BrokenSnapshot("it does not say what it holds")
    try:
        return check_header(frame.json())
    except IndexVersionError as error:
        raise IndexVersionError(str(error).replace("the snapshot", str(snapshot.path), 1)) from None
