"""The TF-IDF lane: the classic sum over terms and pairs of neighbouring terms, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from dowse.parsing.tokenizer import content_words, tokenize
from dowse.query import Constraint
from dowse.storage.protocol import Reader, TfidfRequest

# A pasted file has more terms than this; each costs time, and the first ones are kept.
_MAX_TERMS = 500


@dataclass(frozen=True, slots=True)
class TfidfResult:
    """What the lane found: rows and scores, best first, and what it asked for."""

    rows: tuple[int, ...]
    scores: tuple[float, ...]
    request: TfidfRequest
    details: tuple[str, ...] = ()  # this lane has nothing to say of a single symbol


def tfidf_lane(
    reader: Reader,
    text: str,
    *,
    limit: int,
    constraint: Constraint | None = None,
    exact_rows: Mapping[object, frozenset[int]] | None = None,
) -> TfidfResult:
    """Find the symbols whose text has most of a query's terms and pairs, rare ones first of all."""
    request = TfidfRequest(terms_and_pairs(text), constraint, exact_rows)
    found = reader.tfidf(request, limit)
    return TfidfResult(tuple(row for row, _ in found), tuple(score for _, score in found), request)


def terms_and_pairs(text: str) -> tuple[str, ...]:
    """Return the distinct terms of a query, then its distinct pairs of neighbouring terms.

    Stop words are left out, unless there is nothing else: code says `for` and `if` so often that without a
    norm little else would count.
    """
    terms = (tokenize(" ".join(content_words(text))) or tokenize(text))[:_MAX_TERMS]
    return tuple(dict.fromkeys((*terms, *map(" ".join, pairwise(terms)))))
