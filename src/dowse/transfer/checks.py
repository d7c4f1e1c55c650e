"""Limits of a snapshot, and checks of single values of it, to build tables of fields from.

The limits are more than any real snapshot needs, and too little to fill the memory or the disk.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeAlias

from dowse.errors import DowseError

# Raises BrokenSnapshot for a value that must not be used.
Check: TypeAlias = Callable[[Any], None]

# Uncompressed bytes of one frame; `dowse export` fills them to some 6 MB.
FRAME_BYTES = 48_000_000
FRAMES = 100_000
# Values in the JSON of one frame: a frame of 6 MB has 300,000.
ELEMENTS = 2_000_000
# Uncompressed references or facts of one file; the largest of a real file is 0.1 MB.
PACKED_BYTES = 16_000_000
PACKED_ELEMENTS = 500_000
# Components of a path; the deepest real trees have some 40.
PATH_PARTS = 200
DIMENSION = 4_096
ENCODERS = 16
VECTORS_IN_FRAME = 65_536
# Everything that a snapshot expands to, against its size: source code compresses to a fifth, generated code
# to a thirtieth, a decompression bomb to a thousandth.
ALLOWANCE_BYTES = 4_000_000
RATIO = 100

_INT64 = 1 << 63
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_DRIVE = re.compile(r"[A-Za-z]:")
_SEPARATORS = re.compile(r"[/\\]")
_PATH_CHARACTERS = 4_096


class BrokenSnapshot(DowseError):
    """A file that is no snapshot, or not a complete one, or one that dowse did not write."""


class Budget:
    """Counts what a snapshot expands to and stops beyond what its size allows."""

    def __init__(self, compressed: int) -> None:
        """Allow what a file of that many bytes may hold."""
        self._left = ALLOWANCE_BYTES + RATIO * compressed

    def spend(self, count: int) -> None:
        """Count bytes before they are decompressed or read."""
        self._left -= count
        if self._left < 0:
            raise BrokenSnapshot(f"it unpacks to more than {RATIO} times its size")


def string(is_valid: Callable[[str], object], problem: str) -> Check:
    """Accept a string that satisfies a condition."""

    def check(value: object) -> None:
        if type(value) is not str or not is_valid(value):
            raise BrokenSnapshot(problem)

    return check


def text(longest: int, shortest: int = 0) -> Check:
    """Accept a string of some length without NUL characters."""
    return string(
        lambda value: shortest <= len(value) <= longest and "\0" not in value, "no text, or too long"
    )


def line(longest: int) -> Check:
    """Accept a string of one line, without control characters."""
    return string(
        lambda value: len(value) <= longest and not _CONTROL.search(value),
        "no single line of text, or too long",
    )


def choice(allowed: Collection[str]) -> Check:
    """Accept one of some values."""
    return string(lambda value: value in allowed, "not one of the known values")


def pattern(expression: str) -> Check:
    """Accept a string that a regular expression matches as a whole."""
    return string(re.compile(expression).fullmatch, "not of the form that dowse writes")


def hexadecimal(digits: int) -> Check:
    """Accept a hash of so many digits."""
    return string(re.compile(rf"[0-9a-f]{{{digits}}}").fullmatch, "no hash")


def integer(smallest: int = -_INT64, largest: int = _INT64 - 1) -> Check:
    """Accept an integer; without bounds one that a database can hold."""

    def check(value: object) -> None:
        if type(value) is not int or not smallest <= value <= largest:
            raise BrokenSnapshot("no integer, or out of range")

    return check


def boolean(value: object) -> None:
    """Accept true or false."""
    if type(value) is not bool:
        raise BrokenSnapshot("neither true nor false")


def integers(longest: int) -> Check:
    """Accept a list of integers that a database can hold."""

    def check(value: object) -> None:
        if type(value) is not list or len(value) > longest:
            raise BrokenSnapshot("no list, or too long")
        if set(map(type, value)) - {int} or (value and not -_INT64 <= min(value) <= max(value) < _INT64):
            raise BrokenSnapshot("numbers out of range")

    return check


def relative_path(value: object) -> None:
    """Accept a path that stays below the folder it is joined to, on every system (no path traversal)."""
    if type(value) is not str or not 1 <= len(value) <= _PATH_CHARACTERS or "\0" in value:
        raise BrokenSnapshot("no path")
    # A backslash is a letter on POSIX: dowse itself writes `\xe9` for bytes that are no text.
    is_windows_form = os.name == "nt" and ("\\" in value or _DRIVE.match(value))
    if value[0] == "/" or value.startswith("\\\\") or is_windows_form:
        raise BrokenSnapshot("a path that is not relative")
    if value.count("/") >= PATH_PARTS:
        raise BrokenSnapshot(f"a path of more than {PATH_PARTS} parts")
    if ".." in value and ".." in _SEPARATORS.split(value):
        raise BrokenSnapshot("a path with `..`")


def check_fields(value: object, table: Mapping[str, Check], what: str) -> dict[str, Any]:
    """Accept an object that has exactly the fields of a table, each as its check demands; return it."""
    if type(value) is not dict or value.keys() != table.keys():
        raise BrokenSnapshot(f"{what} has other fields than dowse writes")
    name = ""
    try:
        for name, check in table.items():
            check(value[name])
    except BrokenSnapshot as error:
        raise BrokenSnapshot(f"{what}, {name}: {error}") from None
    return value
