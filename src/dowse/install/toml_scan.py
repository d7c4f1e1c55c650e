"""Where the statements of a TOML text stand; what they say is left to the standard library's parser."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass

from dowse.install.errors import Damaged

_STRINGS = re.compile(
    r'"""(?:[^\\]|\\.)*?"""(?:"{0,2})' r"|'''.*?'''(?:'{0,2})" r'|"(?:[^"\\\n]|\\.)*"' r"|'[^'\n]*'",
    re.DOTALL,
)
_PLACE = re.compile(r"\s*\(at (?:line (\d+), column (\d+)|end of document)\)$")
_OPENING, _CLOSING = "[{", "]}"


@dataclass(frozen=True, slots=True)
class Statement:
    """A header or a key with its value."""

    table: tuple[str, ...]  # that it opens, or that it stands in
    keys: tuple[str, ...]  # below the table; () for a header
    start: int
    end: int  # of its line, with the break
    value: tuple[int, int] = (0, 0)  # where the value stands

    @property
    def path(self) -> tuple[str, ...]:
        """All keys from the top of the document."""
        return self.table + self.keys


def load(text: str) -> dict[str, object]:
    """Return what a text says, or tell where it is damaged."""
    plain = text.removeprefix("\ufeff")
    try:
        return tomllib.loads(plain)
    except tomllib.TOMLDecodeError as error:
        said = str(error)
        place = _PLACE.search(said)
        problem = _PLACE.sub("", said)
        offset = len(text)
        if place and place[1]:
            lines = text.split("\n")
            offset = sum(len(line) + 1 for line in lines[: int(place[1]) - 1]) + int(place[2]) - 1
        raise Damaged(f"this is not TOML: {problem}", text, offset) from None


def statements(text: str) -> Iterator[Statement]:
    """Give the statements of a valid text, in order."""
    at = 1 if text.startswith("\ufeff") else 0
    table: tuple[str, ...] = ()
    while (at := _skip(text, at)) < len(text):
        if text[at] == "[":
            stop = _until(text, at, "\n#")
            table = _keys(text[at:stop].strip())
            end = _line_end(text, stop)
            yield Statement(table, (), at, end)
        else:
            equals = _until(text, at, "=")
            keys = _keys(text[at:equals].strip() + "=0")
            begin = equals + 1 + len(text[equals + 1 :]) - len(text[equals + 1 :].lstrip(" \t"))
            stop = _until(text, begin, "\n#")
            end = _line_end(text, stop)
            yield Statement(table, keys, at, end, (begin, begin + len(text[begin:stop].rstrip())))
        at = end


def _skip(text: str, at: int) -> int:
    """Pass blanks, breaks and comments."""
    while at < len(text):
        if text[at] == "#":
            at = _line_end(text, at)
        elif text[at].isspace():
            at += 1
        else:
            break
    return at


def _until(text: str, at: int, marks: str) -> int:
    """Return where one of some marks stands that is in no string, list or inline table."""
    depth = 0
    while at < len(text):
        if text[at] in "\"'":
            found = _STRINGS.match(text, at)
            at = found.end() if found else at + 1
            continue
        if depth and text[at] == "#":
            at = _line_end(text, at)
            continue
        if not depth and text[at] in marks:
            return at
        depth += (text[at] in _OPENING) - (text[at] in _CLOSING)
        at += 1
    return at


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end + 1


def _keys(statement: str) -> tuple[str, ...]:
    """Return the keys that a header or `key=0` names, read by the real parser."""
    keys: list[str] = []
    value: object = tomllib.loads(statement)
    while value:
        if isinstance(value, list):
            value = value[0]
            continue
        if not isinstance(value, dict):
            break
        key, value = next(iter(value.items()))
        keys.append(key)
    return tuple(keys)
