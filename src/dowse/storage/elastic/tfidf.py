"""TF-IDF on the cluster, exact: the engine sums short numbers, and what it finds is counted anew.

    score = sum over the query's terms and pairs of neighbouring terms of tf · idf
    idf   = ln((1 + n) / (1 + df)) + 1

A term of the field `words` scores how often it is there, cut to nine binary digits: numbers to 512 are kept
as they are. So the engine's score is never too high, too low by less than one part in 256, and right where
it is below that of a term that is there 513 times.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dowse.storage.elastic.bm25 import WORDS, document_frequencies, field_terms
from dowse.storage.elastic.cache import GenerationCache
from dowse.storage.elastic.names import PAIR
from dowse.storage.elastic.query import constraint_filters, encodable
from dowse.storage.elastic.rows import ROW_COLUMNS, Hit, number, symbol_row
from dowse.storage.elastic.snapshot import MAX_HITS, SnapshotSearcher, doc_values

if TYPE_CHECKING:
    from dowse.storage.protocol import TfidfRequest

# The first number that nine binary digits do not hold, and what cutting to them takes away at most.
_FIRST_CUT, _CUT = 513, 1 / 256
# A sum of 32-bit floats is right to this share of it.
_ROUNDING = 1e-5
# Hits beyond those wanted: neighbours that rounding may have put in the wrong order.
_SPARE = 10
# Documents with all their words that are read at once.
_WHOLE_AT_ONCE = 100
# The order of places, which equal scores come in.
_PLACE = [{"repo": "asc"}, {"path": "asc"}, {"start_line": "asc"}, {"row": "asc"}]


def best(
    searcher: SnapshotSearcher, cache: GenerationCache, request: TfidfRequest, limit: int
) -> list[tuple[int, float]]:
    """Return (row, score) of the best symbols by sums of tf · idf, best first, equals by place."""
    worth = _worth(searcher, cache, request.terms)
    if not worth or limit <= 0:
        return []
    parts = _parts(worth)
    body: dict[str, Any] = {
        "query": searcher.query(constraint_filters(request.constraint, request.exact_rows), parts),
        "sort": ["_score", *_PLACE],
        **doc_values(ROW_COLUMNS),
    }
    found: list[tuple[float, tuple[Any, ...]]] = []
    wanted = limit + _SPARE
    while True:
        body["size"] = min(MAX_HITS, wanted)
        hits = searcher.hits("symbols", body, include_named_queries_score=True)
        cache.add_rows(map(symbol_row, hits))
        times = _times(searcher, hits, worth)
        found += ((-_score(times[number(hit)], worth), tuple(hit["sort"][1:])) for hit in hits)
        found.sort()
        is_enough = len(found) >= limit and _is_settled(found, limit, hits[-1]["_score"], worth)
        if len(hits) < body["size"] or is_enough:
            return [(place[-1], -score) for score, place in found[:limit]]
        body["search_after"] = hits[-1]["sort"]
        wanted = 2 * len(found)


def explained(
    searcher: SnapshotSearcher, cache: GenerationCache, request: TfidfRequest, rows: Sequence[int]
) -> dict[int, dict[str, tuple[int, float]]]:
    """Return, by row, how often it has each term and what one time is worth."""
    found: dict[int, dict[str, tuple[int, float]]] = {row: {} for row in rows}
    worth = _worth(searcher, cache, request.terms)
    fields, parts = doc_values(["row"]), _parts(worth)
    hits = searcher.fetch(
        "symbols", rows if worth else (), fields, should=parts, include_named_queries_score=True
    )
    for row, times in _times(searcher, list(hits), worth).items():
        found[row] = {term: (often, worth[term]) for term, often in times.items()}
    return found


def stored(term: str) -> str:
    """Return a term, or a pair written `one other`, as it is stored."""
    return encodable(term).replace(" ", PAIR)


def _worth(searcher: SnapshotSearcher, cache: GenerationCache, terms: Sequence[str]) -> dict[str, float]:
    """Return the idf of each term that some symbol has."""
    there = document_frequencies(searcher, cache, field_terms(map(stored, terms), WORDS))
    total = searcher.snapshot.totals["symbols"]
    having = {term: often for term in terms if (often := there[WORDS, stored(term)])}
    return {term: math.log((1 + total) / (1 + often)) + 1 for term, often in having.items()}


def _parts(worth: Mapping[str, float]) -> list[dict[str, Any]]:
    """Return the addends of a score, each named by its place among the terms."""
    return [
        {"term": {WORDS: {"value": stored(term), "boost": idf, "_name": str(at)}}}
        for at, (term, idf) in enumerate(worth.items())
    ]


def _times(
    searcher: SnapshotSearcher, hits: Sequence[Hit], worth: Mapping[str, float]
) -> dict[int, dict[str, int]]:
    """Return, by row, how often it has each term that it has: what its part of the score tells.

    Where a number was cut, the document itself is asked.
    """
    terms = list(worth.items())
    found: dict[int, dict[str, int]] = {}
    cut: list[int] = []
    for hit in hits:
        parts = sorted((int(name), score) for name, score in hit["matched_queries"].items())
        times = {terms[at][0]: round(score / terms[at][1]) for at, score in parts}
        found[number(hit)] = times
        if max(times.values()) >= _FIRST_CUT - 1:
            cut.append(number(hit))
    for hit in searcher.fetch("symbols", cut, {"_source": ["row", WORDS]}, batch=_WHOLE_AT_ONCE):
        times = found[hit["_source"]["row"]]
        times.update((term, int(hit["_source"][WORDS][stored(term)])) for term in times)
    return found


def _score(times: Mapping[str, int], worth: Mapping[str, float]) -> float:
    return sum(often * worth[term] for term, often in times.items())


def _is_settled(
    found: Sequence[tuple[float, object]], limit: int, last: float, worth: Mapping[str, float]
) -> bool:
    """Whether nothing that was not fetched, which the engine gives at most `last`, can be among the best.

    Below the first number that is cut, the engine's own order is right: by score, then by place.
    """
    if last < _FIRST_CUT * min(worth.values()) * (1 - _ROUNDING):
        return True
    return -found[limit - 1][0] > last / (1 - _CUT) * (1 + _ROUNDING)
