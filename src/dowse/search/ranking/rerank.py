"""Reranking: a cross-encoder scores the first candidates again; it is too slow for all of them."""

from __future__ import annotations

from collections.abc import Sequence

from dowse.search.ranking.signals import RankedHit
from dowse.types import Contribution


def rerank(
    ranked: Sequence[RankedHit], cross_scores: Sequence[float], weight: float, unit: float | None = None
) -> list[RankedHit]:
    """Sort the first candidates by both scores; those that the cross-encoder did not score stay behind."""
    mixed = mix_scores([hit.score for hit in ranked[: len(cross_scores)]], cross_scores, weight, unit)
    order = sorted(range(len(cross_scores)), key=lambda n: -mixed[n])  # stable
    return reorder(ranked, order, "rerank", [f"{score:.3f}" for score in cross_scores])


def reorder(
    ranked: Sequence[RankedHit], order: Sequence[int], source: str, details: Sequence[str]
) -> list[RankedHit]:
    """Put the first candidates into an order, given as their old ranks; all others stay behind them.

    The scores by rank stay as they were: the candidate that comes first gets the highest, and what it gains
    or loses is one more contribution with this source, and with its detail from `details`, by old rank.
    """
    moved = []
    for rank, old_rank in enumerate(order):
        hit, score = ranked[old_rank], ranked[rank].score
        change = Contribution(source, score - hit.score, f"{details[old_rank]}, was rank {old_rank + 1}")
        moved.append(RankedHit(hit.row, score, [*hit.contributions, change]))
    return [*moved, *ranked[len(order) :]]


def mix_scores(
    first: Sequence[float], second: Sequence[float], weight: float, unit: float | None = None
) -> list[float]:
    """Return the weighted sum of two kinds of scores: a weight of 0 keeps the first order, 1 the second.

    Scores of different models have different scales. Where the unit of the second in terms of the first is
    known, the scores are summed as they are: a candidate that leads by far keeps its lead. Otherwise both are
    standardised to z-scores before.
    """
    if unit is None:
        first, second, unit = _z_scores(first), _z_scores(second), 1.0
    return [(1 - weight) * a + weight * unit * b for a, b in zip(first, second, strict=True)]


def _z_scores(scores: Sequence[float]) -> list[float]:
    """Return scores with mean 0 and deviation 1; all 0 where they are equal."""
    if not scores:
        return []
    mean = sum(scores) / len(scores)
    deviation = (sum((score - mean) ** 2 for score in scores) / len(scores)) ** 0.5
    return [(score - mean) / deviation if deviation else 0.0 for score in scores]
