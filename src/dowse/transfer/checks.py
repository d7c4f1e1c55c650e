"""Checks of single values of a snapshot, to build tables of fields from."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeAlias

from dowse.transfer.errors import BrokenSnapshot
from dowse.transfer.limits import PATH_PARTS

# Raises BrokenSnapshot for a value that must not go on.
Check: TypeAlias = Callable[[Any], None]

_INT64 = 1 << 63
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_HEX = re.compile(r"[0-9a-f]*")
_DRIVE = re.compile(r"[A-Za-z]:")
_SEPARATORS = re.compile(r"[/\\]")
_PATH_CHARACTERS = 4_096


def text(most: int, least: int = 0) -> Check:
    """Accept a string of some length without NUL characters."""

    def check(value: object) -> None:
        if type(value) is not str or not least <= len(value) <= most or "\0" in value:
            raise BrokenSnapshot("no text, or too long")

    return check


def line(most: int, least: int = 0) -> Check:
    """Accept a string of one line, without control characters."""

    def check(value: object) -> None:
        if type(value) is not str or not least <= len(value) <= most or _CONTROL.search(value):
            raise BrokenSnapshot("no single line of text, or too long")

    return check


def choice(allowed: Collection[object]) -> Check:
    """Accept one of some values."""

    def check(value: object) -> None:
        if type(value) is not str or value not in allowed:
            raise BrokenSnapshot("not one of the known values")

    return check


def pattern(expression: str) -> Check:
    """Accept a string that a regular expression matches as a whole."""
    matches = re.compile(expression).fullmatch

    def check(value: object) -> None:
        if type(value) is not str or not matches(value):
            raise BrokenSnapshot("not of the form that dowse writes")

    return check


def hexadecimal(digits: int) -> Check:
    """Accept a hash of so many digits."""

    def check(value: object) -> None:
        if type(value) is not str or len(value) != digits or not _HEX.fullmatch(value):
            raise BrokenSnapshot("no hash")

    return check


def integer(least: int = -_INT64, most: int = _INT64 - 1) -> Check:
    """Accept a whole number; without bounds one that a database can hold."""

    def check(value: object) -> None:
        if type(value) is not int or not least <= value <= most:
            raise BrokenSnapshot("no whole number, or out of range")

    return check


def boolean(value: object) -> None:
    """Accept true or false."""
    if type(value) is not bool:
        raise BrokenSnapshot("neither true nor false")


def integers(most: int) -> Check:
    """Accept a list of numbers that a database can hold."""

    def check(value: object) -> None:
        if type(value) is not list or len(value) > most:
            raise BrokenSnapshot("no list, or too long")
        if set(map(type, value)) - {int} or (value and not -_INT64 <= min(value) <= max(value) < _INT64):
            raise BrokenSnapshot("numbers out of range")

    return check


def relative_path(value: object) -> None:
    """Accept a path that stays below the folder it is joined to, on every system."""
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
    """Accept an object that has exactly the fields of a table, each as the table says; return it."""
    if type(value) is not dict or value.keys() != table.keys():
        raise BrokenSnapshot(f"{what} has other fields than dowse writes")
    name = ""
    try:
        for name, check in table.items():
            check(value[name])
    except BrokenSnapshot as error:
        raise BrokenSnapshot(f"{what}, {name}: {error}") from None
    return value
