"""Cache, data and runtime folders, and Unix sockets that only the user can reach (light to load)."""

from __future__ import annotations

import os
import stat
import sys

# Two paths with the same digest are distinguished by what their sockets answer.
_DIGEST_BYTES = 6
# Bytes of a Unix socket address (sun_path) that all systems allow, with the zero at its end.
_MAX_ADDRESS_BYTES = 104


def runtime_folder() -> str:
    """Return the folder of sockets and locks; it need not exist."""
    return os.path.join(cache_folder(), "run")


def cache_folder() -> str:
    """Return the folder of files that can be rebuilt."""
    return os.environ.get("DOWSE_CACHE_DIR") or _user_folder("cache", "XDG_CACHE_HOME", "~/.cache")


def data_folder() -> str:
    """Return the folder of files that can't be rebuilt."""
    return os.environ.get("DOWSE_DATA_DIR") or _user_folder("data", "XDG_DATA_HOME", "~/.local/share")


def _user_folder(kind: str, variable: str, default: str) -> str:
    if sys.platform == "darwin":
        library = {"cache": "~/Library/Caches", "data": "~/Library/Application Support"}
        return os.path.expanduser(f"{library[kind]}/dowse")  # noqa: PTH111
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA") or os.path.expanduser(r"~\AppData\Local")  # noqa: PTH111
        return rf"{local}\dowse\Cache" if kind == "cache" else rf"{local}\dowse"
    base = os.environ.get(variable) or os.path.expanduser(default)  # noqa: PTH111
    return os.path.join(base, "dowse")


def make_runtime_folder() -> str:
    """Create the runtime folder for its owner alone and return it; raises OSError if that fails."""
    folder = runtime_folder()
    os.makedirs(folder, mode=0o700, exist_ok=True)  # noqa: PTH103
    os.chmod(folder, 0o700)  # noqa: PTH101
    if not is_private(folder):
        raise PermissionError(f"{folder} belongs to somebody else")
    return folder


def is_private(folder: str) -> bool:
    """Whether a folder belongs to the user, and nobody else has access."""
    try:
        status = os.lstat(folder)
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and not status.st_mode & 0o077


def socket_address(path: str) -> tuple[str, int]:
    """Return the address of a Unix socket at a path, and a descriptor to close after use, or -1.

    A path may be longer than an address: then, on Linux, the address goes through an open descriptor of the
    folder.
    """
    if len(os.fsencode(path)) < _MAX_ADDRESS_BYTES:
        return path, -1
    folder, name = os.path.split(path)
    if not sys.platform.startswith("linux"):
        raise OSError(f"{path} is too long for a socket; set DOWSE_CACHE_DIR to a shorter folder")
    handle = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    return f"/proc/self/fd/{handle}/{name}", handle


def digest(text: str | os.PathLike[str]) -> str:
    """Return a short hash of a text or path."""
    try:  # the module itself: importing `hashlib` takes longer than all the rest of a warm search
        from _blake2 import blake2b
    except ImportError:
        from hashlib import blake2b
    return str(blake2b(os.fsencode(text), digest_size=_DIGEST_BYTES).hexdigest())
