"""What can go wrong in a way the user can mend: each message names the remedy."""

from __future__ import annotations


class DowseError(Exception):
    """A problem with a clear one-line message; the command prints it and exits with 2."""

    # Whether the message has several lines, in which names are escaped already (dowse.security.terminal).
    is_list = False


class IndexMissing(DowseError):
    """There is no index where one was asked for."""


class IndexDamaged(DowseError):
    """The index on disk can't be read as what it should be."""


class IndexVersionError(DowseError):
    """The index was written by a version of dowse with another format."""


class IndexLocked(DowseError):
    """Another process is writing to the index."""


class ConfigError(DowseError):
    """A setting has a name or value that does not exist."""


class EvalError(DowseError):
    """Questions, judgements or reports that can't be used."""


class TooSlow(DowseError):
    """Something took longer than it may."""
