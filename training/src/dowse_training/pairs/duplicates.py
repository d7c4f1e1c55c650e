"""Seen before: the same code, nearly the same code, or the same documentation once too often."""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Iterable

from dowse.eval.mine.doc_pairs import first_paragraph
from dowse_training.pairs.exclusion import text_hash

# One hash function, its values dealt into this many buckets, of which each keeps its smallest: an estimate of
# how much two sets of shingles overlap (one-permutation MinHash: Li, Owen, Zhang 2012).
BUCKETS = 24

# Buckets that must agree for two texts to be compared at all: six chances of four buckets each find nine in
# ten of the pairs that overlap by .8, and the comparison decides.
BAND = 4

# Share of agreeing buckets from which two functions are one. At .8 a renamed variable in ten lines passes as
# the same, a different call does not.
NEARLY = 0.8

# Words a shingle spans.
SHINGLE = 3

# Two functions that say the same are false negatives of each other in a batch; one alternative is welcome.
MAX_SAME_DOC = 2

_WORD = re.compile(rb"\w+")
_EMPTY = 0xFFFF


class Duplicates:
    """Remembers what was let through, in as little memory as serves: hashes, not texts."""

    def __init__(self) -> None:
        self._code: set[int] = set()
        self._docs: Counter[int] = Counter()
        self._bands: dict[int, bytes] = {}

    def add_known(self, code: Iterable[str]) -> None:
        """Remember code that is in other files already."""
        self._code.update(int(text_hash(text), 16) for text in code)

    def reason(self, doc: str, code: str) -> str:
        """Why a pair is a duplicate, or "" and it is remembered."""
        code_hash = int(text_hash(code), 16)
        if code_hash in self._code:
            return "exact duplicate"
        doc_hash = int(text_hash(first_paragraph(doc)), 16)
        if self._docs[doc_hash] >= MAX_SAME_DOC:
            return "documentation seen before"
        signature = near_signature(code)
        bands = band_keys(signature)
        if any(band in self._bands and agreement(signature, self._bands[band]) >= NEARLY for band in bands):
            return "near duplicate"
        self._code.add(code_hash)
        self._docs[doc_hash] += 1
        for band in bands:
            self._bands.setdefault(band, signature)
        return ""


def near_signature(code: str) -> bytes:
    """Two bytes for each bucket: the smallest hash of the shingles that fell into it."""
    words = _WORD.findall(code.encode("utf-8", "replace"))
    lowest = [_EMPTY] * BUCKETS
    crc32 = zlib.crc32
    for first in range(max(1, len(words) - SHINGLE + 1)):
        value = crc32(b" ".join(words[first : first + SHINGLE])) * 0x9E3779B1 & 0xFFFFFFFF
        bucket, value = (value >> 16) % BUCKETS, value & 0xFFFF
        if value < lowest[bucket]:
            lowest[bucket] = value
    return b"".join(value.to_bytes(2, "big") for value in lowest)


def band_keys(signature: bytes) -> list[int]:
    """What to look a signature up by: equal for texts whose buckets agree in one of the bands."""
    width = 2 * BAND
    empty = b"\xff" * width
    bands = (signature[start : start + width] for start in range(0, len(signature), width))
    return [
        int.from_bytes(band, "big") * BUCKETS + number for number, band in enumerate(bands) if band != empty
    ]


def agreement(one: bytes, other: bytes) -> float:
    """The share of buckets, of those that any of the two fills, in which two signatures agree."""
    pairs = [(one[at : at + 2], other[at : at + 2]) for at in range(0, len(one), 2)]
    filled = [(a, b) for a, b in pairs if a != b"\xff\xff" or b != b"\xff\xff"]
    return sum(a == b for a, b in filled) / max(1, len(filled))
