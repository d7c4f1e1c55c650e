"""Errors of servers; the interfaces turn them into responses."""

from __future__ import annotations

from dowse.errors import DowseError
from dowse.types import SymbolRow


class NotFound(DowseError):
    """An index, report or row does not exist."""


class Busy(DowseError):
    """The server is overloaded."""

    def __init__(self, message: str, seconds: float = 0.0) -> None:
        super().__init__(message)
        self.seconds = seconds  # until it should be able to answer


class AmbiguousTarget(DowseError):
    """Several symbols, of one index or of several, have the name that a request gives."""

    def __init__(self, message: str, candidates: list[tuple[str, SymbolRow]]) -> None:
        super().__init__(message)
        self.candidates = candidates  # the name of each index, and the symbol in it
