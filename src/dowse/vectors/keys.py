"""Sixteen-byte names of vectors, many at a time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dowse.vectors.quantize import Rows

KEY_BYTES = 16

Keys: TypeAlias = NDArray[np.uint8]  # (n, 16)
Heads: TypeAlias = NDArray[Any]  # unsigned, eight bytes


def as_keys(names: Iterable[bytes]) -> Keys:
    """Return names as an array, one a row."""
    joined = b"".join(names)
    if len(joined) % KEY_BYTES:
        raise ValueError(f"keys have {KEY_BYTES} bytes each")
    return np.frombuffer(joined, np.uint8).reshape(-1, KEY_BYTES)


def heads(keys: Keys) -> Heads:
    """Return the first eight bytes of each key as a number: keys are hashes, so that they rarely agree."""
    return np.ascontiguousarray(keys[:, :8]).view("<u8").reshape(-1)


def find_sorted(wanted: Keys, keys: Keys, sorted_heads: Heads, order: NDArray[Any]) -> Rows:
    """Return the row of each wanted key, -1 where there is none.

    `order` gives rows of `keys` by their heads, `sorted_heads` are those heads.
    """
    found = np.full(len(wanted), -1, np.int64)
    if not len(order) or not len(wanted):
        return found
    sought = heads(wanted)
    places = np.searchsorted(sorted_heads, sought)
    open_ones = np.arange(len(wanted))
    while len(open_ones):  # once, unless two keys begin with the same eight bytes
        open_ones = open_ones[places[open_ones] < len(order)]
        open_ones = open_ones[sorted_heads[places[open_ones]] == sought[open_ones]]
        rows = np.asarray(order[places[open_ones]], np.int64)
        equal = (keys[rows] == wanted[open_ones]).all(axis=1)
        found[open_ones[equal]] = rows[equal]
        open_ones = open_ones[~equal]
        places[open_ones] += 1
    return found
