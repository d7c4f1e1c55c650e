"""The probability that a hit answers the question, and when to say that none does.

A score says which hit is better, not whether the best one answers: something is always nearest. The
probability comes from a logistic regression over what the lanes say of a hit:

    confidence = 1 / (1 + exp(−(bias + Σ weight · evidence)))

and no hit has a higher one than a hit above it. The weights were fitted by `bench/confidence.py fit`, which
says on what; bench/results/confidence.json has how far they hold elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from dowse.search.context import Candidates, Ranking, SearchContext
from dowse.search.lanes.embedding_result import AdaptedResult
from dowse.search.ranking.signals import RankedHit
from dowse.types import Note


class Evidence(NamedTuple):
    """What is known of a hit; of the weights: what each is worth."""

    bias: float  # 1
    cosine: float  # that of its lane's last candidate, if the lane did not return it
    covered: float  # share of the question's words that the symbol's text has, by IDF
    terms: float  # ln(1 + the number of the question's words)
    embedding_rank: float  # ln of the rank in the lane; one past its last, if the lane did not return it
    lead: float  # over the next hit, as a share of the best score, times the cosine
    rank: float  # ln of the rank


# By the encoder's id, for trees and for corpora: another model, or another view, has other cosines.
CONFIDENCE_WEIGHTS = {
    "base-8bfd8b952a73": (
        Evidence(-4.63, 1.34, 2.4, 1.07, -0.24, 4.59, -0.39),
        Evidence(-4.33, 5.32, 0.5, 0.14, -0.61, 8.89, -1.41),
    ),
    "small-e33d0049c6f6": (
        Evidence(-4.64, 2.03, 2.78, 0.96, -0.16, 3.82, -0.48),
        Evidence(-4.4, 5.47, 0.54, 0.17, -0.62, 9.2, -1.47),
    ),
}
# Where no hit is more likely to answer than this, the answer is that none does.
# Of the right first hits that the weights were fitted on, three in a hundred are below.
ABSTAIN = 0.12
# The note of such an answer.
NOTHING_RELEVANT = Note("nothing-relevant", "nothing relevant here, it seems; these are only the nearest")


def hit_confidences(
    context: SearchContext,
    candidates: Candidates,
    ranking: Ranking,
    hits: Sequence[RankedHit],
    count: int | None = None,
) -> dict[int, float]:
    """Return the confidence of the first hits; of none if the encoder is unknown or has not answered."""
    weights = CONFIDENCE_WEIGHTS.get(context.encoder.id) if context.encoder else None
    # Expansion terms cover more than the query itself.
    if weights is None or not hits or candidates.expansion:
        return {}
    found: dict[int, float] = {}
    lowest = 1.0
    for row, evidence in evidence_of(context, candidates, ranking, hits, count):
        lowest = found[row] = min(lowest, confidence(weights[context.reader.is_corpus], evidence))
    return found


def evidence_of(
    context: SearchContext,
    candidates: Candidates,
    ranking: Ranking,
    hits: Sequence[RankedHit],
    count: int | None,
) -> Iterator[tuple[int, Evidence]]:
    """Yield what is known of the first hits, best first, but not of facts and of symbols without a vector."""
    nearest = next((each.result for each in candidates.outcomes if each.lane == "embedding"), None)
    if nearest is None:
        return
    scores = nearest.plain_scores if isinstance(nearest, AdaptedResult) else nearest.scores
    cosines = dict(zip(nearest.rows, scores, strict=True))
    lowest = min(scores, default=0.0)
    ranks = {row: rank for rank, row in enumerate(nearest.rows, 1)}
    located = {each.row.row for each in ranking.located}  # facts, whatever their words
    rows = [hit.row.row for hit in hits[:count] if hit.row.row not in located]
    without_vector = context.rows_without_vector([row for row in rows if row not in cosines])
    coverage, terms = ranking.terms.coverage(rows), math.log1p(len(ranking.terms.weights))
    best = max(1e-9, *(hit.score for hit in hits))
    below = [hit.score for hit in hits[1:]] + [hits[-1].score]
    for place, (hit, next_score) in enumerate(zip(hits[:count], below, strict=False), 1):
        row = hit.row.row
        if row not in located and row not in without_vector:
            cosine, lead = cosines.get(row, lowest), max(0.0, hit.score - next_score) / best
            rank = math.log(ranks.get(row, len(ranks) + 1))
            yield (
                row,
                Evidence(1.0, cosine, coverage[row], terms, rank, lead * max(0.0, cosine), math.log(place)),
            )


def confidence(weights: Evidence, evidence: Evidence) -> float:
    """Return the probability that a hit answers."""
    total = sum(weight * value for weight, value in zip(weights, evidence, strict=True))
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))


def is_nothing(confidences: Iterable[float | None]) -> bool:
    """Whether all hits are known to be irrelevant; False without hits or confidences."""
    known = [each for each in confidences if each is not None]
    return bool(known) and max(known) < ABSTAIN
