"""Calls in the arguments of Rust macros, which the grammar leaves as tokens: `assert_eq!(f(a), b.c())`."""

from __future__ import annotations

import re
from collections.abc import Iterator

_TOKEN = re.compile(
    rb"""(?P<skip>\s+|//[^\n]*|/\*.*?\*/|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\[^']*)'|'\w+)"""
    rb"""|(?P<name>[A-Za-z_]\w*)|(?P<path>::|\.(?!\.)|\?|\d[\w.]*)"""
    rb"""|(?P<open>[(\[{])|(?P<close>[)\]}])|(?P<other>.)""",
    re.DOTALL,
)
_TURBOFISH = re.compile(rb"\s*::\s*<(?:[^<>;{}]|<(?:[^<>;{}]|<[^<>;{}]*>)*>)*>")
_CALL = re.compile(rb"\s*(!?)\s*([(\[{])")
_KEYWORDS = frozenset(
    b"as async await break const continue dyn else enum extern fn for if impl in let loop match mod move mut"
    b" pub ref return static struct trait type union unsafe use where while yield".split()
)


def calls_in_tokens(data: bytes, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the callees in the tokens of a macro: (start of the expression, end of the name)."""
    starts = [start + 1]  # of the expression at each depth of brackets
    at, before = start + 1, b""
    while at < end:
        match = _TOKEN.match(data, at, end)
        if match is None:
            return
        kind, first, at = match.lastgroup, at, match.end()
        if kind == "open":
            starts.append(at)
        elif kind == "close":
            if len(starts) > 1:
                starts.pop()
        elif kind == "other":
            starts[-1] = at
        elif kind == "name":
            if match[0] in _KEYWORDS:
                before, starts[-1] = match[0], at
                continue
            turbofish = _TURBOFISH.match(data, at, end)
            call = _CALL.match(data, turbofish.end() if turbofish else at, end)
            if call and before not in (b"fn", b"struct", b"enum") and (call[1] or call[2] == b"("):
                yield (first if call[1] else starts[-1]), at
            if turbofish:
                at = turbofish.end()
        if kind != "skip":
            before = b""
