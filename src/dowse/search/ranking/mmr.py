"""Maximal marginal relevance (Carbonell and Goldstein, SIGIR 1998): hits that do not repeat others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dowse.search.ranking.reorder import reorder
from dowse.search.ranking.signals import RankedHit

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Lambda: the weight of relevance against similarity to the hits above.
WEIGHT = 0.7


def diversify_mmr(
    ranked: Sequence[RankedHit], vectors: NDArray[np.float32], weight: float = WEIGHT
) -> list[RankedHit]:
    """Take again and again the hit with the best relevance and the least similarity to those taken before.

    Args:
        ranked: All candidates.
        vectors: Unit vectors of the first ones; zeros where one has none.
        weight: From 0, dissimilarity alone, to 1, the order as it was.
    """
    order, similarities = mmr([hit.score for hit in ranked[: len(vectors)]], vectors, weight)
    return reorder(ranked, order, "diversity", [f"similarity {value:.2f}" for value in similarities])


def mmr(
    scores: Sequence[float], vectors: NDArray[np.float32], weight: float
) -> tuple[list[int], list[float]]:
    """Return an order, and the similarity of each to the nearest of those before it.

    Scores are normalised from 0 to 1 first, so that a weight means the same for any fusion.
    """
    import numpy as np

    low, high = min(scores, default=0.0), max(scores, default=0.0)
    relevance = np.array([(score - low) / (high - low or 1.0) for score in scores])
    nearest, left = np.zeros(len(relevance)), np.ones(len(relevance), bool)
    order: list[int] = []
    while left.any():
        value = weight * relevance - (1 - weight) * nearest
        chosen = int(np.argmax(np.where(left, value, -np.inf)))
        order.append(chosen)
        left[chosen] = False
        nearest[left] = np.maximum(nearest[left], (vectors @ vectors[chosen])[left])
    return order, [float(value) for value in nearest]
