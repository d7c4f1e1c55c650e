"""Decompress and parse a saved report within limits: a decompression bomb is refused."""

from __future__ import annotations

import zlib
from typing import Any

from dowse.errors import EvalError
from dowse.security.limited_json import parse_json_limited
from dowse.security.terminal import first_line

# Real reports have up to 0.3 MB packed and 1.3 MB plain, with 170,000 values.
MAX_STORED = 20_000_000
MAX_PLAIN = 20_000_000
MAX_VALUES = 1_000_000
# Columns of zeros shrink to a fiftieth; small files may shrink as they like.
_RATIO, _ALLOWANCE = 100, 1_000_000
_GZIP = 16 + zlib.MAX_WBITS


def parse_saved(data: bytes, *, packed: bool) -> tuple[dict[str, Any], int]:
    """Return the JSON of a report and its size in bytes; raise EvalError if it is none.

    Args:
        data: What the file holds.
        packed: Whether that is compressed with gzip.
    """
    try:
        plain = _unpack(data) if packed else data
        if len(plain) > MAX_PLAIN:
            raise ValueError("too large for a report")
        found = parse_json_limited(plain, max_memory=2 * MAX_PLAIN, max_elements=MAX_VALUES)
        if not isinstance(found, dict):
            raise ValueError("no object")
    except (ValueError, zlib.error) as error:
        raise EvalError(
            f"no report; save one with `dowse eval --report FILE` ({first_line(error)})"
        ) from error
    return found, len(plain)


def most_plain(stored: int) -> int:
    """Return how many bytes a packed file of some size may unpack to."""
    return min(MAX_PLAIN, _ALLOWANCE + _RATIO * stored)


def _unpack(data: bytes) -> bytes:
    unpacker = zlib.decompressobj(_GZIP)
    most = most_plain(len(data))
    plain = unpacker.decompress(data, most + 1)
    if len(plain) > most:
        raise ValueError("too large for a report")
    if not unpacker.eof or unpacker.unused_data:
        raise ValueError("cut short, or more than one file")
    return plain
