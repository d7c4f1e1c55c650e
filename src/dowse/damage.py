"""What SQLite, tantivy and NumPy raise about the files of an index, as errors of dowse.

None of them checks all that it reads: a flipped bit may change a text unnoticed. What they do notice is
`IndexDamaged`: the index is built again. A full disk, a lock or missing permissions are `IndexUnavailable`:
nothing is lost.
"""

from __future__ import annotations

import contextlib
import errno
import sqlite3
import struct
from collections.abc import Iterator
from pathlib import Path

from dowse.errors import DowseError, IndexDamaged, IndexUnavailable, QueryError

# What the system refuses without any damage, and the remedy.
_REMEDIES = {
    errno.ENOSPC: "free some space on its disk",
    errno.EDQUOT: "free some space within your quota",
    errno.EFBIG: "raise the limit of file sizes (`ulimit -f`)",
    errno.EIO: "check its disk, and whether that or your quota is full",
    errno.EROFS: "name a folder that can be written to with --index-dir",
    errno.EACCES: "check the permissions of that folder, and the limit of open files (`ulimit -n`)",
    errno.EPERM: "check the permissions of that folder",
    errno.EMFILE: "close some, or raise the limit (`ulimit -n`)",
    errno.ENFILE: "close some, or raise the limit (`ulimit -n`)",
    errno.ENOMEM: "free some memory, or raise the limit (`ulimit -v`)",
    errno.EAGAIN: "raise the limits of memory and threads (`ulimit -v`, `ulimit -u`)",
    errno.EBADF: "open standard output, which is closed",
    errno.EBUSY: "wait for the other process that has it open, or end that",
    errno.ENOLCK: "name a folder on a local disk with --index-dir",
}
# The same by the beginning of SQLite's names of errors. A file that ends too early is no I/O error.
_SQLITE_ERRORS = {
    "SQLITE_IOERR_SHORT_READ": 0,
    "SQLITE_IOERR_NOMEM": errno.ENOMEM,
    "SQLITE_IOERR": errno.EIO,
    "SQLITE_FULL": errno.ENOSPC,
    "SQLITE_NOMEM": errno.ENOMEM,
    "SQLITE_BUSY": errno.EBUSY,
    "SQLITE_LOCKED": errno.EBUSY,
    "SQLITE_PROTOCOL": errno.ENOLCK,
    "SQLITE_READONLY": errno.EPERM,
    "SQLITE_PERM": errno.EPERM,
    "SQLITE_CANTOPEN": errno.EACCES,
}
# Of tantivy, which gives the number of most errors of the system: `os error 28`, or `code: 28`.
_NUMBER = r"os error (\d+)|\bcode: (\d+)"
_WORDS = {"Failed to spawn": errno.EAGAIN, "can't start new thread": errno.EAGAIN, "LockBusy": errno.EBUSY}
# Errors of SQLite that only a write can have: nothing was lost.
_WRITE_ERRORS = frozenset(
    "SQLITE_FULL SQLITE_IOERR_WRITE SQLITE_IOERR_FSYNC SQLITE_IOERR_DIR_FSYNC SQLITE_IOERR_TRUNCATE"
    " SQLITE_IOERR_SHMOPEN SQLITE_IOERR_SHMSIZE SQLITE_IOERR_SHMMAP SQLITE_IOERR_NOMEM".split()
)


class BrokenBlock(Exception):
    """Stored bytes that do not have the form in which they were written."""


# What a damaged catalog raises.
CATALOG_ERRORS = (sqlite3.DatabaseError, BrokenBlock)
# What code raises that has read nonsense.
READ_ERRORS = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, struct.error)


@contextlib.contextmanager
def translate_errors(folder: Path, *kinds: type[Exception], what: str = "index") -> Iterator[None]:
    """Raise errors of some kinds about the files in a folder, and panics of tantivy, as errors of dowse."""
    try:
        yield
    except (DowseError, QueryError):
        raise
    except BaseException as error:
        if isinstance(error, sqlite3.ProgrammingError) or not (isinstance(error, kinds) or is_panic(error)):
            raise
        raise unavailable_error(folder, error, what) or damage_error(folder, error, what) from error


def is_damage(error: BaseException) -> bool:
    """Whether an error of SQLite says that a file is damaged."""
    is_misuse = isinstance(error, sqlite3.ProgrammingError)
    return isinstance(error, CATALOG_ERRORS) and not is_misuse and unavailable_error(Path(), error) is None


def is_panic(error: BaseException) -> bool:
    """Whether an error is a failed assertion of tantivy, which has no class that could be imported."""
    return type(error).__name__ == "PanicException"


def unavailable_error(folder: Path, error: BaseException, what: str = "index") -> IndexUnavailable | None:
    """Return the error for intact files that can't be used now; None if they are damaged."""
    remedy = find_remedy(error)
    if not remedy:
        return None
    return IndexUnavailable(f"the {what} in {folder} can't be used now ({_first_line(str(error))}); {remedy}")


def find_remedy(error: BaseException) -> str:
    """Return what helps against an error of the system, whoever reports it; "" for any other error."""
    return _REMEDIES.get(_error_number(error), "")


def _error_number(error: BaseException) -> int:
    """Return the number of the system's error behind an error, 0 for none."""
    if isinstance(error, OSError) and error.errno:
        return error.errno
    if isinstance(error, MemoryError):
        return errno.ENOMEM
    if name := getattr(error, "sqlite_errorname", ""):
        return next((number for start, number in _SQLITE_ERRORS.items() if name.startswith(start)), 0)
    import re  # hardly ever needed

    text = str(error)
    if match := re.search(_NUMBER, text):
        return int(match[1] or match[2])
    return next((number for words, number in _WORDS.items() if words in text), 0)


def is_write_error(error: object) -> bool:
    """Whether SQLite could not write, as on a full disk."""
    return getattr(error, "sqlite_errorname", "") in _WRITE_ERRORS


def damage_error(folder: Path, reason: object, what: str = "index") -> IndexDamaged:
    """Return the error for files that can't be read."""
    text = _first_line(str(reason))
    return IndexDamaged(f"the {what} in {folder} is damaged ({text}); run `dowse index --rebuild`")


def lacks_pages(database: sqlite3.Connection, path: Path) -> bool:
    """Whether a database without a log lacks its end: SQLite silently reads missing bytes as zeros."""
    (pages,) = database.execute("PRAGMA page_count").fetchone()
    (page_size,) = database.execute("PRAGMA page_size").fetchone()
    return path.stat().st_size < int(pages) * int(page_size)


def _first_line(text: str) -> str:
    return text.partition("\n")[0]
