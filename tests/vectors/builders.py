"""Matrices for the tests, and what a search must give."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from dowse.vectors.keys import as_keys
from dowse.vectors.matrix import Matrix
from dowse.vectors.writer import matrix_writer


def build(folder: Path, vectors: np.ndarray, first: int = 0) -> Matrix:
    """Append vectors to the matrix in a folder, under keys that count on."""
    names = [number.to_bytes(16, "little") for number in range(first, first + len(vectors))]
    with matrix_writer(folder, vectors.shape[1]) as writer:
        writer.append(as_keys(names), vectors)
        writer.commit()
    return Matrix.open(folder, vectors.shape[1])


def sorted_cosines(
    matrix: Matrix, query: np.ndarray, mask: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return all allowed rows and their cosines, sorted by cosine and row."""
    rows = np.arange(len(matrix)) if mask is None else np.flatnonzero(mask)
    codes, scales = matrix.codes[rows].astype(np.float64), matrix.scales[rows]
    scores = ((codes @ (query / np.linalg.norm(query))) * scales).astype(np.float32)
    order = np.argsort(-scores, kind="stable")
    return rows[order], scores[order]


def grouped(count: int, dimension: int, groups: int, seed: int = 0) -> np.ndarray:
    """Return vectors around some centroids, as code is: many near to each other, the rest far."""
    random = np.random.default_rng(seed)
    centroids = random.standard_normal((groups, dimension))
    return centroids[random.integers(0, groups, count)] + 0.7 * random.standard_normal((count, dimension))
