"""RE2 (Cox 2010), imported late, with the options that every pattern shares."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

from dowse.errors import QueryError

# Memory of a program and its automata, which a cache may keep; beyond it RE2 falls back to its slower NFA.
MAX_MEMORY = 2 << 20
# The same in a process of its own (`match_worker`); RE2 refuses a program that needs more.
MAX_MEMORY_APART = 16 << 20


class Match(Protocol):
    """The part of a match that is used here."""

    def span(self) -> tuple[int, int]:
        """Return start and end, in bytes."""


class Regex(Protocol):
    """The part of a compiled pattern that is used here."""

    def search(self, text: bytes, pos: int | None = None, endpos: int | None = None) -> Match | None:
        """Find the first match."""

    def fullmatch(self, text: bytes) -> Match | None:
        """Match all of the text."""

    def finditer(self, text: bytes, pos: int | None = None, endpos: int | None = None) -> Iterator[Match]:
        """Find all matches from left to right."""


def compile_re2(pattern: str, *, newlines: bool = False, max_memory: int = MAX_MEMORY) -> Regex:
    """Compile for UTF-8 bytes; unless `newlines`, no part of the pattern can match a line feed."""
    import re2

    options: Any = re2.Options()
    options.never_nl = not newlines
    options.log_errors = False
    options.never_capture = True
    options.max_mem = max_memory
    try:
        compiled: Regex = re2.compile(pattern.encode(), options)
    except re2.error as problem:
        raise QueryError(
            f"the regex is too large to run in linear time ({_reason(problem)}); shorten it"
        ) from None
    re2.purge()  # its own cache keeps 128 programs
    return compiled


def is_valid(pattern: str) -> bool:
    """Whether RE2 accepts the pattern."""
    try:
        compile_re2(pattern)
    except QueryError:
        return False
    return True


def _reason(problem: Exception) -> str:
    """Return RE2's own words on one line."""
    words = problem.args[0] if problem.args else problem
    return words.decode(errors="replace") if isinstance(words, bytes) else str(words)
