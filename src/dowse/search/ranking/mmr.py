"""Maximal marginal relevance (Carbonell and Goldstein, 1998): good answers that do not repeat each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dowse.search.ranking.reorder import reordered
from dowse.search.ranking.signals import Ranked

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# What relevance counts against likeness to what already stands above.
WEIGHT = 0.7


def diversified(
    ranked: Sequence[Ranked], vectors: NDArray[np.float32], weight: float = WEIGHT
) -> list[Ranked]:
    """Take next, again and again, what is best and least like what was taken.

    Args:
        ranked: All candidates.
        vectors: Unit vectors of the first ones; zeros where one has none.
        weight: From 0, likeness alone, to 1, the order as it was.
    """
    order, likeness = mmr([hit.score for hit in ranked[: len(vectors)]], vectors, weight)
    return reordered(ranked, order, "diversity", [f"likeness {value:.2f}" for value in likeness])


def mmr(
    scores: Sequence[float], vectors: NDArray[np.float32], weight: float
) -> tuple[list[int], list[float]]:
    """Return an order, and how like each is to the nearest of those before it.

    Scores are spread from 0 to 1 first, so that a weight means the same for any way of scoring.
    """
    import numpy as np

    low, high = min(scores, default=0.0), max(scores, default=0.0)
    relevance = np.array([(score - low) / (high - low or 1.0) for score in scores])
    nearest, left = np.zeros(len(relevance)), np.ones(len(relevance), bool)
    order: list[int] = []
    while left.any():
        worth = weight * relevance - (1 - weight) * nearest
        chosen = int(np.argmax(np.where(left, worth, -np.inf)))
        order.append(chosen)
        left[chosen] = False
        nearest[left] = np.maximum(nearest[left], (vectors @ vectors[chosen])[left])
    return order, [float(value) for value in nearest]
