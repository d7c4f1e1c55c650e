"""The content of a snapshot, whatever kind of index it is read from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dowse.types import FileRecord

if TYPE_CHECKING:
    from dowse.transfer.vector_frames import Codes

# Vectors of one frame: a megabyte or so.
VECTOR_BATCH = 4_096
# Metadata of one index, not of its content.
_INDEX_ONLY = frozenset(["format", "generation"])


@dataclass(frozen=True, slots=True)
class EncoderVectors:
    """The vectors of one encoder: batches of keys, and of codes with one signed byte a dimension."""

    encoder: str
    dimension: int
    batches: Callable[[], Iterator[tuple[Sequence[bytes], Codes]]]


@dataclass(frozen=True, slots=True)
class Content:
    """One source, a tree or a corpus, of one generation."""

    source: str  # its name where many are in one index
    meta: Mapping[str, str]
    skipped: Sequence[tuple[str, str]]
    counts: Mapping[str, int]  # files and symbols
    records: Callable[[], Iterator[FileRecord]]
    vectors: Sequence[EncoderVectors] = field(default=())


def content_meta(meta: Mapping[str, str]) -> dict[str, str]:
    """Return the metadata of the content, without that of the index it is read from."""
    return {key: value for key, value in meta.items() if key not in _INDEX_ONLY}
