"""Batches: every sequence once, one length each, bounded, results in order."""

from __future__ import annotations

import threading

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dowse.encoders.batching import batches_by_length, encode_batches, normalise_rows


@given(st.lists(st.integers(1, 30), max_size=60), st.integers(1, 100))
def test_batches_hold_every_sequence_once(lengths: list[int], tokens: int) -> None:
    sequences = [[0] * length for length in lengths]
    batches = list(batches_by_length(sequences, tokens))
    assert sorted(place for batch in batches for place in batch) == list(range(len(lengths)))
    for batch in batches:
        assert len({lengths[place] for place in batch}) == 1
        assert len(batch) == 1 or len(batch) * lengths[batch[0]] <= tokens


@given(st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=9), max_size=40), st.integers(1, 4))
def test_rows_come_in_the_order_given(sequences: list[list[int]], threads: int) -> None:
    rows = encode_batches(
        lambda ids: ids.sum(axis=1, keepdims=True).astype(np.float32), sequences, 1, threads
    )
    assert rows[:, 0].tolist() == [sum(sequence) for sequence in sequences]


def test_several_threads_work_at_once() -> None:
    both = threading.Barrier(2, timeout=20)

    def run(ids: np.ndarray) -> np.ndarray:
        both.wait()  # breaks unless a second thread comes
        return ids[:, :1].astype(np.float32)

    assert encode_batches(run, [[1] * 300, [2] * 400], 1, threads=2)[:, 0].tolist() == [1, 2]


def test_unit_keeps_zeros() -> None:
    assert normalise_rows(np.array([[3, 4], [0, 0]], np.float32)).tolist() == [
        [np.float32(0.6), np.float32(0.8)],
        [0, 0],
    ]
