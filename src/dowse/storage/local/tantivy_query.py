"""What the engine asks, in tantivy's terms."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import tantivy
from tantivy import Occur, Query

from dowse.parsing.tokenizer import tokenize
from dowse.query import (
    And,
    Constraint,
    KindFilter,
    LangFilter,
    Leaf,
    Not,
    Or,
    Phrase,
    Regex,
    WordConstraint,
)
from dowse.storage.local.fulltext import file_schema, symbol_schema
from dowse.storage.protocol import KeywordRequest, Term
from dowse.types import KEYWORD_FIELDS

if TYPE_CHECKING:
    from dowse.query.regex.trigrams import TrigramQuery

# For each leaf that is decided outside tantivy: the field ("file" or "row") and the values that match.
Resolver = Callable[[Leaf], tuple[str, Iterable[int]]]


def keyword_query(request: KeywordRequest, resolve: Resolver) -> Query:
    """Rank by the terms among the symbols that meet the constraint."""
    ranking = _any([sub for _, _, sub in _subqueries(request)])
    if request.constraint is None:
        return ranking if request.terms else Query.empty_query()
    condition = _condition(request.constraint, request, resolve)
    if not request.terms:
        return Query.const_score_query(condition, 1.0)
    # Conditions decide who is in and add nothing to a score.
    return Query.boolean_query([(Occur.Must, Query.const_score_query(condition, 0.0)), (Occur.Must, ranking)])


def contributions(
    searcher: Any,  # noqa: ANN401 - tantivy's Searcher has no public constructor to name
    request: KeywordRequest,
    rows: list[int],
) -> dict[int, dict[tuple[str, str], float]]:
    """Return for each row what each field and term adds to its score."""
    found: dict[int, dict[tuple[str, str], float]] = {row: {} for row in rows}
    if not rows:
        return found
    among = Query.const_score_query(_set("row", rows), 0.0)
    for field, term, sub in _subqueries(request):
        both = Query.boolean_query([(Occur.Must, among), (Occur.Must, sub)])
        hits = searcher.search(both, len(rows), count=False).hits
        label = term.text if not term.distance else f"{term.text}~{term.distance}"
        for row, (score, _) in zip(
            searcher.fast_field_values("row", [address for _, address in hits]), hits, strict=True
        ):
            values = found[row]
            values[field, label] = values.get((field, label), 0.0) + score
    return found


def covered(
    searcher: Any,  # noqa: ANN401 - as above
    terms: Mapping[str, float],
    rows: Sequence[int],
) -> dict[int, float]:
    """Return for each row the sum of the weights of the terms in its body, however often each is there."""
    if not rows or not terms:
        return {}
    # One query a row: a set would be looked for in the whole dictionary of rows, however few it has.
    each = [Query.term_query(symbol_schema(), "row", row, "basic") for row in rows]
    among = Query.const_score_query(_any(each), 0.0)
    there = [
        (Occur.Should, Query.const_score_query(_term("body", Term(term)), weight))
        for term, weight in terms.items()
    ]
    hits = searcher.search(Query.boolean_query([(Occur.Must, among), *there]), len(rows), count=False).hits
    found = searcher.fast_field_values("row", [address for _, address in hits])
    return {row: score for row, (score, _) in zip(found, hits, strict=True)}


def count_of(searcher: Any, field: str, term: str) -> int:  # noqa: ANN401 - as above
    """Return how many symbols have a term; deleted ones, which tantivy's own number includes, left out."""
    if not searcher.doc_freq(field, term):
        return 0
    return int(searcher.search(_term(field, Term(term)), 1, count=True).count)


def trigram_query(wanted: TrigramQuery) -> Query:
    """Find the files whose trigrams satisfy a condition."""
    from dowse.query.regex import trigrams

    if isinstance(wanted, trigrams.All):
        return Query.all_query()
    if isinstance(wanted, trigrams.Trigram):
        return Query.term_query(file_schema(), "trigrams", wanted.text, "basic")
    occur = Occur.Must if isinstance(wanted, trigrams.And) else Occur.Should
    return Query.boolean_query([(occur, trigram_query(part)) for part in wanted.parts])


def _subqueries(request: KeywordRequest) -> list[tuple[str, Term, Query]]:
    return [
        (field, term, Query.boost_query(_term(field, term), weight * term.weight))
        for term in request.terms
        for field, weight in request.field_weights.items()
        if weight
    ]


def _term(field: str, term: Term) -> Query:
    if term.distance:
        return Query.fuzzy_term_query(symbol_schema(), field, term.text, term.distance)
    return Query.term_query(symbol_schema(), field, term.text, "freq")


def _condition(constraint: Constraint, request: KeywordRequest, resolve: Resolver) -> Query:
    if isinstance(constraint, And | Or):
        parts = [_condition(part, request, resolve) for part in constraint.parts]
        occur = Occur.Must if isinstance(constraint, And) else Occur.Should
        return Query.boolean_query([(occur, part) for part in parts])
    if isinstance(constraint, Not):
        inner = _condition(constraint.part, request, resolve)
        # tantivy wants something to take away from.
        return Query.boolean_query([(Occur.Must, Query.all_query()), (Occur.MustNot, inner)])
    return _leaf(constraint, request, resolve)


def _leaf(leaf: Leaf, request: KeywordRequest, resolve: Resolver) -> Query:
    if isinstance(leaf, LangFilter):
        return Query.term_query(symbol_schema(), "language", leaf.language, "basic")
    if isinstance(leaf, KindFilter):
        return Query.term_query(symbol_schema(), "kind", leaf.kind, "basic")
    if isinstance(leaf, WordConstraint):
        terms = tokenize(leaf.word.text)
        if not terms:
            return Query.empty_query()
        # An identifier's first term is the whole of it; several words must all be there.
        words = [terms[0]] if leaf.word.text.isidentifier() else terms
        return _all([_any([_term(field, Term(t)) for field in KEYWORD_FIELDS]) for t in words])
    if isinstance(leaf, Phrase | Regex):
        return _set("row", (request.exact_rows or {}).get(leaf, ()))
    field, values = resolve(leaf)
    return _set(field, values)


def _set(field: str, values: Iterable[int]) -> Query:
    return Query.term_set_query(symbol_schema(), field, list(values))


def _any(queries: list[tantivy.Query]) -> Query:
    return Query.boolean_query([(Occur.Should, query) for query in queries])


def _all(queries: list[tantivy.Query]) -> Query:
    return Query.boolean_query([(Occur.Must, query) for query in queries])
