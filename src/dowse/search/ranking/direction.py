"""The direction of a conversion: "convert int to string" asks for `int_to_string`, not `string_to_int`."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from dowse.parsing.tokenizer import split_identifier

_ARTICLE = r"(?:(?:an?|the)\s+)?"
_TO = re.compile(rf"\b(\w+)\s+(?:in)?to\s+{_ARTICLE}(\w+)", re.IGNORECASE)
_FROM = re.compile(rf"\b(\w+)\s+from\s+{_ARTICLE}(\w+)", re.IGNORECASE)
_FORWARD, _BACKWARD = frozenset(["to", "2", "into", "as"]), frozenset(["from"])
# The shortest word that counts as an abbreviation of a longer one: `int`, `str`.
_MIN_PREFIX = 3


class Direction(NamedTuple):
    """What is converted, and to what."""

    source: str
    target: str


@lru_cache(maxsize=128)
def asked_direction(query: str) -> Direction | None:
    """Return the direction that a query asks for: "A to B" or "B from A"; of "how to" and it, the last."""
    pairs = _TO.findall(query.lower())
    if pairs:
        return Direction(*pairs[-1])
    match = _FROM.search(query)
    return Direction(match[2].lower(), match[1].lower()) if match else None


def agreement(name: str, asked: Direction) -> int:
    """Return 1 if a name says the direction that is asked for, -1 for the opposite one, 0 for none."""
    found = _named_direction(name)
    if found is None:
        return 0
    if _same(found.source, asked.source) and _same(found.target, asked.target):
        return 1
    return -1 if _same(found.source, asked.target) and _same(found.target, asked.source) else 0


@lru_cache(maxsize=100_000)
def _named_direction(name: str) -> Direction | None:
    """Return the direction that a name says: `int_to_str`, `int2str`, `strFromInt`."""
    words = [word.lower() for word in split_identifier(re.sub(r"(?<=[a-z])2(?=[A-Za-z])", "_to_", name))]
    for before, word, after in zip(words, words[1:], words[2:], strict=False):
        if word in _FORWARD:
            return Direction(before, after)
        if word in _BACKWARD:
            return Direction(after, before)
    return None


def _same(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    return one == other or (len(short) >= _MIN_PREFIX and long.startswith(short))
