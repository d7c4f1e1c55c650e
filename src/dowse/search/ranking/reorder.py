"""A new order for the first candidates whose contributions still sum to their scores."""

from __future__ import annotations

from collections.abc import Sequence

from dowse.search.ranking.signals import RankedHit
from dowse.types import Contribution


def reorder(
    ranked: Sequence[RankedHit], order: Sequence[int], source: str, details: Sequence[str]
) -> list[RankedHit]:
    """Put the first candidates into an order; the rest stay behind them.

    The scores by rank stay as they were: the candidate that comes first gets the highest, and what it gains
    or loses is one more contribution.

    Args:
        ranked: All candidates.
        order: Old ranks of the first ones, in their new order.
        source: The name of the contribution.
        details: What to say of each of the first ones, in their old order.
    """
    moved = []
    for rank, old_rank in enumerate(order):
        hit, score = ranked[old_rank], ranked[rank].score
        change = Contribution(source, score - hit.score, f"{details[old_rank]}, was rank {old_rank + 1}")
        moved.append(RankedHit(hit.row, score, [*hit.contributions, change]))
    return [*moved, *ranked[len(order) :]]
