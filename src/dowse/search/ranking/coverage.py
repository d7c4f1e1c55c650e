"""Inverse document frequency, and how much of a query's terms the text of a symbol covers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property

from dowse.search.lanes.bm25 import query_terms, without_language
from dowse.storage.protocol import Reader


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
