"""Ranking by words on the cluster: BM25 over fields, what each adds, coverage, frequencies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dowse.storage.elastic.memory import Memory
from dowse.storage.elastic.query import (
    among,
    filters_of,
    has_term,
    named,
    scored_terms,
    visible_query,
)
from dowse.storage.elastic.rows import MOST_HITS, ROW_COLUMNS, batches, columns, number, symbol_row
from dowse.types import KEYWORD_FIELDS

if TYPE_CHECKING:
    from dowse.storage.elastic.session import Session
    from dowse.storage.protocol import KeywordRequest

Pair = tuple[str, str]  # a field and a term
# Shards must agree on how rare a term is, or equal symbols would score differently.
GLOBAL_STATISTICS = "dfs_query_then_fetch"
# Hits whose rows are brought along: nobody looks at all of a longer list.
MOST_WITH_ROWS = 1_000
# Filters of one aggregation.
_COUNTS_AT_ONCE = 1_000


def ranked(session: Session, memory: Memory, request: KeywordRequest, limit: int) -> list[tuple[int, float]]:
    """Return (row, score) of the best symbols, best first; equals by row."""
    if limit <= 0 or (request.constraint is None and not request.terms):
        return []
    parts = [query for _, _, query in scored_terms(request)]
    if request.terms and not parts:
        return []
    filters = filters_of(request.constraint, request.exact_rows)
    body: dict[str, Any] = {
        "query": visible_query(session.visible, filters, parts),
        "sort": [*(["_score"] if parts else []), {"row": "asc"}],
        **columns(ROW_COLUMNS if limit <= MOST_WITH_ROWS else ["row"]),
    }
    return paged(session, memory, body, limit, **({"search_type": GLOBAL_STATISTICS} if parts else {}))


def paged(
    session: Session,
    memory: Memory,
    body: dict[str, Any],
    limit: int,
    **parameters: str,
) -> list[tuple[int, float]]:
    """Return (row, score) of as many hits as are wanted, page by page where one search gives no more.

    A hit scores 1 where nothing is ranked by.
    """
    found: list[tuple[int, float]] = []
    while len(found) < limit:
        body["size"] = min(MOST_HITS, limit - len(found))
        hits = session.search("symbols", body, **parameters)["hits"]["hits"]
        if len(body["docvalue_fields"]) > 1:
            memory.keep_rows(map(symbol_row, hits))
        scores = (1.0 if hit["_score"] is None else float(hit["_score"]) for hit in hits)
        found += zip(map(number, hits), scores, strict=True)
        if len(hits) < body["size"]:
            break
        body["search_after"] = hits[-1]["sort"]
    return found


def contributions(
    session: Session, request: KeywordRequest, rows: Sequence[int]
) -> dict[int, dict[tuple[str, str], float]]:
    """Return for each row what each field and term adds to its score."""
    found: dict[int, dict[tuple[str, str], float]] = {row: {} for row in rows}
    parts = scored_terms(request)
    if not rows or not parts:
        return found
    queries = [named(query, str(at)) for at, (_, _, query) in enumerate(parts)]
    for start in range(0, len(rows), MOST_HITS):
        some = rows[start : start + MOST_HITS]
        body = {
            "query": visible_query(session.visible, [among("row", some)], queries),
            **{"size": len(some), **columns(["row"])},
        }
        answer = session.search(
            "symbols", body, search_type=GLOBAL_STATISTICS, include_named_queries_score=True
        )
        for hit in answer["hits"]["hits"]:
            values = found[number(hit)]
            for name, score in hit["matched_queries"].items():
                field, label, _ = parts[int(name)]
                values[field, label] = values.get((field, label), 0.0) + score
    return found


def covered(session: Session, terms: Mapping[str, float], rows: Sequence[int]) -> dict[int, float]:
    """Return for each row the sum of the weights of the terms in its body, however often each is there."""
    there = [
        {"constant_score": {"filter": has_term("body", term), "boost": weight}}
        for term, weight in terms.items()
        if weight > 0
    ]
    found: dict[int, float] = {}
    if not there:
        return found
    for start in range(0, len(rows), MOST_HITS):
        some = rows[start : start + MOST_HITS]
        query = visible_query(session.visible, [among("row", some)], there)
        body = {"query": query, "size": len(some), **columns(["row"])}
        hits = session.search("symbols", body)["hits"]["hits"]
        found.update((number(hit), float(hit["_score"])) for hit in hits)
    return found


def counts(
    session: Session, memory: Memory, wanted: Iterable[Pair], also: Iterable[Pair] = ()
) -> dict[Pair, int]:
    """Return in how many symbols some terms are, each in a field.

    Where that must be asked for, what will be wanted `also` is asked for in the same breath.
    """
    pairs = list(wanted)
    known = {pair: memory.counts[pair] for pair in pairs if pair in memory.counts}
    if len(known) < len(pairs):
        missing = dict.fromkeys(pair for pair in (*pairs, *also) if pair not in memory.counts)
        for batch in batches(missing, _COUNTS_AT_ONCE):
            found = _counted(session, batch)
            memory.keep_counts(found)
            known |= found
    return {pair: known[pair] for pair in pairs}


def pairs_of(terms: Iterable[str], field: str = "") -> list[Pair]:
    """Return what must be counted to know how frequent terms are in a field, or where they are most so."""
    return [(each, term) for term in terms for each in ([field] if field else KEYWORD_FIELDS)]


def _counted(session: Session, wanted: Sequence[Pair]) -> dict[Pair, int]:
    filters = {str(at): has_term(field, term) for at, (field, term) in enumerate(wanted)}
    body = {
        **{"query": visible_query(session.visible), "size": 0},
        "aggs": {"terms": {"filters": {"filters": filters}}},
    }
    buckets = session.search("symbols", body)["aggregations"]["terms"]["buckets"]
    return {pair: buckets[str(at)]["doc_count"] for at, pair in enumerate(wanted)}
