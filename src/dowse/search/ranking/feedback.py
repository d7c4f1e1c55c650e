"""Click feedback: move chosen hits up, within bounds; contributions still sum to scores.

For the same query, chosen hits come first, the most chosen before the others. For similar queries a hit
climbs only a few ranks, and never past one that is clearly better. The votes of one visitor alone lift less,
and never to the first rank.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from dowse.search.ranking.rerank import reorder
from dowse.search.ranking.signals import RankedHit
from dowse.types import Boost

# Only the first candidates are reordered: nobody has seen the others.
MAX_CANDIDATES = 100
# Ranks that a hit can climb because of similar queries, and because of one visitor alone.
MAX_CLIMB, MAX_CLIMB_ALONE = 5, 2
# A hit passes no other whose score is higher by more than this share of the best one: of those tried, the
# largest with which no set lost on queries that nobody had asked (docs/FEEDBACK.md says how it was chosen).
MARGIN = 0.05
# Votes that lift all the way: those of two visitors who are sure, for the same words.
FULL_VOTES = 2.0
# Votes of visitors other than the strongest that it takes to lift a hit to the first rank.
MIN_OTHER_VOTES = 0.2
# Ranks that a vote against a hit for the same query costs, and how many it can lose.
SINK_PER_VOTE, MAX_SINK = 5, 10


def apply_feedback(ranked: Sequence[RankedHit], boosts: Mapping[str, Boost]) -> list[RankedHit]:
    """Reorder the first candidates by their boosts, which are keyed by `Symbol.id`."""
    first = ranked[:MAX_CANDIDATES]
    known = [boosts.get(hit.row.key) for hit in first]
    if not any(known):
        return list(ranked)
    order = feedback_order(known, [hit.score for hit in first])
    details = [boost.detail if boost else "others were chosen before" for boost in known]
    moved = reorder(ranked, order, "feedback", details)
    # A hit without votes that keeps its rank needs no contribution.
    kept = [
        ranked[rank] if old == rank and known[old] is None else moved[rank] for rank, old in enumerate(order)
    ]
    return [*kept, *moved[len(order) :]]


def feedback_order(known: Sequence[Boost | None], scores: Sequence[float]) -> list[int]:
    """Return the new order of candidates with these boosts and scores, as their old ranks."""
    same = {n: boost.same for n, boost in enumerate(known) if boost and boost.same}
    chosen = sorted((n for n, votes in same.items() if votes > 0), key=lambda n: -same[n])
    others = [n for n in range(len(known)) if same.get(n, 0.0) <= 0]
    margin = MARGIN * max(map(abs, scores), default=0.0)
    other_scores = [scores[n] for n in others]
    keys = {n: _sort_key(rank, known[n], other_scores, margin) for rank, n in enumerate(others)}
    return [*chosen, *sorted(others, key=keys.__getitem__)]


def _sort_key(rank: int, boost: Boost | None, scores: Sequence[float], margin: float) -> tuple[int, int]:
    """Return the rank that a candidate aims at, and whether it goes before or after the one there."""
    if boost is None:
        return (rank, 1)
    if boost.same < 0:
        return (rank + min(MAX_SINK, math.ceil(SINK_PER_VOTE * -boost.same)), 2)
    best = 0 if boost.others >= MIN_OTHER_VOTES else min(rank, 1)
    target = max(best, rank - climb(boost))
    while target < rank and scores[target] - scores[rank] > margin:
        target += 1
    return (target, 0) if target < rank else (rank, 1)


def climb(boost: Boost) -> int:
    """Return how many ranks similar queries lift a symbol."""
    limit = MAX_CLIMB if boost.others >= MIN_OTHER_VOTES else MAX_CLIMB_ALONE
    return max(0, min(limit, math.ceil(MAX_CLIMB * boost.similar / FULL_VOTES)))
