"""The write lock of a folder: one writer at a time, in whatever process it is."""

from __future__ import annotations

import contextlib
import errno
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from dowse.errors import DowseError, IndexLocked, IndexUnavailable
from dowse.security.safe_files import make_private_directory, open_without_links

LOCK = "writer.lock"
# Of the process id that a lock file holds.
_HOLDER_BYTES = 20
# How often a waiting writer tries again; short against any real indexing run.
_POLL_SECONDS = 0.05
# What a lock that another process holds is refused with; anything else means that there are no locks.
_HELD = (errno.EWOULDBLOCK, errno.EACCES, errno.EDEADLK)


@contextlib.contextmanager
def write_lock(folder: Path, wait: float | None, on_wait: Callable[[str], None]) -> Iterator[None]:
    """Hold the write lock of a folder; wait up to `wait` seconds for it (None: as long as it takes).

    The lock belongs to the open file, so the system frees it when its holder dies, however it dies.
    """
    handle = _acquire(folder, wait, on_wait)
    try:
        _write_holder(handle, str(os.getpid()))
        yield
    finally:
        _write_holder(handle, "")  # the next holder is taken for nobody else
        os.close(handle)


def lock_holder(folder: Path) -> int | None:
    """Return the process id of the writer that holds the lock, None if nobody does."""
    with _lock_file(folder) as handle, contextlib.suppress(OSError):  # a folder without locks has no writer
        return None if handle is None or _try_lock(handle) else _read_holder(handle)
    return None


def has_locks(folder: Path) -> bool:
    """Whether the file system of a folder has locks; some network folders have none."""
    with _lock_file(folder) as handle:
        try:
            if handle is not None:
                _try_lock(handle)
        except OSError:
            return False
    return True


@contextlib.contextmanager
def _lock_file(folder: Path) -> Iterator[int | None]:
    """Open the lock file; None if there is none, or it is not ours: then no process of this user writes."""
    try:
        handle = open_without_links(folder / LOCK, os.O_RDWR, create=False)
    except (OSError, DowseError):
        yield None
        return
    try:
        yield handle
    finally:
        os.close(handle)


def is_open_at(handle: int, path: Path) -> bool:
    """Whether an open file is still the one at this path: another process may have replaced or removed it."""
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except FileNotFoundError:
        return False


def _acquire(folder: Path, wait: float | None, on_wait: Callable[[str], None]) -> int:
    deadline = None if wait is None else time.monotonic() + wait
    is_announced = False
    while True:
        try:
            make_private_directory(folder)
            handle = open_without_links(folder / LOCK, os.O_RDWR)
        except FileNotFoundError:  # the previous holder has just removed the folder
            continue
        try:
            is_locked = _try_lock(handle)
        except OSError as error:
            os.close(handle)
            raise IndexUnavailable(
                f"{folder} can't be locked ({error.strerror}), as some network folders; "
                "name a folder on a local disk with --index-dir"
            ) from error
        if is_locked and is_open_at(handle, folder / LOCK):
            return handle
        holder = _read_holder(handle)
        os.close(handle)
        if deadline is not None and time.monotonic() >= deadline:
            raise IndexLocked(
                f"another dowse (process {holder}) is writing to {folder}; "
                "wait for it to finish, or end that process"
            )
        if not is_announced:
            on_wait(f"waiting for another dowse (process {holder}) to finish writing")
            is_announced = True
        time.sleep(_POLL_SECONDS)


def _write_holder(handle: int, text: str) -> None:
    """Name the holder, for messages alone: on a full disk there are none, and `dowse clear` still works."""
    with contextlib.suppress(OSError):  # in place, which takes no space
        os.lseek(handle, 0, os.SEEK_SET)  # no `pwrite`, which Windows lacks
        os.write(handle, text.ljust(_HOLDER_BYTES).encode())


def _read_holder(handle: int) -> int:
    os.lseek(handle, 0, os.SEEK_SET)
    text = os.read(handle, _HOLDER_BYTES).strip()
    return int(text) if text.isdigit() else 0


def _try_lock(handle: int) -> bool:
    try:
        import fcntl
    except ImportError:  # Windows
        return _try_lock_windows(handle)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in _HELD:
            raise
        return False
    return True


def _try_lock_windows(handle: int) -> bool:
    import msvcrt

    try:
        # Byte 64 lies beyond the process id, so that others may still read it.
        os.lseek(handle, 64, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
    except OSError as error:
        if error.errno not in _HELD:
            raise
        return False
    return True
