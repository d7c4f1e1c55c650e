"""The error that an invalid query raises."""

from __future__ import annotations


class QueryError(ValueError):
    """An invalid query or pattern; the message is one line and names the remedy."""

    def __init__(self, message: str, position: int = 0) -> None:
        super().__init__(message)
        self.position = position  # 0-based character offset into the query or pattern

    def shifted(self, offset: int) -> QueryError:
        """Return the same error for a text that contains this one at `offset`."""
        return QueryError(str(self), self.position + offset)
