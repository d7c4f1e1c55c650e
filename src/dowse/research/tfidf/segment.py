"""Segments of the TF-IDF index: posting lists of terms and of bigrams (pairs of neighbours), and their files.

Texts are keyed by content (sixteen bytes, as vectors are), terms by eight bytes of a hash: among a hundred
million of them two collide in one index of three thousand. A segment is five arrays and is immutable:

    keys     the key of every text, ordered by its first eight bytes
    terms    the hash of every term, ascending
    starts   where each posting list begins; one more, for the end of the last
    texts    of each posting: the number of the text, ascending within a term
    counts   of each posting: the term frequency; both as narrow as their largest number allows

The folder of an index has them as memory-mapped files, and a state that names the valid ones:

    state.json      the valid segments, and the generation whose symbols they are known to cover
    000007.*.npy    the arrays of one segment
    writer.lock     held by the process that adds segments

A segment is complete on disk before the state names it, so what a killed writer leaves is never read; the
next writer removes it. The texts of a segment that can't be read are counted again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from array import array
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dowse.lazy_classes import asdict, dataclass
from dowse.security.safe_files import open_atomically, write_atomically
from dowse.vectors.files import STATE
from dowse.vectors.keys import Keys, as_keys, heads

Hashes: TypeAlias = NDArray[np.uint64]
Numbers: TypeAlias = NDArray[Any]  # unsigned, of any width

# Joins the terms of a bigram: no term contains it.
BIGRAM_SEPARATOR = " "
# The golden ratio as a 64-bit number, and the multipliers of splitmix64 (Steele, Lea and Flood, 2014).
_STEP = np.uint64(0x9E3779B97F4A7C15)
_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
_HALF = np.uint64(32)
# Raised whenever the files, or which terms a text has, change.
FORMAT_VERSION = 3
# Each array of a segment has a file of its own, which can be memory-mapped.
_ARRAYS = ("keys", "terms", "starts", "texts", "counts")
_ENDING = ".npy"
# Segments may be replaced while they are opened; then the new state is read.
_ATTEMPTS = 5


@dataclass(frozen=True, slots=True)
class Segment:
    """The posting lists of some texts."""

    keys: Keys
    terms: Hashes
    starts: Numbers
    texts: Numbers
    counts: Numbers

    def postings(self, term: int) -> tuple[Numbers, Numbers]:
        """Return the posting list of the term at a position in `terms`: texts, and the tf of each."""
        part = slice(int(self.starts[term]), int(self.starts[term + 1]))
        return self.texts[part], self.counts[part]

    def find(self, hashes: Hashes) -> NDArray[np.int64]:
        """Return the positions of terms in `terms`, -1 for an unknown term."""
        if not len(self.terms):
            return np.full(len(hashes), -1, np.int64)
        positions = np.minimum(np.searchsorted(self.terms, hashes), len(self.terms) - 1)
        return np.where(self.terms[positions] == hashes, positions, -1)


class SegmentBuilder:
    """Collects the terms of texts and makes a segment of them."""

    def __init__(self) -> None:
        self._vocabulary = _Vocabulary()
        self._terms = array("I")  # of all texts, one after another
        self._lengths = array("I")
        self._keys: list[bytes] = []

    @property
    def size(self) -> int:
        """How many terms the texts have, repetitions included."""
        return len(self._terms)

    def add(self, key: bytes, terms: Iterable[str]) -> None:
        """Add a text: its key, which is unique, and its terms in order."""
        before = len(self._terms)
        self._terms.extend(map(self._vocabulary.__getitem__, terms))
        self._lengths.append(len(self._terms) - before)
        self._keys.append(key)

    def segment(self) -> Segment:
        """Return the segment of all texts."""
        keys = as_keys(self._keys)
        order = np.argsort(heads(keys), kind="stable")
        number = np.empty(len(order), np.uint64)
        number[order] = np.arange(len(order), dtype=np.uint64)
        texts = np.repeat(number, np.frombuffer(self._lengths, np.uint32)) if self._keys else number
        hashes = np.array(self._vocabulary.hashes, np.uint64)[np.frombuffer(self._terms, np.uint32)]
        neighbours = np.flatnonzero(texts[1:] == texts[:-1])
        bigrams = _bigram_hashes(hashes[neighbours], hashes[neighbours + 1])
        return _assemble(
            keys[order], np.concatenate((hashes, bigrams)), np.concatenate((texts, texts[neighbours]))
        )


def term_hashes(terms: Sequence[str]) -> Hashes:
    """Return the hashes of terms, and of bigrams written `one other`."""
    parts = [[_hash(part) for part in term.split(BIGRAM_SEPARATOR)] for term in terms]
    single = np.array([each[0] for each in parts], np.uint64)
    other = np.array([each[-1] for each in parts], np.uint64)
    is_bigram = np.array([len(each) > 1 for each in parts], bool)
    return np.where(is_bigram, _bigram_hashes(single, other), single)


def _assemble(keys: Keys, hashes: Hashes, texts: NDArray[np.uint64]) -> Segment:
    """Sort postings into posting lists; equal ones are counted."""
    terms, which = np.unique(hashes, return_inverse=True)
    both = (which.astype(np.uint64) << _HALF) | texts  # term and text in one number sort as one
    both.sort()
    first = np.flatnonzero(np.concatenate(([True], both[1:] != both[:-1]))) if len(both) else which[:0]
    counts = np.diff(first, append=len(both))
    both = both[first]
    starts = np.searchsorted(both >> _HALF, np.arange(len(terms) + 1, dtype=np.uint64))
    numbers = (both & np.uint64(0xFFFFFFFF)).astype(np.int64)
    return Segment(keys, terms, starts.astype("<u4"), _narrow(numbers, len(keys)), _narrow(counts))


def _narrow(numbers: NDArray[Any], most: int = 0) -> Numbers:
    """Return numbers in the narrowest unsigned type that holds the largest of them."""
    largest = max(most, int(numbers.max(initial=0)))
    return numbers.astype(np.min_scalar_type(largest).newbyteorder("<"))


def _bigram_hashes(first: Hashes, second: Hashes) -> Hashes:
    """Return the hash of each bigram, which depends on the order of its two terms."""
    mixed = first * _STEP + second  # modulo 2⁶⁴
    mixed = (mixed ^ (mixed >> np.uint64(30))) * _MIX[0]
    mixed = (mixed ^ (mixed >> np.uint64(27))) * _MIX[1]
    return mixed ^ (mixed >> np.uint64(31))


def _hash(term: str) -> int:
    digest = hashlib.blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little")


class _Vocabulary(dict[str, int]):
    """Term → its number; unknown terms get the next one."""

    def __init__(self) -> None:
        super().__init__()
        self.hashes: list[int] = []

    def __missing__(self, term: str) -> int:
        number = self[term] = len(self)
        self.hashes.append(_hash(term))
        return number


@dataclass(frozen=True, slots=True)
class State:
    """The valid segments."""

    segments: tuple[int, ...] = ()  # their numbers
    covers: str = ""  # the generation whose symbols are all there, "" for none


def read_state(folder: Path) -> State:
    """Return the state of a folder; an empty one if it can't be read, or has another format."""
    try:
        stored = json.loads((folder / STATE).read_bytes())
        if stored["format"] == FORMAT_VERSION:
            return State(tuple(map(int, stored["segments"])), str(stored["covers"]))
    except (OSError, ValueError, TypeError, KeyError):
        pass
    return State()


