"""The framing between a command and the daemon: lists of byte strings, each with its length.

Not that of `workers/frames.py`: the client is loaded on every start of the command, so it does without
`struct`, `pickle` and `json`; and what comes from a socket is never unpickled.
"""

from __future__ import annotations

import os
import sys

from dowse.version import __version__

# Raised when the messages change.
_PROTOCOL = 2
# A request is a command line and a few settings; what is longer is none.
MAX_REQUEST_BYTES = 1 << 20
# The first byte of a response: the command is being run, or the daemon declines.
ACCEPTED, DECLINED = b"A", b"N"
# The first byte of each part of a response: for standard output, for standard error, and the exit code.
OUTPUT, ERRORS, EXIT = b"o", b"e", b"x"
# Variables that decide how output looks and are sent along; all others of DOWSE_* have to be equal.
DISPLAY_VARIABLES = ("NO_COLOR", "TERM")
# Variables beside DOWSE_* that decide where files are.
_FOLDER_VARIABLES = ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME")
# Variables that are paths: a relative one means something else in another folder.
PATH_VARIABLES = frozenset({b"DOWSE_CONFIG", b"DOWSE_DATA_DIR", b"DOWSE_CACHE_DIR"})
# Secrets and switches that no output depends on.
_IGNORED_VARIABLES = frozenset({"DOWSE_TOKEN", *DISPLAY_VARIABLES})


def protocol_version() -> bytes:
    """Return what both sides must have in common: the program as installed, its path, and its Python."""
    installed = os.stat(__file__).st_mtime_ns  # noqa: PTH116
    facts = f"{_PROTOCOL} {__version__} {installed} {sys.hexversion:x} {__file__}"
    return facts.encode("utf-8", "surrogateescape")


def pack(parts: list[bytes]) -> bytes:
    """Return the bytes of a message."""
    body = b"".join(len(part).to_bytes(4, "big") + part for part in parts)
    return len(body).to_bytes(4, "big") + body


def unpack(body: bytes) -> list[bytes]:
    """Return the parts of a message; raises ValueError if it is none."""
    parts, offset = [], 0
    while offset < len(body):
        length = int.from_bytes(body[offset : offset + 4], "big")
        part = body[offset + 4 : offset + 4 + length]
        if len(part) != length:
            raise ValueError("cut short")
        parts.append(part)
        offset += 4 + length
    return parts


def environment_key(environment: dict[bytes, bytes]) -> bytes:
    """Return the variables that must be equal on both sides for their output to be equal."""
    folders = {name.encode() for name in _FOLDER_VARIABLES}
    ignored = {name.encode() for name in _IGNORED_VARIABLES}
    names = (name for name in environment if name.startswith(b"DOWSE_") or name in folders)
    return b"\0".join(
        name + b"=" + (os.path.abspath(value) if name in PATH_VARIABLES and value else value)  # noqa: PTH100
        for name in sorted(names)
        if name not in ignored
        for value in [environment[name]]
    )
