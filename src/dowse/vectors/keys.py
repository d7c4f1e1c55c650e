"""Sixteen-byte content keys of vectors and texts, as arrays."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dowse.vectors.quantize import Rows

KEY_BYTES = 16

Keys: TypeAlias = NDArray[np.uint8]  # (n, 16)
Heads: TypeAlias = NDArray[Any]  # unsigned, eight bytes


def as_keys(keys: Iterable[bytes]) -> Keys:
    """Return keys as an array, one a row."""
    joined = b"".join(keys)
    if len(joined) % KEY_BYTES:
        raise ValueError(f"keys have {KEY_BYTES} bytes each")
    return np.frombuffer(joined, np.uint8).reshape(-1, KEY_BYTES)


def heads(keys: Keys) -> Heads:
    """Return the first eight bytes of each key as a number: keys are hashes, so these rarely collide."""
    return np.ascontiguousarray(keys[:, :8]).view("<u8").reshape(-1)


def find_sorted(wanted: Keys, keys: Keys, sorted_heads: Heads, order: NDArray[Any]) -> Rows:
    """Return the row of each wanted key, -1 where there is none.

    `order` gives rows of `keys` by their heads, `sorted_heads` are those heads.
    """
    row_of_key = np.full(len(wanted), -1, np.int64)
    if not len(order) or not len(wanted):
        return row_of_key
    sought = heads(wanted)
    positions = np.searchsorted(sorted_heads, sought)
    pending = np.arange(len(wanted))
    while len(pending):  # once, unless two keys share their first eight bytes
        pending = pending[positions[pending] < len(order)]
        pending = pending[sorted_heads[positions[pending]] == sought[pending]]
        rows = np.asarray(order[positions[pending]], np.int64)
        equal = (keys[rows] == wanted[pending]).all(axis=1)
        row_of_key[pending[equal]] = rows[equal]
        pending = pending[~equal]
        positions[pending] += 1
    return row_of_key
