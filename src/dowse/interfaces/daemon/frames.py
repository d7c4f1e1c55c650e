"""What travels between a command and a warm process: lists of bytes, then an answer in parts.

Written without `struct`, `json` or `socket`: the client is loaded on every start of the command.
"""

from __future__ import annotations

import os
import sys

from dowse.version import __version__

# Raised when what travels changes.
_FORM = 1
# A question is a command line and a few settings; what is longer is none.
MOST_BYTES = 1 << 20
# The first byte of a reply: it is being worked on; or somebody else has to.
ACCEPTED, REFUSED = b"A", b"N"
# The first byte of each part of an answer: for standard output, for standard error, and the exit code.
OUTPUT, ERRORS, EXIT = b"o", b"e", b"x"
# What decides how an answer looks and is sent along; all that begins with DOWSE_ has to be the same.
LOOKS = ("NO_COLOR", "TERM", "DOWSE_LINK_FORMAT")
# What decides where things are, beside DOWSE_*.
PLACES = ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME")
# Of ours, those that are paths: a relative one means something else in another folder.
_PATHS = frozenset({b"DOWSE_CONFIG", b"DOWSE_DATA_DIR"})
# Secrets and switches that no answer hangs on.
_ASIDE = frozenset({"DOWSE_TOKEN", *LOOKS})


def version() -> bytes:
    """Return what both sides must have in common: the program, where it lies, and its Python."""
    return f"{_FORM} {__version__} {sys.hexversion:x} {__file__}".encode("utf-8", "surrogateescape")


def pack(parts: list[bytes]) -> bytes:
    """Return the bytes of a message."""
    body = b"".join(len(part).to_bytes(4, "big") + part for part in parts)
    return len(body).to_bytes(4, "big") + body


def unpack(body: bytes) -> list[bytes]:
    """Return the parts of a message; raises ValueError if it is none."""
    parts, at = [], 0
    while at < len(body):
        length = int.from_bytes(body[at : at + 4], "big")
        part = body[at + 4 : at + 4 + length]
        if len(part) != length:
            raise ValueError("cut short")
        parts.append(part)
        at += 4 + length
    return parts


def surroundings(environment: dict[bytes, bytes]) -> bytes:
    """Return what has to be the same on both sides for their answers to be."""
    wanted = {name.encode() for name in PLACES}
    aside = {name.encode() for name in _ASIDE}
    names = (name for name in environment if name.startswith(b"DOWSE_") or name in wanted)
    return b"\0".join(
        name + b"=" + (os.path.abspath(value) if name in _PATHS and value else value)  # noqa: PTH100
        for name in sorted(names)
        if name not in aside
        for value in [environment[name]]
    )
