"""Batched inference over token ids: batches of one length, on several threads, results in the input order.

All rows of a batch have the same length: nothing is padded, so no work is wasted and no mask is needed, and a
row's vector can't depend on the length of its neighbours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dowse.encoders.encoder import Vectors

Run = Callable[["NDArray[np.int64]"], "Vectors"]

# Rows × length of a batch: one row at a time is a fifth slower, 4,096 (more than the caches hold) a tenth.
BATCH_TOKENS = 512


def encode_batches(
    run: Run, sequences: Sequence[Sequence[int]], dimension: int, threads: int = 1, tokens: int = BATCH_TOKENS
) -> Vectors:
    """Return a row for every sequence; `run` is called from up to `threads` threads at once."""
    rows = np.empty((len(sequences), dimension), np.float32)

    def fill(batch: list[int]) -> None:
        rows[batch] = run(np.array([sequences[i] for i in batch], np.int64))

    batches = list(batches_by_length(sequences, tokens))
    if threads == 1 or len(batches) <= 1:
        for batch in batches:
            fill(batch)
    else:
        from concurrent.futures import ThreadPoolExecutor  # late: a query is one batch

        with ThreadPoolExecutor(min(threads, len(batches))) as pool:
            for _ in pool.map(fill, batches):
                pass
    return rows


def batches_by_length(sequences: Sequence[Sequence[int]], tokens: int = BATCH_TOKENS) -> Iterator[list[int]]:
    """Yield the positions of sequences of one length, the longest first, at most `tokens` ids together."""
    lengths = [len(sequence) for sequence in sequences]
    order = sorted(range(len(sequences)), key=lengths.__getitem__, reverse=True)
    batch: list[int] = []
    for i in order:
        if batch and (lengths[i] != lengths[batch[0]] or (len(batch) + 1) * lengths[i] > tokens):
            yield batch
            batch = []
        batch.append(i)
    if batch:
        yield batch


def normalise_rows(rows: Vectors) -> Vectors:
    """L2-normalise rows; a row of zeros stays."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return (rows / np.where(lengths > 0, lengths, 1)).astype(np.float32)
