"""JSON with comments and trailing commas: its data, and the position of each member of an object."""

from __future__ import annotations

import json
import re
from functools import cached_property
from typing import NoReturn

from dowse.install.editing import EditError
from dowse.lazy_classes import dataclass

_STRING = r'"(?:[^"\\\n]|\\.)*"?'
_COMMENTS = re.compile(rf"{_STRING}|//[^\n]*|/\*[\s\S]*?\*/|/\*")
_TRAILING_COMMAS = re.compile(rf"{_STRING}|(?<=[^\[{{,\s])\s*,(?=\s*[\]}}])")
_BLANKS = re.compile(r"[ \t\r\n]*")
_COMMA = re.compile(r"[ \t\r\n]*,")


@dataclass(frozen=True)
class Node:
    """A value and its span."""

    source: Source
    value: object
    start: int
    end: int

    @property
    def is_object(self) -> bool:
        """Whether it is an object, which can have members."""
        return isinstance(self.value, dict)

    @cached_property
    def members(self) -> list[Member]:
        """The members of an object, in their order."""
        members: list[Member] = []
        if not self.is_object:
            return members
        source, position = self.source, self.source.skip(self.start + 1)
        while source.strict[position] != "}":
            key = source.decode(position)
            node = source.decode(source.skip(source.skip(key.end) + 1))
            comma = source.comma_end(node.end)
            members.append(Member(str(key.value), key.start, node, comma))
            position = source.skip(max(node.end, comma))
        return members


@dataclass(frozen=True, slots=True)
class Member:
    """A key and its value in an object."""

    key: str
    start: int  # of the key
    node: Node
    comma: int  # position behind its comma, -1 if there is none


class Source:
    """A text as strict JSON: comments and trailing commas are blanks, so that positions stay."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.with_commas = _COMMENTS.sub(self._blank_comment, text)
        self.strict = _TRAILING_COMMAS.sub(
            lambda match: match[0] if match[0].startswith('"') else " " * len(match[0]), self.with_commas
        )

    def skip(self, position: int) -> int:
        """Return the position behind blanks."""
        match = _BLANKS.match(self.strict, position)
        return match.end() if match else position

    def comma_end(self, position: int) -> int:
        """Return the position behind the comma that follows, also a trailing one; -1 if there is none."""
        match = _COMMA.match(self.with_commas, position)
        return match.end() if match else -1

    def decode(self, position: int) -> Node:
        """Return the value at a position."""
        try:
            value, end = json.JSONDecoder(parse_constant=self._refuse_constant).raw_decode(
                self.strict, position
            )
        except json.JSONDecodeError as error:
            raise EditError(f"this is not JSON: {error.msg}", self.text, error.pos) from None
        except RecursionError:
            raise EditError("this is nested too deeply", self.text, position) from None
        return Node(self, value, position, end)

    def _blank_comment(self, match: re.Match[str]) -> str:
        if match[0] == "/*":
            raise EditError("this comment is never closed", self.text, match.start())
        return match[0] if match[0].startswith('"') else re.sub(r"[^\r\n]", " ", match[0])

    def _refuse_constant(self, name: str) -> NoReturn:
        raise EditError(f"this is not JSON: {name} is no value", self.text, self.text.find(name))


def parse(text: str) -> Node | None:
    """Return the document, or None if there is nothing but blanks and comments."""
    source = Source(text)
    start = source.skip(1 if text.startswith("\ufeff") else 0)
    if start == len(text):
        return None
    node = source.decode(start)
    end = source.skip(node.end)
    if end < len(text):
        raise EditError("this is not JSON: there is text behind the end of the document", text, end)
    return node
