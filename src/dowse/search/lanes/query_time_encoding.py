"""Encoding at query time: vectors for the best keyword candidates of a query that have none yet.

In a tree that was never searched before, nothing is embedded. A query needs the cosines of few symbols: those
that its words find. They are encoded by the table that approximates the encoder, which takes milliseconds;
without such a table by the encoder itself, within a time budget, the best first.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dowse.config import cache_folder
from dowse.lazy_classes import NamedTuple, dataclass
from dowse.search.lanes.bm25 import keyword_lane

if TYPE_CHECKING:
    from dowse.encoders.encoder import Encoder
    from dowse.storage.protocol import Floats, Reader

# Candidates whose vectors are looked for: all travel from the lane's process.
MAX_CANDIDATES = 1_000
# So many of a query's best candidates by words are encoded for it, and within this time, the best first, if
# no table approximates the encoder.
MAX_ENCODED, ENCODING_SECONDS = 200, 1.0
# Symbols between two looks at the clock: the first batch tells how fast the encoder is.
_FIRST_BATCH, _BATCH = 8, 64


class EncodingBudget(NamedTuple):
    """What may be encoded for one query."""

    keyword_arguments: Mapping[str, Any]  # of the keyword lane, whose candidates are encoded
    symbols: int
    seconds: float  # of an encoder without a table
    view: str = "symbol"  # what is encoded of a symbol


@dataclass(frozen=True, slots=True)
class QueryTimeVectors:
    """The vectors of candidates that the index has none for."""

    rows: tuple[int, ...]
    keys: tuple[bytes, ...]  # of each row; equal symbols share one
    vectors: Floats  # of each row
    encoded: int = 0  # keys that were encoded; the others were in the cache
    missing: int = 0  # keyword candidates that still have no vector
    is_approximate: bool = False  # whether they were encoded by the table of the encoder


def encode_candidates(reader: Reader, encoder: Encoder, budget: EncodingBudget) -> QueryTimeVectors | None:
    """Return vectors of keyword candidates without one, the best first; None if all have one.

    The cache of all indexes is read for every candidate; `budget` limits what is encoded.
    """
    import numpy as np

    from dowse.encoders.registry import load_approximation
    from dowse.vectors.cache import VectorCache
    from dowse.vectors.files import approximation_of
    from dowse.vectors.quantize import quantise, restore

    candidates = keyword_lane(reader, **budget.keyword_arguments).rows
    missing = reader.without_vector(encoder.id, candidates)
    # Corpora keep the encoder itself: the table was measured in trees alone.
    table = load_approximation(encoder, budget.view) if missing and not reader.is_corpus else None
    if table and reader.has_approximate_vectors(encoder.id):
        missing = reader.without_vector(approximation_of(encoder.id), [row for row, _ in missing])
    if not missing:
        return None
    row_by_key = {key: row for row, key in reversed(missing)}
    with VectorCache(cache_folder() / "vectors", encoder.id, encoder.dimension, wait=0.0) as cache:
        known = cache.get_many(list(row_by_key))
    unknown = [key for _, key in missing if key not in known]
    chosen = list(dict.fromkeys(unknown))[: budget.symbols]
    encoded = 0
    for batch in [chosen] if table else _batches(chosen, budget.seconds):
        documents = reader.documents([row_by_key[key] for key in batch])
        # As they will come back from the index, so that the answer stays the same.
        vectors = restore(*quantise((table or encoder).encode_documents(documents)))
        known.update(zip(batch, vectors, strict=True))
        encoded += len(batch)
    pairs = [(row, key) for row, key in missing if key in known]
    return QueryTimeVectors(
        tuple(row for row, _ in pairs),
        tuple(key for _, key in pairs),
        np.stack([known[key] for _, key in pairs]) if pairs else np.zeros((0, encoder.dimension), np.float32),
        encoded,
        len(missing) - len(pairs),
        is_approximate=bool(table and encoded),
    )


def _batches(keys: Sequence[bytes], seconds: float) -> Iterator[Sequence[bytes]]:
    """Yield batches while the next one can be expected to end within the time."""
    started, done, size = time.monotonic(), 0, _FIRST_BATCH
    while done < len(keys):
        yield keys[done : done + size]
        done += min(size, len(keys) - done)
        elapsed = time.monotonic() - started
        size = min(_BATCH, int((seconds - elapsed) * done / max(elapsed, 1e-6)))
        if size < 1:
            return
