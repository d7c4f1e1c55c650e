"""A snapshot is checked from end to end before the first byte of it is written anywhere."""

from __future__ import annotations

from dowse.errors import IndexVersionError
from dowse.transfer.check_records import check_file
from dowse.transfer.errors import BrokenSnapshot
from dowse.transfer.export_snapshot import ABOUT, FILES, VECTORS, vector_head
from dowse.transfer.frames import Frame, SnapshotFile
from dowse.transfer.header import About, check_about
from dowse.transfer.limits import Budget


def validate(snapshot: SnapshotFile) -> About:
    """Read all of a snapshot and return what it says of itself; raises if anything in it is wrong.

    Raises:
        BrokenSnapshot: It is damaged, or not what dowse writes.
        IndexVersionError: Another version of dowse wrote it.
    """
    check = _Check(snapshot)
    for frame in snapshot.frames():
        try:
            check.frame(frame)
        except BrokenSnapshot as error:
            raise snapshot.broken(error) from None
    return check.finish()


class _Check:
    """Counts what the frames of a snapshot hold, and compares it with what the first one says."""

    def __init__(self, snapshot: SnapshotFile) -> None:
        self._snapshot = snapshot
        self._budget = Budget(snapshot.size)
        self._about: About | None = None
        self._files = 0

    def frame(self, frame: Frame) -> None:
        """Check the next frame."""
        if self._about is None:
            if frame.kind != ABOUT:
                raise BrokenSnapshot("it does not say what it holds")
            self._about = _read_about(self._snapshot, frame)
        elif frame.kind == FILES:
            self._check_files(frame.json(), self._about)
        elif frame.kind == VECTORS:
            vector_head(frame.data, self._about.encoders)
        else:
            raise BrokenSnapshot("it has a frame of an unknown kind")

    def _check_files(self, files: object, about: About) -> None:
        if type(files) is not list:
            raise BrokenSnapshot("a frame holds no list of files")
        for file in files:
            check_file(file, about.is_corpus, self._budget)
        self._files += len(files)
        if self._files > about.files:
            raise BrokenSnapshot("it holds more files than it says")

    def finish(self) -> About:
        """Return what the snapshot says of itself, when all frames were seen."""
        if self._about is None:
            raise self._snapshot.broken("it does not say what it holds")
        if self._files != self._about.files:
            raise self._snapshot.broken("it holds fewer files than it says")
        return self._about


def _read_about(snapshot: SnapshotFile, frame: Frame) -> About:
    try:
        return check_about(frame.json())
    except IndexVersionError as error:
        raise IndexVersionError(str(error).replace("the snapshot", str(snapshot.path), 1)) from None
