"""What a snapshot holds, whatever kind of index it is taken from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dowse.types import FileRecord

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Codes = NDArray[np.int8]

# Vectors that travel together: a megabyte or so.
VECTORS_AT_ONCE = 4_096
# What describes one index only, and not what is in it.
_OWN = frozenset(["format", "generation", "cluster_transaction"])


@dataclass(frozen=True, slots=True)
class Encoded:
    """The vectors of one encoder: keys, and one signed byte a dimension, some at a time."""

    encoder: str
    dimension: int
    chunks: Callable[[], Iterator[tuple[Sequence[bytes], Codes]]]


@dataclass(frozen=True, slots=True)
class Content:
    """One source: a tree or a corpus, all of one generation."""

    slot: str  # what it is called where many are in one index
    meta: Mapping[str, str]
    skipped: Sequence[tuple[str, str]]
    counts: Mapping[str, int]  # files and symbols
    records: Callable[[], Iterator[FileRecord]]
    encoded: Sequence[Encoded] = field(default=())


def described(meta: Mapping[str, str]) -> dict[str, str]:
    """Return what describes the content, without what describes the index that it is taken from."""
    return {key: value for key, value in meta.items() if key not in _OWN}
