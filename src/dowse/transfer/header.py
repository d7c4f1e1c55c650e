"""The header of a snapshot, its first frame: source, metadata, counts and encoders."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dowse.errors import IndexVersionError
from dowse.security.limited_json import parse_json_limited
from dowse.storage.local.catalog import FORMAT_VERSION
from dowse.transfer.checks import Check, check_fields, choice, integer, line, pattern, text
from dowse.transfer.frames import FORMAT
from dowse.transfer.limits import DIMENSION, ENCODERS, PACKED_ELEMENTS, BrokenSnapshot

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
        found = parse_json_limited(data, max_memory=_JSON_BYTES, max_elements=PACKED_ELEMENTS)
        if type(found) is not dict:
            raise ValueError("no object")
        for path, (size, time, reason) in found.items():
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
    """The header of a snapshot."""

    source: str
    meta: Mapping[str, str]
    skipped: list[tuple[str, str]]
    files: int
    encoders: Mapping[str, int]  # dimension by encoder

    @property
    def is_corpus(self) -> bool:
        """Whether it holds functions of a corpus rather than the files of a tree."""
        return self.meta.get("corpus") == "1"


def check_header(value: object) -> Header:
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
