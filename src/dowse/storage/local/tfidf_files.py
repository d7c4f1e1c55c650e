"""The TF-IDF index's folder: segments as files to be mapped, and which of them count.

    state.json      the segments that count, and the generation whose symbols they are known to cover
    000007.seg      the arrays of one segment (storage/local/tfidf_segment.py), one behind the other
    writer.lock     held while somebody adds to them

A segment is whole on disk before the state names it, so what a killed writer leaves is never believed; the
next one removes it. A segment that can't be read is as good as none: its texts are counted again.
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
    from dowse.storage.local.tfidf_segment import Segment

# Raised whenever the files, or which terms a text has, change.
FORMAT_VERSION = 1
_NAME = re.compile(r"[0-9]{6,}\.seg")
_KEY_BYTES, _TERM_BYTES, _START_BYTES = 16, 8, 4
_WIDTHS = frozenset([1, 2, 4, 8])
# Segments that are replaced while they are opened are looked for again, in the state of then.
_ATTEMPTS = 5


@dataclass(frozen=True, slots=True)
class SegmentFacts:
    """What is known of a segment without reading it."""

    number: int
    keys: int
    terms: int
    postings: int
    text_bytes: int  # that a posting takes
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
    """The segments that count."""

    segments: tuple[SegmentFacts, ...] = ()
    covers: str = ""  # the generation whose symbols are all there, as `LocalReader` names it; "" for none


def read_state(folder: Path) -> State:
    """Return what counts in a folder; nothing if that can't be read, or is of another format."""
    try:
        stored = json.loads((folder / STATE).read_bytes())
        if stored["format"] != FORMAT_VERSION:
            return State()
        segments = tuple(SegmentFacts(**each) for each in stored["segments"])
        numbers = [number for facts in segments for number in asdict(facts).values()]
        widths = {width for facts in segments for width in (facts.text_bytes, facts.count_bytes)}
        if all(isinstance(number, int) and number >= 0 for number in numbers) and widths <= _WIDTHS:
            return State(segments, str(stored["covers"]))
    except (OSError, ValueError, TypeError, KeyError):
        pass
    return State()


def write_state(folder: Path, state: State) -> None:
    """Make some segments those that count."""
    segments = [asdict(facts) for facts in state.segments]
    stored = {"format": FORMAT_VERSION, "segments": segments, "covers": state.covers}
    write_atomically(folder / STATE, json.dumps(stored).encode() + b"\n")


def is_there(folder: Path, facts: SegmentFacts) -> bool:
    """Whether the file of a segment is there and as long as it should be."""
    try:
        return _path(folder, facts.number).stat().st_size == sum(facts.sizes)
    except OSError:
        return False


def write_segment(folder: Path, segment: Segment) -> SegmentFacts:
    """Write a segment under a number that no other has; it does not count before the state names it."""
    used = [int(entry.name.partition(".")[0]) for entry in folder.iterdir() if _NAME.fullmatch(entry.name)]
    number = max(used, default=0) + 1
    arrays = (
        *(segment.keys, segment.terms.astype("<u8", copy=False), segment.starts),
        *(segment.texts, segment.counts),
    )
    # Beside its place first: under an old name a new file is another one, whoever has that mapped.
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
        temporary.unlink(missing_ok=True)  # where a disk is full, half a segment is the last thing it needs
        raise
    temporary.replace(_path(folder, number))
    return SegmentFacts(
        *(number, len(segment.keys), len(segment.terms), len(segment.texts)),
        *(segment.texts.itemsize, segment.counts.itemsize, checksum),
    )


def open_segments(folder: Path) -> tuple[State, list[tuple[SegmentFacts, Segment]]]:
    """Map the segments that count; those that can't be read are left out."""
    for _ in range(_ATTEMPTS):
        state = read_state(folder)
        found = [(facts, segment) for facts in state.segments if (segment := _open(folder, facts))]
        if len(found) == len(state.segments) or read_state(folder) == state:
            break
    return state, found


def _open(folder: Path, facts: SegmentFacts) -> Segment | None:
    import numpy as np

    from dowse.storage.local.tfidf_segment import Segment

    if not is_there(folder, facts):
        return None
    try:
        # A plain array over the mapping: the subclass `memmap` makes every slice of it slower.
        data = np.asarray(np.memmap(_path(folder, facts.number), np.uint8, "r"))
    except (OSError, ValueError):
        return None
    if len(data) != sum(facts.sizes):
        return None
    parts = np.split(data, np.cumsum(facts.sizes)[:-1])
    types = ("<u8", "<u4", f"<u{facts.text_bytes}", f"<u{facts.count_bytes}")
    keys = parts[0].reshape(-1, _KEY_BYTES)
    return Segment(keys, *(part.view(kind) for part, kind in zip(parts[1:], types, strict=True)))


def remove_leftovers(folder: Path, state: State) -> None:
    """Remove segments that do not count, and halves of killed writers."""
    kept = {_path(folder, facts.number).name for facts in state.segments}
    for entry in sorted(folder.iterdir()):
        if (_NAME.fullmatch(entry.name) and entry.name not in kept) or entry.name.endswith(TEMPORARY):
            with contextlib.suppress(OSError):  # Windows keeps files that somebody has mapped
                entry.unlink()


def problems(folder: Path, segments: Sequence[SegmentFacts]) -> Iterable[str]:
    """Say what is wrong with segments; reads all of them."""
    for facts in segments:
        path = _path(folder, facts.number)
        try:
            checksum = zlib.crc32(path.read_bytes())
        except OSError as error:
            yield f"{path} can't be read ({error.strerror})"
            continue
        if checksum != facts.checksum:
            yield f"{path} is not what was written"


def _path(folder: Path, number: int) -> Path:
    return folder / f"{number:06d}.seg"
