"""Rank fusion: the rankings of several lanes become one; ties keep the fixed order of lanes.

Each candidate keeps what every lane added to its score, so that the contributions always sum to it.

The default is `blend`, a linear combination around the cosine that was learned and is small enough to read:

    score = cosine + (words + long_words · length) · keyword
          + coverage · covered − name · named + graph · nearness

`keyword` is the BM25 score as a share of the best one (the TF-IDF lane, if requested, counts the
same); `covered` is the share of the query, weighted by IDF, that the code has; `named` is the same for the
symbol's name alone, which the encoder has read already; `length` grows to 1 with twenty terms: the longer a
query, the more its words can be trusted. The weights are part of a profile (profile.py); docs/RANKING.md says
how they were chosen, and what each is worth.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from dowse.lazy_classes import NamedTuple, dataclass, field
from dowse.search.lanes.bm25 import query_terms, without_language
from dowse.search.ranking.profile import BlendWeights
from dowse.storage.protocol import Reader
from dowse.types import Contribution, LaneScore

# The constant of reciprocal rank fusion: Cormack, Clarke and Büttcher, SIGIR 2009.
RRF_K = 60
# An intersection with fewer hits is filled up.
_MIN_INTERSECTION = 10
# A query of so many terms is a long one.
_LONG_QUERY_TERMS = 20
# Difference between the first and the last cosine of the shipped encoders; others are scaled to it.
_COSINE_RANGE = 0.28


class LaneRanking(NamedTuple):
    """The candidates of one lane, best first."""

    lane: str
    rows: Sequence[int]
    scores: Sequence[float]
    details: Sequence[str] = ()


@dataclass(slots=True)
class FusedCandidate:
    """A candidate: the contributions to its score, and its rank and score in each lane."""

    row: int
    contributions: list[Contribution] = field(default_factory=list)
    lanes: list[LaneScore] = field(default_factory=list)

    @property
    def score(self) -> float:
        """The sum of the contributions."""
        return sum(part.value for part in self.contributions)


def rrf(
    rankings: Sequence[LaneRanking], weights: Mapping[str, float] | None = None, k: int = RRF_K
) -> list[FusedCandidate]:
    """Reciprocal rank fusion: the sum over lanes of weight / (k + rank), best first."""
    candidates = collect(rankings)
    for each in candidates:
        for lane in each.lanes:
            value = (weights or {}).get(lane.lane, 1.0) / (k + lane.rank)
            each.contributions.append(Contribution(lane.lane, value, f"rank {lane.rank}"))
    return _sort(candidates)


def add_coverage(
    candidates: Sequence[FusedCandidate], coverage: Mapping[int, float], weight: float
) -> list[FusedCandidate]:
    """Add to sums of 1/rank the share of the query that the text of a candidate has.

    Ranks do not say how much of the query matches. The weight is a share of the range of scores.
    """
    scores = [each.score for each in candidates]
    unit = weight * (max(scores, default=0.0) - min(scores, default=0.0))
    for each in candidates:
        each.contributions += _share_contribution("coverage", unit, coverage.get(each.row), "of the words")
    return sorted(candidates, key=lambda each: -each.score)


def convex(rankings: Sequence[LaneRanking], weights: Mapping[str, float]) -> list[FusedCandidate]:
    """Convex combination: the weighted mean of the lanes' scores, normalised to 0 … 1."""
    candidates = collect(rankings)
    total = sum(weights.get(each.lane, 1.0) for each in rankings) or 1.0
    for each in candidates:
        for lane in each.lanes:
            share = weights.get(lane.lane, 1.0) / total
            each.contributions.append(Contribution(lane.lane, share * lane.normalised, f"rank {lane.rank}"))
    return _sort(candidates)


