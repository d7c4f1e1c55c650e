"""HEAD and refs of a git folder, read from their files.

Ref names come from files of the repository, so they are checked against path traversal, by the rules of
`git check-ref-format`, before they become part of a path. No symbolic link is followed: HEAD as a link, as
git made it before 2005, is read as the name of a ref.
"""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

from dowse.security.safe_files import read_regular_file

MAX_REF_BYTES = 4096
MAX_PACKED_REFS_BYTES = 64_000_000
_MAX_SYMBOLIC_REFS = 5  # git itself gives up on longer chains

_HASH = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?\Z")
_FORBIDDEN = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|/\.|\.lock(?:/|\Z)|[/.]\Z")


def is_ref_name(name: str) -> bool:
    """Whether a name is a valid ref below `refs/`, by the rules of `git check-ref-format`."""
    return name.startswith("refs/") and len(name) < MAX_REF_BYTES and not _FORBIDDEN.search(name)


def is_commit_hash(value: str) -> bool:
    """Whether a value is a full SHA-1 or SHA-256 object name."""
    return _HASH.match(value) is not None


def read_head(directory: str, common: str) -> str:
    """Resolve HEAD to a commit; "" when it has none, is malformed, or refs are kept as reftable."""
    value = _read_head_file(directory)
    for _ in range(_MAX_SYMBOLIC_REFS):
        if not value.startswith("ref:"):
            break
        value = _read_ref(directory, common, value.removeprefix("ref:").strip())
    return value if is_commit_hash(value) else ""


def read_below(directory: str, name: str, max_bytes: int) -> bytes:
    """Read a file below a directory; raises OSError if it or a folder on the way is a link or special."""
    *parents, last = name.split("/")
    for parent in parents:
        directory = os.path.join(directory, parent)
        if not stat.S_ISDIR(os.lstat(directory).st_mode):
            raise NotADirectoryError(directory)
    return read_regular_file(os.path.join(directory, last), max_bytes)


def read_line_below(directory: str, name: str) -> str:
    """Read a one-line file below a directory, stripped; "" if it can't be read."""
    try:
        return os.fsdecode(read_below(directory, name, MAX_REF_BYTES)).strip()
    except (OSError, ValueError):
        return ""


def _read_head_file(directory: str) -> str:
    """Return the content of HEAD, "ref: NAME" where it is an old-style symbolic link."""
    try:
        return f"ref: {Path(directory, 'HEAD').readlink()}"
    except (OSError, ValueError):
        return read_line_below(directory, "HEAD")


def _read_ref(directory: str, common: str, name: str) -> str:
    """Return the value of a loose or packed ref, or ""."""
    if not is_ref_name(name):
        return ""
    return read_line_below(directory, name) or read_line_below(common, name) or _read_packed_ref(common, name)


def _read_packed_ref(common: str, name: str) -> str:
    """Find a ref in packed-refs, which has a line "HASH NAME" for each."""
    try:
        packed = read_below(common, "packed-refs", MAX_PACKED_REFS_BYTES) + b"\n"
        wanted = b" " + os.fsencode(name) + b"\n"
    except (OSError, ValueError):
        return ""
    at = packed.find(wanted)
    while at >= 0:
        value = packed[packed.rfind(b"\n", 0, at) + 1 : at].decode("ascii", "replace")
        if is_commit_hash(value):
            return value
        at = packed.find(wanted, at + len(wanted))
    return ""
