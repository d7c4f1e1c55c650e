"""A second look at the first candidates, by a model too slow for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dowse.rank.signals import Ranked
from dowse.types import Contribution


def reranked(ranked: Sequence[Ranked], second: Sequence[float], weight: float) -> list[Ranked]:
    """Put the first candidates into the order of both scores; what a model did not see stays behind them.

    The scores stay those that were there: the candidate that comes first gets the highest, and what it
    gained or lost by that is one more part of it.
    """
    first = ranked[: len(second)]
    mixed = mix([hit.score for hit in first], second, weight)
    order = sorted(range(len(first)), key=lambda n: -mixed[n])  # stable
    moved = [
        _moved(first[n], first[place].score, f"{second[n]:.3f}, was rank {n + 1}")
        for place, n in enumerate(order)
    ]
    return [*moved, *ranked[len(second) :]]


def mix(first: Sequence[float], second: Sequence[float], weight: float) -> list[float]:
    """Return the weighted sum of two kinds of scores, each spread evenly around 0 first.

    Scores of different models have different scales: only how far one stands out among the candidates can be
    compared. A weight of 0 keeps the first order, 1 takes the second.
    """
    pairs = zip(_spread(first), _spread(second), strict=True)
    return [(1 - weight) * a + weight * b for a, b in pairs]


def _moved(hit: Ranked, score: float, said: str) -> Ranked:
    return replace(hit, score=score, parts=[*hit.parts, Contribution("rerank", score - hit.score, said)])


def _spread(scores: Sequence[float]) -> list[float]:
    """Return scores with mean 0 and deviation 1; all 0 where they are equal."""
    if not scores:
        return []
    mean = sum(scores) / len(scores)
    deviation = (sum((score - mean) ** 2 for score in scores) / len(scores)) ** 0.5
    return [(score - mean) / deviation if deviation else 0.0 for score in scores]