def intersection(rankings: Sequence[LaneRanking], order: str = "embedding") -> list[FusedCandidate]:
    """Return the candidates of keywords and embedding both, in the order of the embedding; at least ten.

    The score is the share of ranks below: there is nothing to add up.
    """
    candidates = collect(rankings)
    lanes = [each.lane for each in rankings]
    voters = [lane for lane in lanes if lane != "graph" or "embedding" not in lanes]
    guide = next((each.lane for each in rankings if each.lane == order), rankings[0].lane)
    ranked = [(lane.rank, each) for each in candidates for lane in each.lanes if lane.lane == guide]
    ranked.sort(key=lambda pair: pair[0])
    in_all = {each.row for each in candidates if {lane.lane for lane in each.lanes}.issuperset(voters)}
    agreed = [each for _, each in ranked if each.row in in_all]
    others = [each for _, each in ranked if each.row not in in_all]
    chosen = agreed + others[: max(0, _MIN_INTERSECTION - len(agreed))]
    for rank, each in enumerate(chosen):
        detail = f"found by {' and '.join(voters)}" if each.row in in_all else f"filled up from {guide}"
        each.contributions.append(Contribution(guide, 1 - rank / len(chosen), detail))
    return chosen


def blend(
    rankings: Sequence[LaneRanking],
    weights: BlendWeights,
    term_count: int,
    coverage: Mapping[int, float],
    name_coverage: Mapping[int, float],
    *,
    without_vector: Collection[int] = (),
    is_shipped_encoder: bool = True,
    limit: int | None = None,
) -> list[FusedCandidate]:
    """Combine lanes linearly around the cosines of the embedding lane; see the top of this file.

    Args:
        rankings: Of the lanes; one must be the embedding's.
        weights: The weight of each part.
        term_count: How many terms the query has.
        coverage: By row, the share of the query that its text has.
        name_coverage: By row, the share of the query that its name has.
        without_vector: Rows that the embedding lane can't know, unless they were encoded for this query.
        is_shipped_encoder: Whether the cosines are a shipped encoder's; others are scaled to their range.
        limit: Return only so many; the others would not be looked at.
    """
    nearest = next(each for each in rankings if each.lane == "embedding")
    # A candidate that the embedding lane did not return counts like the last one that it returned.
    lowest = min(nearest.scores, default=0.0) if is_shipped_encoder else 0.0
    cosines = dict(zip(nearest.rows, nearest.scores, strict=True))
    if not is_shipped_encoder:
        cosines = {
            row: _COSINE_RANGE * value for row, value in zip(nearest.rows, normalise(nearest), strict=True)
        }
    guess = _unknown_cosine(rankings, cosines, lowest, without_vector) if without_vector else lowest

    def cosine(row: int) -> float:
        return cosines.get(row, guess if row in without_vector else lowest)

    words = weights.words + weights.long_words * min(1.0, term_count / _LONG_QUERY_TERMS)
    lane_weights = {"keyword": words, "tfidf": words, "graph": weights.graph}
    scores = {row: cosine(row) for each in rankings for row in each.rows}
    for each in rankings:
        if each.lane != "embedding":
            for row, value in zip(each.rows, normalise(each), strict=True):
                scores[row] += lane_weights[each.lane] * value
    for weight, shares in ((weights.coverage, coverage), (-weights.name, name_coverage)):
        for row, share in shares.items():
            scores[row] += weight * share
    best = sorted(scores, key=scores.__getitem__, reverse=True)[:limit]  # stable: ties by lane and rank
    candidates = {each.row: each for each in collect(rankings, set(best) if limit else None)}
    for row in best:
        lanes = {lane.lane: lane for lane in candidates[row].lanes}
        near = lanes.get("embedding")
        rank = "no vector yet" if row in without_vector else f"not among the first {len(nearest.rows)}"
        rank = f"rank {near.rank}" if near else rank
        candidates[row].contributions = [
            Contribution("embedding", cosine(row), rank),
            *_lane_contributions(lanes, lane_weights),
            *_share_contribution("coverage", weights.coverage, coverage.get(row), "of the words"),
            *_share_contribution("name", -weights.name, name_coverage.get(row), "are in the name"),
        ]
    return [candidates[row] for row in best]


