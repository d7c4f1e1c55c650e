"""Byte-pair encoding of a few words without reading tokenizer.json, which takes fifty milliseconds.

The merges of a tokenizer as sorted numbers in a file, searched by bisection where they lie. Only plain words
of ASCII: the ids are those that the tokenizers library gives to a space and the word (Sennrich et al., 2016).
"""

from __future__ import annotations

import sys
from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

TABLE_FILE = "tokenizer.bin"
MAGIC = b"DOWSEBPE"
# Byte-level BPE writes a space as this letter; letters and digits stand for themselves.
_SPACE = "Ġ"
SYMBOLS = _SPACE + "abcdefghijklmnopqrstuvwxyz0123456789"
# Ids have 16 bits, so that a pair of them is a number of 32.
MAX_ID = (1 << 16) - 1
NO_ID = MAX_ID
_NO_MERGE = (MAX_ID + 1, NO_ID)


class BpeTable(NamedTuple):
    """The merges of a tokenizer, sorted by the pair of ids that they merge."""

    pairs: Sequence[int]  # left id × 65,536 + right id
    ranks: Sequence[int]  # the lowest is merged first
    merged: Sequence[int]  # the id of both together
    first: Sequence[int]  # the ids of single symbols

    @classmethod
    def read(cls, file: Path) -> BpeTable | None:
        """Read a table; None if there is none, or it is damaged."""
        try:
            data = file.read_bytes()
        except OSError:
            return None
        count = int.from_bytes(data[8:12], "little")
        expected = 12 + 8 * count + 2 * len(SYMBOLS)
        if data[:8] != MAGIC or len(data) != expected or sys.byteorder != "little":
            return None
        view, at = memoryview(data), 12
        pairs = view[at : at + 4 * count].cast("I")
        words = view[at + 4 * count :].cast("H")
        return cls(pairs, words[:count], words[count : 2 * count], words[2 * count :])

    def encode(self, word: str) -> list[int]:
        """Return the ids of a space and a word of lower-case ASCII letters, or of digits."""
        ids = [id_ for each in _SPACE + word if (id_ := self.first[SYMBOLS.index(each)]) != NO_ID]
        while len(ids) > 1:
            merges = [self._merge(*pair) for pair in pairwise(ids)]
            at = min(range(len(merges)), key=merges.__getitem__)  # of equal ones the first
            if merges[at] == _NO_MERGE:
                break
            ids[at : at + 2] = merges[at][1:]
        return ids

    def _merge(self, left: int, right: int) -> tuple[int, int]:
        """Return the rank of merging two ids, and the id of both together."""
        pair = left << 16 | right
        at = bisect_left(self.pairs, pair)
        if at < len(self.pairs) and self.pairs[at] == pair:
            return self.ranks[at], self.merged[at]
        return _NO_MERGE
