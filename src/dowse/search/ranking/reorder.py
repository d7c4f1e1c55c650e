"""Another order for the first candidates, such that every score still adds up."""

from __future__ import annotations

from collections.abc import Sequence

from dowse.search.ranking.signals import Ranked
from dowse.types import Contribution


def reordered(ranked: Sequence[Ranked], order: Sequence[int], why: str, said: Sequence[str]) -> list[Ranked]:
    """Put the first candidates into an order; the rest stay behind them.

    The scores stay those that were there: the candidate that comes first gets the highest, and what it gained
    or lost by that is one more part of it.

    Args:
        ranked: All candidates.
        order: Places of the first ones, in their new order.
        why: What the part is called.
        said: What to say of each of the first ones, in their old order.
    """
    first = ranked[: len(order)]
    moved = [
        _moved(first[n], first[place].score, why, f"{said[n]}, was rank {n + 1}")
        for place, n in enumerate(order)
    ]
    return [*moved, *ranked[len(order) :]]


def _moved(hit: Ranked, score: float, why: str, said: str) -> Ranked:
    return Ranked(hit.row, score, [*hit.parts, Contribution(why, score - hit.score, said)])
