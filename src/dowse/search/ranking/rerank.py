"""A second look at the first candidates, by a model too slow for all of them."""

from __future__ import annotations

from collections.abc import Sequence

from dowse.search.ranking.reorder import reordered
from dowse.search.ranking.signals import Ranked


def reranked(
    ranked: Sequence[Ranked], second: Sequence[float], weight: float, unit: float | None = None
) -> list[Ranked]:
    """Put the first candidates into the order of both scores; what a model did not see stays behind them."""
    mixed = mix([hit.score for hit in ranked[: len(second)]], second, weight, unit)
    order = sorted(range(len(second)), key=lambda n: -mixed[n])  # stable
    return reordered(ranked, order, "rerank", [f"{score:.3f}" for score in second])


def mix(
    first: Sequence[float], second: Sequence[float], weight: float, unit: float | None = None
) -> list[float]:
    """Return the weighted sum of two kinds of scores: a weight of 0 keeps the first order, 1 the second.

    Scores of different models have different scales. Where it is known what a point of the second is worth in
    the first, the sum is taken as it is: a candidate that leads by far keeps its lead. Else only how far one
    stands out among the candidates can be compared, so each kind is spread evenly around 0 before.
    """
    if unit is None:
        first, second, unit = _spread(first), _spread(second), 1.0
    return [(1 - weight) * a + weight * unit * b for a, b in zip(first, second, strict=True)]


def _spread(scores: Sequence[float]) -> list[float]:
    """Return scores with mean 0 and deviation 1; all 0 where they are equal."""
    if not scores:
        return []
    mean = sum(scores) / len(scores)
    deviation = (sum((score - mean) ** 2 for score in scores) / len(scores)) ** 0.5
    return [(score - mean) / deviation if deviation else 0.0 for score in scores]
