"""The probability that a hit answers the question, and when to say that none does.

A score says which hit is better, not whether the best one answers: something is always nearest. The
probability is the product of two logistic regressions: whether the question has an answer here at all, by the
best cosine and the best share of its words, and whether this hit is right if it has. No hit has a higher one
than a hit above it. The weights were fitted by `bench/confidence.py fit`, which says on what;
bench/figures/questions.json has how far they hold elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from dowse.lazy_classes import NamedTuple
from dowse.search.context import Candidates, Ranking, SearchContext
from dowse.search.lanes.embedding_result import AdaptedResult
from dowse.search.ranking.signals import RankedHit
from dowse.types import Note


class Answerable(NamedTuple):
    """What tells a question with an answer from one without; of the weights: what each is worth."""

    bias: float  # 1
    cosine: float  # the best of the first hits
    covered: float  # the best share of the question's words that the text of one of them has, by IDF


class Evidence(NamedTuple):
    """What is known of a hit; of the weights: what each is worth."""

    bias: float  # 1
    cosine: float  # that of its lane's last candidate, if the lane did not return it
    covered: float
    embedding_rank: float  # ln of the rank in the lane; one past its last, if the lane did not return it
    lead: float  # over the next hit, as a share of the best score, times the cosine
    rank: float  # ln of the rank


class Confidences(NamedTuple):
    """What is known of an answer; nothing where the lane did not answer or its encoder has no weights."""

    answerable: float | None = None
    by_row: dict[int, float] = {}  # noqa: RUF012 - never changed


# By the encoder's id, for trees and for corpora: another model, or another view, has other cosines.
CONFIDENCE_WEIGHTS = {
    "base-8bfd8b952a73": (
        (Answerable(-7.79, 17.54, 7.11), Evidence(-1.67, 0.96, 1.68, -0.2, 5.19, -0.65)),
        (Answerable(-9.74, 17.59, 7.56), Evidence(-2.59, 3.83, -0.22, -0.66, 6.23, -1.64)),
    ),
    "small-e33d0049c6f6": (
        (Answerable(-5.88, 12.9, 8.67), Evidence(-2.23, 1.8, 1.9, -0.13, 2.98, -0.5)),
        (Answerable(-10.13, 19.08, 6.97), Evidence(-2.56, 3.92, -0.22, -0.67, 6.27, -1.68)),
    ),
}
# A question with a lower probability of having an answer is told that it has none.
ABSTAIN = 0.5
# The first hits tell whether there is an answer, however many are shown.
_FIRST = 10
# The note of such an answer.
NOTHING_RELEVANT = Note("nothing-relevant", "nothing relevant here, it seems; these are only the nearest")


def hit_confidences(
    context: SearchContext, candidates: Candidates, ranking: Ranking, hits: Sequence[RankedHit], count: int
) -> Confidences:
    """Return the confidence of so many first hits."""
    weights = CONFIDENCE_WEIGHTS.get(context.encoder.id) if context.encoder else None
    # Expansion terms cover more than the query itself.
    if weights is None or candidates.expansion:
        return Confidences()
    known = evidence_of(context, candidates, ranking, hits, max(count, _FIRST))
    if not known:
        return Confidences()
    of_question, of_hit = weights[context.reader.is_corpus]
    answerable = probability(of_question, best_of(list(known.values())[:_FIRST]))
    by_row: dict[int, float] = {}
    lowest = 1.0
    for row, evidence in known.items():
        lowest = by_row[row] = min(lowest, answerable * probability(of_hit, evidence))
    return Confidences(answerable, by_row)


def best_of(evidence: Sequence[Evidence]) -> Answerable:
    """Return what the first hits say of the question."""
    return Answerable(1.0, max(each.cosine for each in evidence), max(each.covered for each in evidence))


def evidence_of(
    context: SearchContext, candidates: Candidates, ranking: Ranking, hits: Sequence[RankedHit], count: int
) -> dict[int, Evidence]:
    """Return what is known of the first hits, best first, but not of facts and symbols without a vector."""
    nearest = next((each.result for each in candidates.outcomes if each.lane == "embedding"), None)
    if nearest is None or not hits:
        return {}
    scores = nearest.plain_scores if isinstance(nearest, AdaptedResult) else nearest.scores
    cosines = dict(zip(nearest.rows, scores, strict=True))
    lowest = min(scores, default=0.0)
    ranks = {row: rank for rank, row in enumerate(nearest.rows, 1)}
    located = {each.row.row for each in ranking.located}  # facts, whatever their words
    rows = [hit.row.row for hit in hits[:count] if hit.row.row not in located]
    without_vector = context.rows_without_vector([row for row in rows if row not in cosines])
    coverage = ranking.terms.coverage(rows)
    best = max(1e-9, hits[0].score)
    found: dict[int, Evidence] = {}
    for place, hit in enumerate(hits[:count], 1):
        row = hit.row.row
        if row not in located and row not in without_vector:
            below = hits[place] if place < len(hits) else hit
            cosine, lead = cosines.get(row, lowest), max(0.0, hit.score - below.score) / best
            rank = math.log(ranks.get(row, len(ranks) + 1))
            found[row] = Evidence(1.0, cosine, coverage[row], rank, lead * max(0.0, cosine), math.log(place))
    return found


def probability(weights: Sequence[float], evidence: Sequence[float]) -> float:
    """Return what a logistic regression makes of some evidence."""
    total = sum(weight * value for weight, value in zip(weights, evidence, strict=True))
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))


def is_nothing(answerable: float | None) -> bool:
    """Whether a question is more likely to have no answer here than to have one; False if that is unknown."""
    return answerable is not None and answerable < ABSTAIN
