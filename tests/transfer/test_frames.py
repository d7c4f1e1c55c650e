"""The file format of a snapshot: complete, or refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from dowse.transfer.checks import BrokenSnapshot
from dowse.transfer.frames import MAGIC, Frame, FrameWriter, SnapshotFile


def _written(path: Path) -> Path:
    with FrameWriter(path) as out:
        out.put_json(b"abou", {"name": "bakery"})
        out.put(b"file", b"bread " * 5000)
        out.put(b"vecs", bytes(range(256)) * 20)
    return path


def read_frames(path: Path) -> list[Frame]:
    with SnapshotFile(path) as snapshot:
        return list(snapshot.frames())


def test_frames_round_trip(tmp_path: Path) -> None:
    frames = read_frames(_written(tmp_path / "x.snap"))
    assert [frame.kind for frame in frames] == [b"abou", b"file", b"vecs"]
    assert frames[0].json() == {"name": "bakery"}
    assert (frames[1].data, frames[2].data) == (b"bread " * 5000, bytes(range(256)) * 20)


def test_every_truncation_is_detected(tmp_path: Path) -> None:
    whole = _written(tmp_path / "x.snap").read_bytes()
    cut = tmp_path / "cut.snap"
    for length in range(len(whole)):
        cut.write_bytes(whole[:length])
        with pytest.raises(BrokenSnapshot, match="cut short" if length >= len(MAGIC) else "no snapshot"):
            read_frames(cut)


def test_every_changed_byte_is_detected(tmp_path: Path) -> None:
    whole = _written(tmp_path / "x.snap").read_bytes()
    changed = tmp_path / "changed.snap"
    for at in range(len(whole)):
        changed.write_bytes(whole[:at] + bytes([whole[at] ^ 0x20]) + whole[at + 1 :])
        with pytest.raises(BrokenSnapshot):
            read_frames(changed)


def test_trailing_bytes_are_detected(tmp_path: Path) -> None:
    path = _written(tmp_path / "x.snap")
    path.write_bytes(path.read_bytes() + b"\0")
    with pytest.raises(BrokenSnapshot, match="damaged"):
        read_frames(path)


def test_a_removed_frame_is_detected(tmp_path: Path) -> None:
    path, less = _written(tmp_path / "x.snap"), tmp_path / "less.snap"
    whole = path.read_bytes()
    first = len(MAGIC) + 16 + int.from_bytes(whole[len(MAGIC) + 4 : len(MAGIC) + 8], "little")
    less.write_bytes(MAGIC + whole[first:])
    with pytest.raises(BrokenSnapshot, match="damaged"):
        read_frames(less)


def test_a_failed_export_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = _written(tmp_path / "x.snap")
    before = path.read_bytes()
    with pytest.raises(ZeroDivisionError), FrameWriter(path) as out:
        out.put(b"file", b"half")
        raise ZeroDivisionError
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["x.snap"]
