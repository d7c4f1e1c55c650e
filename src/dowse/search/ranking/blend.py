"""The default fusion: a cosine, and what words know that it does not. Learned, and small enough to read.

    score = cosine + (words + long_words · length) · keyword
          + coverage · covered − name · named + graph · nearness

`keyword` is the BM25 score as a share of the best one (the TF-IDF lane, where it is asked for, counts the
same); `covered` the share of the question that stands in the code, each term weighted by how rare it is;
`named` the same for the symbol's name alone, which the encoder has read already; `length` grows to 1 with
twenty terms: the longer a question, the more its words can be trusted. The weights are part of a profile
(search/ranking/profile.py); docs/RANKING.md says how they were chosen, and what each is worth.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from dowse.search.ranking.fusion import Fused, Ranking, gather, normalised
from dowse.search.ranking.profile import Blend
from dowse.types import Contribution

# A question of so many terms is a long one.
_LONG = 20
# How far the first and the last of some candidates are apart for the shipped encoders; the cosines of others
# are brought to that.
_USUAL_SPAN = 0.28


def blend(
    rankings: Sequence[Ranking],
    weights: Blend,
    terms: int,
    covered: Mapping[int, float],
    named: Mapping[int, float],
    *,
    own_scale: bool = True,
    most: int | None = None,
) -> list[Fused]:
    """Join lanes around the cosines of one of them.

    Args:
        rankings: Of the lanes; one must be the embedding's.
        weights: What each part counts.
        terms: How many terms the question has.
        covered: By row, the share of the question that its text has.
        named: By row, the share of the question that its name has.
        own_scale: Whether the cosines are a shipped encoder's.
        most: Return only so many; the others would not be looked at.
    """
    parts = _Parts(rankings, weights, terms, covered, named, own_scale)
    scores = parts.scores()
    best = sorted(scores, key=scores.__getitem__, reverse=True)[:most]  # stable: ties by lane and rank
    found = {each.row: each for each in gather(rankings, set(best) if most else None)}
    for row in best:
        found[row].parts = parts.of(found[row])
    return [found[row] for row in best]


class _Parts:
    """The addends of every candidate: as numbers for all of them, in words for those that are shown."""

    def __init__(
        self,
        rankings: Sequence[Ranking],
        weights: Blend,
        terms: int,
        covered: Mapping[int, float],
        named: Mapping[int, float],
        own_scale: bool,
    ) -> None:
        values = {each.lane: dict(zip(each.rows, normalised(each), strict=True)) for each in rankings}
        nearest = next(each for each in rankings if each.lane == "embedding")
        self._count = len(nearest.rows)
        # What meaning did not find counts as the last that it found.
        self._rest = min(nearest.scores, default=0.0) if own_scale else 0.0
        self._meaning: Mapping[int, float] = dict(zip(nearest.rows, nearest.scores, strict=True))
        if not own_scale:
            self._meaning = {row: _USUAL_SPAN * value for row, value in values["embedding"].items()}
        self._lanes = {lane: value for lane, value in values.items() if lane != "embedding"}
        words = weights.words + weights.long_words * min(1.0, terms / _LONG)
        self._worth = {"keyword": words, "tfidf": words, "graph": weights.graph}
        self._covered, self._named, self._weights = covered, named, weights
        self._rows = dict.fromkeys(row for each in rankings for row in each.rows)

    def scores(self) -> dict[int, float]:
        """Return the sum of the parts of each candidate, in the order of the lanes."""
        meaning, rest = self._meaning, self._rest
        scores = {row: meaning.get(row, rest) for row in self._rows}
        for lane, values in self._lanes.items():
            worth = self._worth[lane]
            for row, value in values.items():
                scores[row] += worth * value
        for share, shares in ((self._weights.coverage, self._covered), (-self._weights.name, self._named)):
            for row, value in shares.items():
                scores[row] += share * value
        return scores

    def of(self, candidate: Fused) -> list[Contribution]:
        """Return the same parts, each with what it comes from."""
        row, lanes = candidate.row, {lane.lane: lane for lane in candidate.lanes}
        near = lanes.get("embedding")
        rank = f"rank {near.rank}" if near else f"not among the first {self._count}"
        parts = [Contribution("embedding", self._meaning.get(row, self._rest), rank)]
        for lane, worth in self._worth.items():
            if lane in lanes:
                said = lanes[lane].detail or f"rank {lanes[lane].rank}"
                parts.append(Contribution(lane, worth * lanes[lane].normalised, said))
        for source, share, values, words in (
            ("coverage", self._weights.coverage, self._covered, "of the words"),
            ("name", -self._weights.name, self._named, "are in the name"),
        ):
            if share and values.get(row):
                parts.append(Contribution(source, share * values[row], f"{values[row]:.0%} {words}"))
        return parts


def rarity(frequency: int, total: int) -> float:
    """Return what knowing a term says, by how many of all symbols have it."""
    return math.log(1 + (total - frequency + 0.5) / (frequency + 0.5))
