"""Byte-pair encoding of a few words without reading tokenizer.json, which takes eighty milliseconds.

The merges of a tokenizer as sorted numbers in a file, searched by bisection where they lie. Only plain words
of ASCII: the ids are those of `byte_pairs.py`.
"""

from __future__ import annotations

import sys
from bisect import bisect_left
from collections.abc import Sequence
from pathlib import Path

from dowse.encoders.byte_pairs import MAX_ID as MAX_ID
from dowse.encoders.byte_pairs import NO_ID as NO_ID
from dowse.encoders.byte_pairs import SPACE, merge
from dowse.lazy_classes import NamedTuple

TABLE_FILE = "tokenizer.bin"
MAGIC = b"DOWSEBPE"
SYMBOLS = SPACE + "abcdefghijklmnopqrstuvwxyz0123456789"


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
        return merge((self.first[SYMBOLS.index(each)] for each in SPACE + word), self._rank_of)

    def _rank_of(self, pair: int, otherwise: int) -> int:
        at = bisect_left(self.pairs, pair)
        if at < len(self.pairs) and self.pairs[at] == pair:
            return self.ranks[at] << 16 | self.merged[at]
        return otherwise