def _unknown_cosine(
    rankings: Sequence[LaneRanking],
    cosines: Mapping[int, float],
    lowest: float,
    without_vector: Collection[int],
) -> float:
    """Return the cosine that a candidate without a vector counts with: the lower quartile of the others'.

    The last one's would rank it too low: the others have the words that match best (docs/RANKING.md).
    """
    rows = {row for each in rankings if each.lane != "embedding" for row in each.rows}
    known = sorted(cosines.get(row, lowest) for row in rows if row in cosines or row not in without_vector)
    return known[len(known) // 4] if known else lowest


def _lane_contributions(
    lanes: Mapping[str, LaneScore], weights: Mapping[str, float]
) -> Iterator[Contribution]:
    for lane, weight in weights.items():
        if lane in lanes:
            detail = lanes[lane].detail or f"rank {lanes[lane].rank}"
            yield Contribution(lane, weight * lanes[lane].normalised, detail)


def _share_contribution(
    source: str, weight: float, share: float | None, words: str
) -> Iterator[Contribution]:
    if weight and share:
        yield Contribution(source, weight * share, f"{share:.0%} {words}")


def keep_first_in(rankings: Sequence[LaneRanking], lane: str) -> list[LaneRanking]:
    """Remove the candidates of one lane from the others, so that its order stays: e.g. a path's."""
    known = {row for each in rankings if each.lane == lane for row in each.rows}
    kept = []
    for each in rankings:
        pairs = [pair for pair in zip(each.rows, each.scores, strict=True) if pair[0] not in known]
        rows, scores = zip(*pairs, strict=True) if pairs else ((), ())
        kept.append(each if each.lane == lane else LaneRanking(each.lane, rows, scores))
    return kept


def collect(rankings: Iterable[LaneRanking], only: Collection[int] | None = None) -> list[FusedCandidate]:
    """Return every candidate once, or only some of them, in the order of the lanes and of their ranks."""
    candidates: dict[int, FusedCandidate] = {}
    for ranking in rankings:
        normalised = normalise(ranking)
        details = ranking.details or [""] * len(ranking.rows)
        entries = zip(ranking.rows, ranking.scores, normalised, details, strict=True)
        for rank, (row, score, share, detail) in enumerate(entries, 1):
            if only is not None and row not in only:
                continue
            if row not in candidates:
                candidates[row] = FusedCandidate(row)
            candidates[row].lanes.append(LaneScore(ranking.lane, rank, score, share, detail))
    return list(candidates.values())


def normalise(ranking: LaneRanking) -> list[float]:
    """Return scores from 0 to 1: min-max for cosines, a share of the best for all others.

    No word in common is worth nothing; a cosine of 0 is nothing special.
    """
    scores = ranking.scores
    if not scores:
        return []
    low = min(scores) if ranking.lane == "embedding" else 0.0
    span = max(scores) - low
    return [(score - low) / span if span > 0 else 1.0 for score in scores]


def _sort(candidates: list[FusedCandidate]) -> list[FusedCandidate]:
    return sorted(candidates, key=lambda each: -each.score)  # stable: ties stay as they were collected


def idf(document_frequency: int, total: int) -> float:
    """Return the inverse document frequency of a term, as in BM25 (Robertson and Spärck Jones, 1976).

    One is added inside the logarithm, as Lucene does, so that it is never negative.
    """
    return math.log(1 + (total - document_frequency + 0.5) / (document_frequency + 0.5))


def term_idf(reader: Reader, term: str) -> float:
    """Return the IDF of a term among the bodies of symbols."""
    return idf(reader.document_frequency(term, "body"), reader.symbol_count())


class QueryTerms:
    """The terms of a query text with their weights; coverage is looked up once for each symbol."""

    def __init__(self, reader: Reader, text: str, term_weights: Mapping[str, float] | None = None) -> None:
        self._reader, self._text, self._term_weights = reader, text, term_weights
        self._coverage: dict[int, float] = {}

    @cached_property
    def weights(self) -> dict[str, float]:
        """The IDF of each term as a share of the sum of all."""
        terms = self._term_weights or {
            term.text: 1.0 for term in query_terms(without_language(self._reader, self._text))
        }
        self._reader.prefetch_document_frequencies(terms, "body")
        weights = {term: weight * term_idf(self._reader, term) for term, weight in terms.items()}
        total = sum(weights.values()) or 1.0
        return {term: value / total for term, value in weights.items()}

    def coverage(self, rows: Sequence[int]) -> dict[int, float]:
        """Return, by row, the weight of the terms that the text of each symbol has: 1 where it has all."""
        missing = [row for row in rows if row not in self._coverage]
        known = self._reader.coverage(self.weights, missing)
        self._coverage.update((row, known.get(row, 0.0)) for row in missing)
        return {row: self._coverage[row] for row in rows}
