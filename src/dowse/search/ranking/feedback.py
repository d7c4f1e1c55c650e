"""What was chosen before comes first, within bounds; scores still add up.

For the same question, what was chosen comes first, the most chosen before the rest. For similar questions a
hit may only climb a few places, and never past one that is clearly better: so nothing is buried, and what
stands out stays where it is. What one visitor alone says lifts less, and never to the first place.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from dowse.search.ranking.reorder import reordered
from dowse.search.ranking.signals import Ranked
from dowse.types import Boost

# Only the first candidates are put in order: nobody has seen the others.
REACH = 100
# Places that a hit can climb because of similar questions, and because of one visitor alone.
PLACES, PLACES_ALONE = 5, 2
# It passes no hit whose score is higher by more than this share of the best one: of those tried, the largest
# with which no set's questions that nobody had asked lost (docs/FEEDBACK.md says on what it was chosen).
MARGIN = 0.05
# Votes that lift all the way: those of two visitors who are sure, for the same words.
FULL = 2.0
# What visitors other than the loudest must say together to make a hit the first.
SECONDED = 0.2
# Places that a vote against a hit for the same question costs it, and how many it can lose.
SINK, MOST_SINK = 5, 10


def with_feedback(ranked: Sequence[Ranked], boosts: Mapping[str, Boost]) -> list[Ranked]:
    """Put the first candidates into the order that choices ask for.

    Args:
        ranked: All candidates, best first.
        boosts: By `Symbol.id`.
    """
    first = ranked[:REACH]
    known = [boosts.get(hit.row.key) for hit in first]
    if not any(known):
        return list(ranked)
    order = places(known, [hit.score for hit in first])
    said = [boost.detail if boost else "others were chosen before" for boost in known]
    moved = reordered(ranked, order, "feedback", said)
    return [
        ranked[place] if n == place and known[n] is None else moved[place] for place, n in enumerate(order)
    ] + moved[len(order) :]


def places(known: Sequence[Boost | None], scores: Sequence[float]) -> list[int]:
    """Return the new order of candidates, as their old places.

    Args:
        known: What choices say of each, best candidate first.
        scores: Of each.
    """
    same = {n: boost.same for n, boost in enumerate(known) if boost and boost.same}
    chosen = sorted((n for n, votes in same.items() if votes > 0), key=lambda n: -same[n])
    rest = [n for n in range(len(known)) if same.get(n, 0.0) <= 0]
    margin = MARGIN * max(map(abs, scores), default=0.0)
    left = [scores[n] for n in rest]
    keys = {n: _key(at, known[n], left, margin) for at, n in enumerate(rest)}
    return [*chosen, *sorted(rest, key=keys.__getitem__)]


def _key(at: int, boost: Boost | None, scores: Sequence[float], margin: float) -> tuple[int, int]:
    """Return the place a candidate aims at, and whether it goes before or after what stands there."""
    if boost is None:
        return (at, 1)
    if boost.same < 0:
        return (at + min(MOST_SINK, math.ceil(SINK * -boost.same)), 2)
    best = 0 if boost.others >= SECONDED else min(at, 1)
    lifted = max(best, at - lift(boost))
    while lifted < at and scores[lifted] - scores[at] > margin:
        lifted += 1
    return (lifted, 0) if lifted < at else (at, 1)


def lift(boost: Boost) -> int:
    """Return how many places similar questions lift a symbol."""
    most = PLACES if boost.others >= SECONDED else PLACES_ALONE
    return max(0, min(most, math.ceil(PLACES * boost.similar / FULL)))
