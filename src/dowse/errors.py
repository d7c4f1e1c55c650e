"""Errors that the user can fix: each message names the remedy."""

from __future__ import annotations


class DowseError(Exception):
    """A problem with a clear one-line message; the command prints it and exits with 2."""

    # Whether the message has several lines, in which names are escaped already (dowse.security.terminal).
    is_list = False


class MissingExtra(DowseError):
    """A feature whose packages are not installed by default."""

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(f'{feature} is an extra: pip install "dowse[{extra}]"')


class UsageError(DowseError):
    """Arguments of a command that make no sense; the command shows its usage beside."""


class IndexMissing(DowseError):
    """There is no index at this location."""


class IndexDamaged(DowseError):
    """The index on disk is corrupt."""


class IndexUnavailable(DowseError):
    """The index is intact, but can't be read or written now: a full disk, missing permissions."""


class IndexVersionError(DowseError):
    """The index was written by a version of dowse with another format."""


class IndexOutdated(IndexVersionError):
    """The index was written by an older version of dowse; the next update rebuilds it."""


class IndexLocked(IndexUnavailable):
    """Another process is writing to the index."""


class NoHistory(DowseError):
    """There are no commits to read: no git repository, an empty or shallow one."""


class HistoryUnread(DowseError):
    """More commits are new than the caller wants to wait for."""


class ConfigError(DowseError):
    """A setting has an unknown name or an invalid value."""


class SourceError(DowseError, ValueError):
    """A path can't be indexed; the message says what to do instead."""


class EvalError(DowseError):
    """Queries, judgements or reports that can't be used."""


class TooSlow(DowseError):
    """An operation exceeded its time limit."""


class Cancelled(DowseError):
    """The client has cancelled the call, or is gone."""


class LanesFailed(DowseError):
    """No lane of a search gave an answer."""


class QueryError(ValueError):
    """An invalid query or pattern; the message is one line and names the remedy."""

    def __init__(self, message: str, position: int = 0) -> None:
        super().__init__(message)
        self.position = position  # 0-based character offset into the query or pattern

    def shifted(self, offset: int) -> QueryError:
        """Return the same error for a text that contains this one at `offset`."""
        return QueryError(str(self), self.position + offset)


class FilterError(QueryError):
    """A filter of the query language with a bad value, or filters that contradict each other."""
