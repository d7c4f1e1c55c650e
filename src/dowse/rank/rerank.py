"""A second look at the first candidates, by a model too slow for all of them."""

from __future__ import annotations

from collections.abc import Sequence

from dowse.rank.reorder import reordered
from dowse.rank.signals import Ranked


def reranked(ranked: Sequence[Ranked], second: Sequence[float], weight: float) -> list[Ranked]:
    """Put the first candidates into the order of both scores; what a model did not see stays behind them."""
    mixed = mix([hit.score for hit in ranked[: len(second)]], second, weight)
    order = sorted(range(len(second)), key=lambda n: -mixed[n])  # stable
    return reordered(ranked, order, "rerank", [f"{score:.3f}" for score in second])


def mix(first: Sequence[float], second: Sequence[float], weight: float) -> list[float]:
    """Return the weighted sum of two kinds of scores, each spread evenly around 0 first.

    Scores of different models have different scales: only how far one stands out among the candidates can be
    compared. A weight of 0 keeps the first order, 1 takes the second.
    """
    pairs = zip(_spread(first), _spread(second), strict=True)
    return [(1 - weight) * a + weight * b for a, b in pairs]


def _spread(scores: Sequence[float]) -> list[float]:
    """Return scores with mean 0 and deviation 1; all 0 where they are equal."""
    if not scores:
        return []
    mean = sum(scores) / len(scores)
    deviation = (sum((score - mean) ** 2 for score in scores) / len(scores)) ** 0.5
    return [(score - mean) / deviation if deviation else 0.0 for score in scores]
