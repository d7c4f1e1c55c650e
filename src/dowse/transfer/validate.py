"""Validate a snapshot from end to end before the first byte of it is written anywhere."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dowse.errors import IndexVersionError
from dowse.security.limited_json import parse_json_limited
from dowse.storage.local.catalog import FORMAT_VERSION
from dowse.transfer.check_records import check_file
from dowse.transfer.checks import (
    DIMENSION,
    ENCODERS,
    PACKED_ELEMENTS,
    BrokenSnapshot,
    Budget,
    Check,
    check_fields,
    choice,
    integer,
    line,
    pattern,
    text,
)
from dowse.transfer.frames import FILES, FORMAT, HEADER, VECTORS, Frame, SnapshotFile, check_vector_frame

_NAME_CHARACTERS = 1_000
_TEXT_CHARACTERS = 100_000
_PATH_CHARACTERS = 4_096
_JSON_BYTES = 16_000_000
_VERSION = integer(0, 1_000_000)
_FLAG = choice(("0", "1"))
# The form of `Encoder.id`: it becomes the name of a folder.
_ENCODER = pattern(r"[a-z0-9](?:[a-z0-9.-]{0,126}[a-z0-9])?")


def _check_left_out(value: object) -> None:
    """Accept the files that were opened and not indexed, as `indexing.diff` reads them."""
    text(_JSON_BYTES)(value)
    try:
        data = str(value).encode()
        left_out = parse_json_limited(data, max_memory=_JSON_BYTES, max_elements=PACKED_ELEMENTS)
        if type(left_out) is not dict:
            raise ValueError("no object")
        for path, (size, time, reason) in left_out.items():
            text(_PATH_CHARACTERS)(path)
            integer()(size)
            integer()(time)
            text(_TEXT_CHARACTERS)(reason)
    except (ValueError, TypeError):
        raise BrokenSnapshot("not of the form that dowse writes") from None


# The metadata that is imported.
_META: dict[str, Check] = {
    "root": text(_PATH_CHARACTERS),
    "repo": line(_NAME_CHARACTERS),
    "commit": pattern(r"[0-9a-f]{0,64}"),
    "indexed_at": pattern(r"[0-9]{1,15}"),
    "complete": _FLAG,
    "corpus": _FLAG,
    "strip_docs": _FLAG,
    "exclude": text(_TEXT_CHARACTERS),
    "left_out": _check_left_out,
    "dowse": line(100),
}


@dataclass(frozen=True, slots=True)
class Header:
    """The header of a snapshot, its first frame: source, metadata, counts and encoders."""

    source: str
    meta: Mapping[str, str]
    skipped: list[tuple[str, str]]
    files: int
    encoders: Mapping[str, int]  # dimension by encoder

    @property
    def is_corpus(self) -> bool:
        """Whether it holds functions of a corpus rather than the files of a tree."""
        return self.meta.get("corpus") == "1"


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
        return _check_header(frame.json())
    except IndexVersionError as error:
        raise IndexVersionError(str(error).replace("the snapshot", str(snapshot.path), 1)) from None


def _check_header(value: object) -> Header:
    """Return the checked header; raises for a format that this dowse can't read, and for wrong values."""
    _check_version(value)
    fields = check_fields(value, _HEADER, "its description")
    skipped = [(path, reason) for path, reason in fields["skipped"]]
    meta = {key: value for key, value in fields["meta"].items() if key in _META}
    return Header(fields["slot"], meta, skipped, fields["files"], fields["encoders"])


def _check_version(value: object) -> None:
    """Raise if another version wrote the snapshot; first, because its fields may be others."""
    if type(value) is not dict:
        raise BrokenSnapshot("its description is no object")
    for name, check in (("format", _VERSION), ("records", _VERSION), ("dowse", line(100))):
        if name not in value:
            raise BrokenSnapshot(f"its description has no {name}")
        check(value[name])
    if (value["format"], value["records"]) != (FORMAT, FORMAT_VERSION):
        raise IndexVersionError(
            f"the snapshot has format {value['format']}.{value['records']} of dowse {value['dowse']}, this "
            f"dowse reads {FORMAT}.{FORMAT_VERSION}; export it again with this one, or run `dowse index`"
        )


def _check_meta(value: object) -> None:
    if type(value) is not dict or len(value) > 100:
        raise BrokenSnapshot("no object, or too large")
    for key, check in _META.items():
        if key in value:
            check(value[key])


def _check_skipped(value: object) -> None:
    path, reason = text(_PATH_CHARACTERS), text(_TEXT_CHARACTERS)
    if type(value) is not list:
        raise BrokenSnapshot("no list")
    for each in value:
        if type(each) is not list or len(each) != 2:
            raise BrokenSnapshot("no pair of path and reason")
        path(each[0])
        reason(each[1])


def _check_encoders(value: object) -> None:
    dimension = integer(1, DIMENSION)
    if type(value) is not dict or len(value) > ENCODERS:
        raise BrokenSnapshot("no object, or too large")
    for name, size in value.items():
        _ENCODER(name)
        dimension(size)


_HEADER: dict[str, Any] = {
    "format": _VERSION,
    "records": _VERSION,
    "dowse": line(100),
    "slot": line(_NAME_CHARACTERS),
    "meta": _check_meta,
    "skipped": _check_skipped,
    "files": integer(0, 1 << 40),
    "encoders": _check_encoders,
}
