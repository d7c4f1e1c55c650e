"""A Bloom filter with one hash: which hashes an index may have, in two bytes for each."""

from __future__ import annotations

from collections.abc import Iterable

_BITS_OF_KEY = 16


class KeyFilter:
    """Tells of a 64-bit hash whether it is surely not one of those that were added."""

    def __init__(self, keys: Iterable[int], count: int) -> None:
        """Add the keys; `count` says how many there are, about."""
        size = 1 << max(10, (count * _BITS_OF_KEY - 1).bit_length() - 3)
        self._bits, self._mask = bytearray(size), size - 1
        bits, mask = self._bits, self._mask
        for key in keys:
            bits[key >> 3 & mask] |= 1 << (key & 7)

    def excludes(self, key: int) -> bool:
        """Whether this key was not added; False also for one in about 16 that were not."""
        return not self._bits[key >> 3 & self._mask] >> (key & 7) & 1
