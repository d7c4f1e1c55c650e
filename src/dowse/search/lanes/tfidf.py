"""The TF-IDF lane: the classic sum of tf · idf over terms and bigrams, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from dowse.lazy_classes import dataclass
from dowse.parsing.tokenizer import content_words, tokenize
from dowse.query.ast import Constraint
from dowse.search.lanes.jobs import LaneResult, columns
from dowse.storage.protocol import Reader

# A pasted file has more terms than this; each costs time, and the first ones are kept.
_MAX_TERMS = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class TfidfResult(LaneResult):
    """The candidates, and the terms and bigrams of the query."""

    terms: tuple[str, ...]


def tfidf_lane(
    reader: Reader,
    text: str,
    *,
    limit: int,
    constraint: Constraint | None = None,
    exact_rows: Mapping[object, frozenset[int]] | None = None,
) -> TfidfResult:
    """Return the symbols with the highest sum of tf · idf over the query's terms and bigrams."""
    from dowse.research.tfidf.index import search_tfidf

    terms = terms_and_bigrams(text)
    hits = search_tfidf(reader, terms, limit, constraint, exact_rows)
    return TfidfResult(*columns(hits), terms=terms)


def terms_and_bigrams(text: str) -> tuple[str, ...]:
    """Return the distinct terms of a query, then its distinct bigrams.

    Stop words are left out, unless there is nothing else: without normalisation, the many `for` and `if` of
    code would dominate the score.
    """
    terms = (tokenize(" ".join(content_words(text))) or tokenize(text))[:_MAX_TERMS]
    return tuple(dict.fromkeys((*terms, *map(" ".join, pairwise(terms)))))
