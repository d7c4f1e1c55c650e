"""Confidence: the probability that a hit is relevant, by a logistic regression small enough to read.

    confidence = 1 / (1 + exp(−(bias + cosine · cos + covered · share + length · ln(1 + terms))))

A score says which hit is better, not whether the best one is relevant: something is always nearest. The
cosine is the strongest feature. The share of the query's words that the code has, weighted by IDF, catches
what an encoder does not know: random letters have cosines above .5 in a large corpus, and no word in common.

The weights were fitted by `bench/abstention.py --fit` on 2,000 docstrings and summaries of packages that no
encoder was trained on, each searched twice, once with its package left out of the corpus; on off-topic and
meaningless queries; and on 56 queries of eight repositories. Priors: half of all queries have an answer, and
half of the first hits that are not the labelled function are as good. The weights are calibrated for the
first hit and overestimate later ones. It is a rough probability: too low where every query has an answer
(CodeSearchNet; trees, most of all at the low end), too high against the single label of a web query (CoSQA).
bench/results/abstention.json has the tables, of the encoders before.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

from dowse.types import Note


class Weights(NamedTuple):
    """The weight of each feature, for the cosines of one encoder."""

    bias: float
    cosine: float
    covered: float
    length: float


# By the encoder's id: other weights, or another view of symbols, have other cosines.
WEIGHTS = {
    "base-e1b2377be6be": Weights(-9.38, 14.13, 1.65, 0.28),
    "small-e33d0049c6f6": Weights(-9.19, 14.54, 1.47, 0.18),
}
# Where no hit is more likely relevant than this, the answer is that there is none: two in a hundred of
# the real questions that the weights were fitted on fall below, for either encoder. It was .12, three in a
# hundred, until one evaluation set (short web queries, documentation stripped) lost 7 % to that.
ABSTAIN = 0.1
# The note of such an answer.
NOTHING_RELEVANT = Note("nothing-relevant", "nothing relevant here, it seems; these are only the nearest")


def confidence(encoder_id: str, cosine: float, covered: float, terms: int) -> float | None:
    """Return the probability that a hit is relevant; None for an encoder that has no weights here.

    `covered` is the share of the query that the symbol's text has (coverage.py), `terms` their number.
    """
    weights = WEIGHTS.get(encoder_id)
    if weights is None:
        return None
    bias, by_cosine, by_covered, by_length = weights
    sum_ = bias + by_cosine * cosine + by_covered * covered + by_length * math.log1p(terms)
    return 1 / (1 + math.exp(-sum_))


def is_nothing(confidences: Iterable[float | None]) -> bool:
    """Whether all hits are known to be irrelevant; False without hits or confidences."""
    known = [each for each in confidences if each is not None]
    return bool(known) and max(known) < ABSTAIN
