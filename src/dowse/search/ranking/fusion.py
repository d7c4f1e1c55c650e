"""Several rankings become one. Pure functions; equal scores keep the fixed order of the lanes.

Each candidate keeps what every lane added to its score, so that the parts always sum to it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from dowse.types import Contribution, LaneScore

# What ranks are softened by in reciprocal rank fusion: Cormack, Clarke and Büttcher, SIGIR 2009.
RRF_K = 60
# Below so many that all lanes agree on, an intersection is filled up.
_ENOUGH = 10


class Ranking(NamedTuple):
    """What one lane found, best first."""

    lane: str
    rows: Sequence[int]
    scores: Sequence[float]
    details: Sequence[str] = ()


@dataclass(slots=True)
class Fused:
    """A candidate: what its score is made of, and where each lane put it."""

    row: int
    parts: list[Contribution] = field(default_factory=list)
    lanes: list[LaneScore] = field(default_factory=list)

    @property
    def score(self) -> float:
        """Return the sum of the parts."""
        return sum(part.value for part in self.parts)


def rrf(
    rankings: Sequence[Ranking], weights: Mapping[str, float] | None = None, k: int = RRF_K
) -> list[Fused]:
    """Return the sum over lanes of weight / (k + rank), best first."""
    found = gather(rankings)
    for each in found:
        for lane in each.lanes:
            worth = (weights or {}).get(lane.lane, 1.0) / (k + lane.rank)
            each.parts.append(Contribution(lane.lane, worth, f"rank {lane.rank}"))
    return _ordered(found)


def convex(rankings: Sequence[Ranking], weights: Mapping[str, float]) -> list[Fused]:
    """Return the mean of the lanes' scores, normalised to 0 … 1, by the weights of the lanes."""
    found = gather(rankings)
    total = sum(weights.get(each.lane, 1.0) for each in rankings) or 1.0
    for each in found:
        for lane in each.lanes:
            share = weights.get(lane.lane, 1.0) / total
            each.parts.append(Contribution(lane.lane, share * lane.normalised, f"rank {lane.rank}"))
    return _ordered(found)


def intersection(rankings: Sequence[Ranking], order: str = "embedding") -> list[Fused]:
    """Return what words and meaning both found, in the order of meaning; below ten, filled up from there.

    The score is the share of places below it: there is nothing to add up.
    """
    found = gather(rankings)
    lanes = [each.lane for each in rankings]
    judges = [lane for lane in lanes if lane != "graph" or "embedding" not in lanes]
    guide = next((each.lane for each in rankings if each.lane == order), rankings[0].lane)
    ranked = [(lane.rank, each) for each in found for lane in each.lanes if lane.lane == guide]
    ranked.sort(key=lambda pair: pair[0])
    in_all = {each.row for each in found if {lane.lane for lane in each.lanes}.issuperset(judges)}
    agreed = [each for _, each in ranked if each.row in in_all]
    others = [each for _, each in ranked if each.row not in in_all]
    chosen = agreed + others[: max(0, _ENOUGH - len(agreed))]
    for place, each in enumerate(chosen):
        said = f"found by {' and '.join(judges)}" if each.row in in_all else f"filled up from {guide}"
        each.parts.append(Contribution(guide, 1 - place / len(chosen), said))
    return chosen


def left_to(rankings: Sequence[Ranking], lane: str) -> list[Ranking]:
    """Take what one lane found out of the others, so that its order stays: the steps of a path, say."""
    known = {row for each in rankings if each.lane == lane for row in each.rows}
    kept = []
    for each in rankings:
        pairs = [pair for pair in zip(each.rows, each.scores, strict=True) if pair[0] not in known]
        rows, scores = zip(*pairs, strict=True) if pairs else ((), ())
        kept.append(each if each.lane == lane else Ranking(each.lane, rows, scores))
    return kept


def gather(rankings: Iterable[Ranking], only: Collection[int] | None = None) -> list[Fused]:
    """Return every candidate once, or only some of them, in the order of the lanes and of their ranks."""
    found: dict[int, Fused] = {}
    for ranking in rankings:
        normal = normalised(ranking)
        details = ranking.details or [""] * len(ranking.rows)
        pairs = zip(ranking.rows, ranking.scores, normal, details, strict=True)
        for rank, (row, score, share, detail) in enumerate(pairs, 1):
            if only is not None and row not in only:
                continue
            if row not in found:
                found[row] = Fused(row)
            found[row].lanes.append(LaneScore(ranking.lane, rank, score, share, detail))
    return list(found.values())


def normalised(ranking: Ranking) -> list[float]:
    """Return scores from 0 to 1: cosines between the last and the first, others as shares of the best.

    No word in common is worth nothing; a cosine of nought is nothing special.
    """
    scores = ranking.scores
    if not scores:
        return []
    low = min(scores) if ranking.lane == "embedding" else 0.0
    span = max(scores) - low
    return [(score - low) / span if span > 0 else 1.0 for score in scores]


def _ordered(found: list[Fused]) -> list[Fused]:
    return sorted(found, key=lambda each: -each.score)  # stable: ties stay as they were gathered
