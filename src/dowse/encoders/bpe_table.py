"""Byte-pair encoding of a few words without reading tokenizer.json, which takes fifty milliseconds.

The merges of a tokenizer as sorted numbers in a file, searched by bisection where they lie. Only plain words
of ASCII: the ids are those that the tokenizers library gives to a space and the word (Sennrich et al., 2016).
"""

from __future__ import annotations

import sys
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

TABLE_FILE = "tokenizer.bin"
_MAGIC = b"DOWSEBPE"
# Byte-level BPE writes a space as this letter; letters and digits stand for themselves.
_SPACE = "Ġ"
_SYMBOLS = _SPACE + "abcdefghijklmnopqrstuvwxyz0123456789"
# Ids have 16 bits, so that a pair of them is a number of 32.
_MAX_ID = (1 << 16) - 1
_NO_ID = _MAX_ID
_NO_MERGE = (_MAX_ID + 1, _NO_ID)


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
        expected = 12 + 8 * count + 2 * len(_SYMBOLS)
        if data[:8] != _MAGIC or len(data) != expected or sys.byteorder != "little":
            return None
        view, at = memoryview(data), 12
        pairs = view[at : at + 4 * count].cast("I")
        words = view[at + 4 * count :].cast("H")
        return cls(pairs, words[:count], words[count : 2 * count], words[2 * count :])

    def encode(self, word: str) -> list[int]:
        """Return the ids of a space and a word of lower-case ASCII letters, or of digits."""
        ids = [id_ for each in _SPACE + word if (id_ := self.first[_SYMBOLS.index(each)]) != _NO_ID]
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


def make_table(tokenizer: Mapping[str, Any]) -> bytes:
    """Return the contents of a table for the JSON of a tokenizer; raises ValueError if it is another kind."""
    model, before = tokenizer["model"], tokenizer["pre_tokenizer"]
    if model["type"] != "BPE" or before["type"] != "ByteLevel" or tokenizer["normalizer"] is not None:
        raise ValueError("it is no byte-level BPE")
    vocabulary = model["vocab"]
    if len(vocabulary) >= _MAX_ID or len(model["merges"]) > _MAX_ID:
        raise ValueError("its vocabulary is too large")
    entries = []
    for rank, merge in enumerate(model["merges"]):
        left, right = merge.split(" ") if isinstance(merge, str) else merge
        entries.append((vocabulary[left] << 16 | vocabulary[right], rank, vocabulary[left + right]))
    entries.sort()
    first = [vocabulary.get(each, _NO_ID) for each in _SYMBOLS]
    pairs = b"".join(pair.to_bytes(4, "little") for pair, _, _ in entries)
    numbers = [*(rank for _, rank, _ in entries), *(merged for _, _, merged in entries), *first]
    words = b"".join(number.to_bytes(2, "little") for number in numbers)
    return _MAGIC + len(entries).to_bytes(4, "little") + pairs + words
