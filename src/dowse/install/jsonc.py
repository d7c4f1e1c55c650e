"""A parser of JSON with comments and trailing commas that keeps the position of each value."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from dowse.install.errors import EditError

# Deeper than any configuration, and far from what recursion can take.
_MAX_DEPTH = 100
_BLANK = re.compile(r"[ \t\r\n]*")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_WORD = re.compile(r"\w+")
_WORDS = {"true": True, "false": False, "null": None}


@dataclass(frozen=True, slots=True)
class Node:
    """A value and its span."""

    value: object
    start: int
    end: int
    members: tuple[Member, ...] = ()  # of an object

    @property
    def is_object(self) -> bool:
        """Whether it is an object, which can have members."""
        return isinstance(self.value, dict)


@dataclass(frozen=True, slots=True)
class Member:
    """A key and its value in an object."""

    key: str
    start: int  # of the key
    node: Node
    comma: int  # position behind its comma, -1 if there is none


def parse(text: str) -> Node | None:
    """Return the document, or None if there is nothing but blanks and comments."""
    parser = _Parser(text)
    at = parser.skip(1 if text.startswith("\ufeff") else 0)
    if at == len(text):
        return None
    node = parser.value(at, 0)
    at = parser.skip(node.end)
    if at < len(text):
        raise EditError("there is text behind the end of the document", text, at)
    return node


class _Parser:
    """A recursive-descent parser of one text; each method takes a position."""

    def __init__(self, text: str) -> None:
        self.text = text

    def skip(self, at: int) -> int:
        """Return the position behind blanks and comments."""
        text = self.text
        while True:
            at = _end(_BLANK, text, at)
            if text.startswith("//", at):
                end = text.find("\n", at)
                at = len(text) if end < 0 else end
            elif text.startswith("/*", at):
                end = text.find("*/", at + 2)
                if end < 0:
                    raise EditError("this comment is never closed", text, at)
                at = end + 2
            else:
                return at

    def value(self, at: int, depth: int) -> Node:
        """Parse any value."""
        if depth > _MAX_DEPTH:
            raise EditError(f"nested more than {_MAX_DEPTH} deep", self.text, at)
        first = self.text[at : at + 1]
        if first == "{":
            return self._object(at, depth)
        if first == "[":
            return self._array(at, depth)
        if first == '"':
            return self._string(at)
        if number := _NUMBER.match(self.text, at):
            return Node(json.loads(number[0]), at, number.end())
        word = _WORD.match(self.text, at)
        if word and word[0] in _WORDS:
            return Node(_WORDS[word[0]], at, word.end())
        raise EditError("a value is expected here", self.text, at)

    def _string(self, at: int) -> Node:
        found = _STRING.match(self.text, at)
        if not found:
            raise EditError("this string does not end on its line", self.text, at)
        try:
            return Node(json.loads(found[0]), at, found.end())
        except ValueError:
            raise EditError("this string has an escape that JSON does not know", self.text, at) from None

    def _array(self, at: int, depth: int) -> Node:
        start, items = at, []
        at = self.skip(at + 1)
        while self.text[at : at + 1] != "]":
            item = self.value(at, depth + 1)
            items.append(item.value)
            at, _ = self._separator(item.end, "]")
        return Node(items, start, at + 1)

    def _object(self, at: int, depth: int) -> Node:
        start, members = at, []
        at = self.skip(at + 1)
        while self.text[at : at + 1] != "}":
            if self.text[at : at + 1] != '"':
                raise EditError('a key in quotes, or "}", is expected here', self.text, at)
            key = self._string(at)
            colon = self.skip(key.end)
            if self.text[colon : colon + 1] != ":":
                raise EditError('":" is expected here', self.text, colon)
            node = self.value(self.skip(colon + 1), depth + 1)
            at, comma = self._separator(node.end, "}")
            members.append(Member(str(key.value), key.start, node, comma))
        value = {member.key: member.node.value for member in members}
        return Node(value, start, at + 1, tuple(members))

    def _separator(self, at: int, end: str) -> tuple[int, int]:
        """Skip a comma, also before the end; return the next position, and that behind the comma."""
        at = self.skip(at)
        if self.text[at : at + 1] == ",":
            return self.skip(at + 1), at + 1
        if self.text[at : at + 1] != end:
            raise EditError(f'"," or "{end}" is expected here', self.text, at)
        return at, -1


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at
