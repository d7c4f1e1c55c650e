"""The folder of TF-IDF counts: segments as memory-mapped files, and a state that names the valid ones.

    state.json      the valid segments, and the generation whose symbols they are known to cover
    000007.seg      the arrays of one segment (segment.py), one after another
    writer.lock     held by the process that adds segments

A segment is complete on disk before the state names it, so what a killed writer leaves is never read; the
next writer removes it. The texts of a segment that can't be read are counted again.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dowse.security.safe_files import write_atomically
from dowse.vectors.files import STATE, TEMPORARY

if TYPE_CHECKING:
    from dowse.research.tfidf.segment import Segment

# Raised whenever the files, or which terms a text has, change.
FORMAT_VERSION = 1
_NAME = re.compile(r"[0-9]{6,}\.seg")
_KEY_BYTES, _TERM_BYTES, _START_BYTES = 16, 8, 4
_WIDTHS = frozenset([1, 2, 4, 8])
# Segments may be replaced while they are opened; then the new state is read.
_ATTEMPTS = 5


@dataclass(frozen=True, slots=True)
class SegmentInfo:
    """Sizes and checksum of a segment: what is known without reading it."""

    number: int
    keys: int
    terms: int
    postings: int
    text_bytes: int  # of one posting
    count_bytes: int
    checksum: int

    @property
    def sizes(self) -> tuple[int, ...]:
        """The bytes of its arrays, in the order of the file."""
        return (
            self.keys * _KEY_BYTES,
            self.terms * _TERM_BYTES,
            (self.terms + 1) * _START_BYTES,
            self.postings * self.text_bytes,
            self.postings * self.count_bytes,
        )


@dataclass(frozen=True, slots=True)
class State:
    """The valid segments."""

    segments: tuple[SegmentInfo, ...] = ()
    covers: str = ""  # the generation whose symbols are all there, "" for none


def read_state(folder: Path) -> State:
    """Return the state of a folder; an empty one if it can't be read, or has another format."""
    try:
        stored = json.loads((folder / STATE).read_bytes())
        if stored["format"] != FORMAT_VERSION:
            return State()
        segments = tuple(SegmentInfo(**each) for each in stored["segments"])
        numbers = [number for info in segments for number in asdict(info).values()]
        widths = {width for info in segments for width in (info.text_bytes, info.count_bytes)}
        if all(isinstance(number, int) and number >= 0 for number in numbers) and widths <= _WIDTHS:
            return State(segments, str(stored["covers"]))
    except (OSError, ValueError, TypeError, KeyError):
        pass
    return State()


def write_state(folder: Path, state: State) -> None:
    """Make these the valid segments, in one atomic step."""
    segments = [asdict(info) for info in state.segments]
    stored = {"format": FORMAT_VERSION, "segments": segments, "covers": state.covers}
    write_atomically(folder / STATE, json.dumps(stored).encode() + b"\n")


def has_segment(folder: Path, info: SegmentInfo) -> bool:
    """Whether the file of a segment is there and as long as it should be."""
    try:
        return _path(folder, info.number).stat().st_size == sum(info.sizes)
    except OSError:
        return False


def write_segment(folder: Path, segment: Segment) -> SegmentInfo:
    """Write a segment under a number that no other has; it is not valid before the state names it."""
    used = [int(entry.name.partition(".")[0]) for entry in folder.iterdir() if _NAME.fullmatch(entry.name)]
    number = max(used, default=0) + 1
    arrays = (
        *(segment.keys, segment.terms.astype("<u8", copy=False), segment.starts),
        *(segment.texts, segment.counts),
    )
    # Under a temporary name first: a reader may have a file of the final name memory-mapped.
    temporary = _path(folder, number).with_suffix(TEMPORARY)
    checksum = 0
    try:
        with open(temporary, "wb") as file:
            for each in arrays:
                data = each.tobytes()
                checksum = zlib.crc32(data, checksum)
                file.write(data)
            file.flush()
            os.fsync(file.fileno())
    except OSError:
        temporary.unlink(missing_ok=True)  # half a segment must not fill up a full disk
        raise
    temporary.replace(_path(folder, number))
    return SegmentInfo(
        *(number, len(segment.keys), len(segment.terms), len(segment.texts)),
        *(segment.texts.itemsize, segment.counts.itemsize, checksum),
    )


def open_segments(folder: Path) -> tuple[State, list[tuple[SegmentInfo, Segment]]]:
    """Memory-map the valid segments; those that can't be read are left out."""
    for _ in range(_ATTEMPTS):
        state = read_state(folder)
        found = [(info, segment) for info in state.segments if (segment := _open(folder, info))]
        if len(found) == len(state.segments) or read_state(folder) == state:
            break
    return state, found


def _open(folder: Path, info: SegmentInfo) -> Segment | None:
    import numpy as np

    from dowse.research.tfidf.segment import Segment

    if not has_segment(folder, info):
        return None
    try:
        # A plain array over the mapping: the subclass `memmap` makes every slice of it slower.
        data = np.asarray(np.memmap(_path(folder, info.number), np.uint8, "r"))
    except (OSError, ValueError):
        return None
    if len(data) != sum(info.sizes):
        return None
    parts = np.split(data, np.cumsum(info.sizes)[:-1])
    types = ("<u8", "<u4", f"<u{info.text_bytes}", f"<u{info.count_bytes}")
    keys = parts[0].reshape(-1, _KEY_BYTES)
    return Segment(keys, *(part.view(kind) for part, kind in zip(parts[1:], types, strict=True)))


def remove_leftovers(folder: Path, state: State) -> None:
    """Remove segments that are not valid, and temporary files of killed writers."""
    kept = {_path(folder, info.number).name for info in state.segments}
    for entry in sorted(folder.iterdir()):
        if (_NAME.fullmatch(entry.name) and entry.name not in kept) or entry.name.endswith(TEMPORARY):
            with contextlib.suppress(OSError):  # Windows can't remove files that are memory-mapped
                entry.unlink()


def segment_problems(folder: Path, segments: Sequence[SegmentInfo]) -> Iterable[str]:
    """Yield what is wrong with segments; reads all of them."""
    for info in segments:
        path = _path(folder, info.number)
        try:
            checksum = zlib.crc32(path.read_bytes())
        except OSError as error:
            yield f"{path} can't be read ({error.strerror})"
            continue
        if checksum != info.checksum:
            yield f"{path} is not what was written"


def _path(folder: Path, number: int) -> Path:
    return folder / f"{number:06d}.seg"
