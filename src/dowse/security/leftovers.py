"""Temporary files and folders that carry the process in their name: what killed processes left is removed."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

# Processes of another container or machine are not seen here; none needs a temporary file so long.
_STALE_SECONDS = 24 * 3600.0


@contextlib.contextmanager
def temporary_folder(prefix: str, parent: Path | None = None) -> Iterator[Path]:
    """Make a private folder that is removed at the end, and remove those that killed processes left."""
    import tempfile  # slow to load, as those below

    base = Path(tempfile.gettempdir() if parent is None else parent)
    remove_leftovers(base, prefix)
    name = f"{prefix}{os.getpid()}-"
    with tempfile.TemporaryDirectory(prefix=name, dir=base, ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def remove_leftovers(folder: Path, prefix: str) -> None:
    """Remove what processes that run no more left a day ago: of this user, named by prefix and process."""
    import re
    import shutil

    pattern = re.compile(re.escape(prefix) + r"(\d+)(-|\.new$)")
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            match = pattern.match(entry.name)
            if match and _is_stale(entry) and not is_running(int(match[1])):
                if entry.is_dir(follow_symlinks=False):
                    shutil.rmtree(entry.path, ignore_errors=True)
                else:
                    Path(entry.path).unlink()


def is_running(pid: int) -> bool:
    """Whether there is a process with this number, as far as the system tells."""
    if os.name != "posix":
        return True
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass
    return True


def _is_stale(entry: os.DirEntry[str]) -> bool:
    status = entry.stat(follow_symlinks=False)
    is_own = not hasattr(os, "geteuid") or status.st_uid == os.geteuid()
    return is_own and time.time() - status.st_mtime > _STALE_SECONDS