def write_state(folder: Path, state: State) -> None:
    """Make these the valid segments, in one atomic step."""
    stored = {"format": FORMAT_VERSION, **asdict(state)}
    write_atomically(folder / STATE, json.dumps(stored).encode())


def write_segment(folder: Path, segment: Segment) -> int:
    """Write a segment and return its number, a new one; it is not valid before the state names it."""
    number = 1 + max((int(path.name.partition(".")[0]) for path in folder.glob(f"*{_ENDING}*")), default=0)
    for name in _ARRAYS:
        with open_atomically(_path(folder, number, name)) as file:
            np.save(file, getattr(segment, name), allow_pickle=False)
    return number


def open_segments(folder: Path) -> tuple[State, dict[int, Segment]]:
    """Memory-map the valid segments; those that can't be read are left out."""
    for _ in range(_ATTEMPTS):
        state = read_state(folder)
        opened = {number: segment for number in state.segments if (segment := _open(folder, number))}
        if len(opened) == len(state.segments) or read_state(folder) == state:
            break
    return state, opened


def _open(folder: Path, number: int) -> Segment | None:
    try:
        arrays = [np.load(_path(folder, number, name), mmap_mode="r") for name in _ARRAYS]
    except Exception:  # missing, or damaged: NumPy raises many kinds about a header
        return None
    # Plain arrays over the mapping: the subclass `memmap` makes every slice of it slower.
    return Segment(*map(np.asarray, arrays))


def remove_leftovers(folder: Path, state: State) -> None:
    """Remove segments that are not valid, and what killed writers left."""
    kept = {_path(folder, number, name).name for number in state.segments for name in _ARRAYS}
    for path in folder.glob(f"*{_ENDING}*"):
        if path.name not in kept:
            with contextlib.suppress(OSError):  # Windows can't remove files that are memory-mapped
                path.unlink()


def _path(folder: Path, number: int, array: str) -> Path:
    return folder / f"{number:06d}.{array}{_ENDING}"
