"""Making the lists of the approximate search, keeping them up, and measuring what they find."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from dowse.vectors.exact import exact_top
from dowse.vectors.ivf import ApproxIndex, approx_top, load, save
from dowse.vectors.kmeans import kmeans, matrix_centres, matrix_labels, nearest_centres
from dowse.vectors.matrix import Matrix, blocks
from dowse.vectors.quantize import Bits, Floats, Rows

# From so many rows on, the approximate search is worth having.
APPROX_FROM = 100_000
# Rows in a list, on average; shorter lists choose more finely and cost more calls.
_LIST_ROWS = 500
# Steps of k-means: most of the build time, and later ones move few rows.
_ITERATIONS = 8
# The share of the nearest rows that the taken lists must hold; the bits lose another percent.
_IN_LISTS = 0.979
_DEPTHS = (10, 100, 1000)
_HELD_OUT = 200
# Held-out queries, where none are given, are rows turned away by noise until their cosine with
# themselves is this: about that of a text and the code it describes, so that lists that suffice for
# them suffice for texts.
_NOISY_COSINE = 0.5
# New rows are put into lists when they are this share of all; the centres are fitted anew when
# there are this many times as many rows as when they were fitted.
_TAIL_SHARE = 0.05
_REFIT_GROWTH = 2.0
_BIT_ROWS = 16_384


def refresh(matrix: Matrix, queries: Callable[[], Floats] | None = None) -> ApproxIndex:
    """Make, extend or leave the lists of a matrix, as its size wants; hold its lock meanwhile.

    Args:
        matrix: The matrix, which has been committed.
        queries: Gives vectors such as will be asked for, to measure with; called only if lists are made anew.
    """
    index = load(matrix)
    if index is not None and len(matrix) <= _REFIT_GROWTH * index.fitted:
        if len(matrix) - len(index) <= _TAIL_SHARE * len(matrix):
            return index
        index = extend(index, matrix)
    else:
        index = fit(matrix, queries() if queries else None)
    save(index, matrix)
    return index


def fit(
    matrix: Matrix, queries: Floats | None = None, *, lists: int | None = None, seed: int = 0
) -> ApproxIndex:
    """Make lists for all rows, and measure how many of them a search has to take."""
    lists = lists or max(1, len(matrix) // _LIST_ROWS)
    centres = _neighbourly(matrix_centres(matrix, lists, seed, iterations=_ITERATIONS))
    labels, cosines = matrix_labels(matrix, centres)
    sizes = np.bincount(labels, minlength=len(centres))
    random = np.random.default_rng(seed)
    rotation = random_rotation(matrix.dimension, random)
    everything = np.array([len(centres)])
    index = ApproxIndex(
        centres=centres,
        starts=_starts(sizes),
        order=np.argsort(labels, kind="stable").astype(np.uint32),
        bits=np.empty((0, 0), np.uint8),
        rotation=rotation,
        lengths=(np.bincount(labels, cosines, len(centres)) / np.maximum(sizes, 1)).astype(np.float32),
        depths=np.array([1]),
        probes=everything,
        recall=0.0,
        fitted=len(matrix),
        last_key=matrix.key(len(matrix) - 1).hex(),
    )
    index = replace(index, bits=_row_bits(index, matrix, labels)[index.order])
    asked = noisy_rows(matrix, _HELD_OUT, random) if queries is None else queries[:_HELD_OUT]
    depths, probes = _measure_probes(index, matrix, asked, labels)
    index = replace(index, depths=depths, probes=probes)
    return replace(index, recall=recall(index, matrix, asked))


def extend(index: ApproxIndex, matrix: Matrix) -> ApproxIndex:
    """Put the rows that came after the lists were made into them."""
    covered = len(index)
    old = np.empty(covered, np.int64)
    old[index.order] = np.repeat(np.arange(len(index.centres)), np.diff(index.starts))
    new = matrix_labels(matrix, index.centres, covered)[0]
    labels = np.concatenate([old, new])
    bits = np.empty((len(matrix), index.bits.shape[1]), np.uint8)
    bits[index.order] = index.bits
    bits[covered:] = _row_bits(index, matrix, new)
    order = np.argsort(labels, kind="stable")
    return replace(
        index,
        starts=_starts(np.bincount(labels, minlength=len(index.centres))),
        order=order.astype(np.uint32),
        bits=bits[order],
        last_key=matrix.key(len(matrix) - 1).hex(),
    )


def recall(index: ApproxIndex, matrix: Matrix, queries: Floats, k: int = 100) -> float:
    """Return the share of the k nearest rows that the approximate search finds, over some queries."""
    k = min(k, len(matrix))
    shares = [
        np.isin(exact_top(matrix, query, k).rows, approx_top(index, matrix, query, k).rows).mean()
        for query in queries
    ]
    return float(np.mean(shares)) if shares else 1.0


def noisy_rows(matrix: Matrix, count: int, random: np.random.Generator) -> Floats:
    """Return queries that are about as far from the rows as texts are from code."""
    chosen = random.choice(len(matrix), min(count, len(matrix)), replace=False)
    rows = matrix.rows(np.sort(chosen))
    noise = random.standard_normal(rows.shape, np.float32)
    noise /= np.linalg.norm(noise, axis=1, keepdims=True)
    return _NOISY_COSINE * rows + np.float32(np.sqrt(1 - _NOISY_COSINE**2)) * noise


def random_rotation(dimension: int, random: np.random.Generator) -> Floats:
    """Return a rotation, any as likely as any other."""
    turned, upper = np.linalg.qr(random.standard_normal((dimension, dimension)))
    rotation: Floats = (turned * np.sign(np.diag(upper))).astype(np.float32)
    return rotation


def _measure_probes(index: ApproxIndex, matrix: Matrix, queries: Floats, labels: Rows) -> tuple[Rows, Rows]:
    """Return depths, and how many lists hold nearly all of so many nearest rows."""
    depths = np.unique(np.minimum(_DEPTHS, len(matrix)))
    ranks = np.empty((len(queries), depths[-1]), np.int64)
    for number, query in enumerate(queries):
        by_nearness = np.argsort(-(index.centres @ query), kind="stable")
        rank_of_list = np.empty(len(by_nearness), np.int64)
        rank_of_list[by_nearness] = np.arange(len(by_nearness))
        ranks[number] = rank_of_list[labels[exact_top(matrix, query, int(depths[-1])).rows]]
    probes = [1 + int(np.quantile(ranks[:, :depth], _IN_LISTS, method="higher")) for depth in depths]
    return depths, np.maximum.accumulate(probes)


def _neighbourly(centres: Floats) -> Floats:
    """Order centres so that near ones often follow each other: their lists are then read in one piece."""
    groups = kmeans(centres, int(np.sqrt(len(centres))))
    return centres[np.argsort(nearest_centres(centres, groups)[0], kind="stable")]


def _starts(sizes: Rows) -> Rows:
    """Return where each list begins when they follow each other, and the end."""
    return np.concatenate([[0], np.cumsum(sizes)])


def _row_bits(index: ApproxIndex, matrix: Matrix, labels: Rows) -> Bits:
    """Return the bits of the last rows, whose lists are given."""
    first = len(matrix) - len(labels)
    bits = np.empty((len(labels), -(-matrix.dimension // 8)), np.uint8)
    for part in blocks(len(bits), _BIT_ROWS):
        rows = matrix.rows(np.arange(first + part.start, first + part.stop))
        bits[part] = index.signs(rows, labels[part])
    return bits
