"""Where processes of one user find each other: a folder that nobody else can look into (light to load)."""

from __future__ import annotations

import os
import stat
import sys

# Letters of a hash that name a place; two that share them are told apart by what they say.
_DIGEST_BYTES = 6
# Bytes that the address of a socket may have on all systems, with the zero at its end.
_MOST_ADDRESS_BYTES = 104


def runtime_folder() -> str:
    """Return the folder of sockets and locks; it need not exist."""
    return os.path.join(cache_folder(), "run")


def cache_folder() -> str:
    """Return where all that can be made again is kept; `dowse.config` has it as a path."""
    named = os.environ.get("DOWSE_CACHE_DIR")
    if named:
        return named
    if sys.platform.startswith("linux"):  # where XDG rules, without loading the library that knows the others
        base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111
        return os.path.join(base, "dowse")
    import platformdirs

    return platformdirs.user_cache_dir("dowse", appauthor=False)


def make_runtime_folder() -> str:
    """Return the folder, made for its owner alone; raises OSError if it can't be made so."""
    folder = runtime_folder()
    os.makedirs(folder, mode=0o700, exist_ok=True)  # noqa: PTH103
    os.chmod(folder, 0o700)  # noqa: PTH101
    if not is_private(folder):
        raise PermissionError(f"{folder} belongs to somebody else")
    return folder


def is_private(folder: str) -> bool:
    """Whether a folder is ours and nobody else's."""
    try:
        found = os.lstat(folder)
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o077


def socket_address(path: str) -> tuple[str, int]:
    """Return what a socket at a path is called by, and a file to close after that, or -1.

    A path may be longer than an address: then Linux takes a way through the folder, held open.
    """
    if len(os.fsencode(path)) < _MOST_ADDRESS_BYTES:
        return path, -1
    folder, name = os.path.split(path)
    if not sys.platform.startswith("linux"):
        raise OSError(f"{path} is too long for a socket; set DOWSE_CACHE_DIR to a shorter folder")
    handle = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    return f"/proc/self/fd/{handle}/{name}", handle


def digest(text: str) -> str:
    """Return a short name for a text."""
    try:  # the module itself: `hashlib` takes longer to load than all the rest of a question
        from _blake2 import blake2b
    except ImportError:
        from hashlib import blake2b
    return str(blake2b(os.fsencode(text), digest_size=_DIGEST_BYTES).hexdigest())
