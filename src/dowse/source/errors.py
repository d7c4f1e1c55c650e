"""The one error of this room: a user's mistake about what to index."""

from __future__ import annotations

from dowse.errors import DowseError


class SourceError(DowseError, ValueError):
    """What was named cannot be indexed; the message says what to do instead."""
