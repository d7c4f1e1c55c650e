"""What SQLite, tantivy and NumPy raise about the files of an index, as errors of dowse.

None of them checks all that it reads: a flipped bit may change a text unnoticed. What they do notice is
`IndexDamaged`: the index is built again. A full disk, a lock or missing permissions are `IndexUnavailable`:
nothing is lost.
"""

from __future__ import annotations

import contextlib
import sqlite3
import struct
from collections.abc import Iterator
from pathlib import Path

from dowse.errors import DowseError, IndexDamaged, IndexUnavailable, QueryError

# Messages of SQLite and tantivy that do not mean damage (tantivy has no error codes), and the remedy.
_REMEDIES = (
    ("disk is full", "free some space on its disk"),
    ("No space left", "free some space on its disk"),
    ("quota exceeded", "free some space within your quota"),
    ("Too many open files", "close some, or raise the limit (`ulimit -n`)"),
    ("Cannot allocate memory", "free some memory"),
    ("Read-only file system", "name a folder that can be written to with --index-dir"),
    ("is locked", "wait for the other process that has it open, or end that"),
    ("readonly database", "check the permissions of that folder"),
    ("unable to open database", "check its permissions, and the limit of open files (`ulimit -n`)"),
    ("Permission denied", "check the permissions of that folder"),
    ("out of memory", "free some memory"),
    ("Resource temporarily unavailable", "raise the limits of memory and threads (`ulimit -v`, `ulimit -u`)"),
    ("Failed to spawn", "raise the limits of memory and threads (`ulimit -v`, `ulimit -u`)"),
    ("can't start new thread", "raise the limits of memory and threads (`ulimit -v`, `ulimit -u`)"),
    ("Input/output error", "check its disk"),
    ("disk I/O error", "check its disk, and whether that is full"),
    ("locking protocol", "name a folder on a local disk with --index-dir"),
)
# Errors of SQLite that only a write can have: nothing was lost.
_WRITE_ERRORS = frozenset(
    "SQLITE_FULL SQLITE_IOERR_WRITE SQLITE_IOERR_FSYNC SQLITE_IOERR_DIR_FSYNC SQLITE_IOERR_TRUNCATE"
    " SQLITE_IOERR_SHMOPEN SQLITE_IOERR_SHMSIZE SQLITE_IOERR_SHMMAP SQLITE_IOERR_NOMEM".split()
)
# A file that ends too early: SQLite calls it an I/O error.
_CUT = "SQLITE_IOERR_SHORT_READ"


class BrokenBlock(Exception):
    """Stored bytes that do not have the form in which they were written."""


# What a damaged catalog raises.
CATALOG_ERRORS = (sqlite3.DatabaseError, BrokenBlock)
# What code raises that has read nonsense.
READ_ERRORS = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, struct.error)


@contextlib.contextmanager
def translate_errors(folder: Path, *kinds: type[Exception]) -> Iterator[None]:
    """Raise errors of some kinds about the files in a folder, and panics of tantivy, as errors of dowse."""
    try:
        yield
    except (DowseError, QueryError):
        raise
    except BaseException as error:
        if isinstance(error, sqlite3.ProgrammingError) or not (isinstance(error, kinds) or is_panic(error)):
            raise
        raise unavailable_error(folder, error) or damage_error(folder, error) from error


def is_damage(error: BaseException) -> bool:
    """Whether an error of SQLite says that a file is damaged."""
    is_misuse = isinstance(error, sqlite3.ProgrammingError)
    return isinstance(error, CATALOG_ERRORS) and not is_misuse and unavailable_error(Path(), error) is None


def is_panic(error: BaseException) -> bool:
    """Whether an error is a failed assertion of tantivy, which has no class that could be imported."""
    return type(error).__name__ == "PanicException"


def unavailable_error(folder: Path, error: object) -> IndexUnavailable | None:
    """Return the error for intact files that can't be used now; None if they are damaged."""
    text = str(error)
    remedies = [remedy for words, remedy in _REMEDIES if words in text]
    if getattr(error, "sqlite_errorname", "") == _CUT or not remedies:
        return None
    return IndexUnavailable(f"the index in {folder} can't be used now ({_first_line(text)}); {remedies[0]}")


def is_write_error(error: object) -> bool:
    """Whether SQLite could not write, as on a full disk."""
    return getattr(error, "sqlite_errorname", "") in _WRITE_ERRORS


def damage_error(folder: Path, reason: object) -> IndexDamaged:
    """Return the error for files that can't be read."""
    text = _first_line(str(reason))
    return IndexDamaged(f"the index in {folder} is damaged ({text}); run `dowse index --rebuild`")


def _first_line(text: str) -> str:
    return text.partition("\n")[0]
