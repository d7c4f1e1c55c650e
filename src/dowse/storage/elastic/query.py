"""Requests in Elasticsearch's query DSL; filters are part of the query, so they apply before the top k."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from dowse.parsing.tokenizer import tokenize
from dowse.query.ast import (
    And,
    Constraint,
    KindFilter,
    LangFilter,
    Leaf,
    Not,
    Or,
    PathFilter,
    Phrase,
    Regex,
    RepoFilter,
    RowsFilter,
    SymFilter,
    WithinFilter,
    WordConstraint,
)
from dowse.security.terminal import replace_surrogates
from dowse.storage.elastic.globs import MATCH_NONE, Query, path_query, symbol_query
from dowse.storage.protocol import KeywordRequest, Term
from dowse.types import KEYWORD_FIELDS

if TYPE_CHECKING:
    from dowse.query.regex.trigrams import TrigramQuery

ExactRows = Mapping[object, frozenset[int]] | None

# Elasticsearch's own limit on the values of one `terms` query.
_MAX_TERMS = 65_536
# Lucene limits the clauses of a query; every cluster allows 1,024, and larger heaps more. Each query has some
# clauses beside these, for what is visible.
MAX_CLAUSES = 1_000


def constraint_filters(constraint: Constraint | None, exact_rows: ExactRows) -> list[Query]:
    """Return a constraint as filters, all of which must match."""
    return [] if constraint is None else [constraint_query(constraint, exact_rows)]


def constraint_query(constraint: Constraint, exact_rows: ExactRows) -> Query:
    """Return a constraint as a query."""
    if isinstance(constraint, And):
        return all_of(constraint_query(part, exact_rows) for part in constraint.parts)
    if isinstance(constraint, Or):
        return _any_constraint(constraint, exact_rows)
    if isinstance(constraint, Not):
        return {"bool": {"must_not": [constraint_query(constraint.part, exact_rows)]}}
    return _leaf_query(constraint, exact_rows)


def scored_terms(request: KeywordRequest) -> list[tuple[str, str, Query]]:
    """Return field, label and query of every part of a score; the parts sum to it."""
    return [
        (field, term.label, _score_query(field, term, weight * term.weight))
        for term in request.terms
        for field, weight in request.field_weights.items()
        if weight
    ]


def named_query(query: Query, name: str) -> Query:
    """Return a query whose part of a score is reported under a name."""
    ((kind, fields),) = query.items()
    ((field, body),) = fields.items()
    return {kind: {field: {**body, "_name": name}}}


def term_query(field: str, term: str) -> Query:
    """Return the query for symbols with a term in a field."""
    return {"term": {f"terms.{field}": {"value": replace_surrogates(term)}}}


def among(field: str, values: Iterable[int | str]) -> Query:
    """Return the query for documents whose field has one of the values."""
    terms = list(values)
    if not terms:
        return MATCH_NONE
    parts = [terms[start : start + _MAX_TERMS] for start in range(0, len(terms), _MAX_TERMS)]
    return any_of({"terms": {field: part}} for part in parts)


def trigram_query(condition: TrigramQuery) -> Query:
    """Return the query for files whose trigrams satisfy a condition."""
    if _count_trigrams(condition) > MAX_CLAUSES:
        some = _some_trigrams(condition)
        return {"match_all": {}} if some is None else among("trigrams", sorted(map(replace_surrogates, some)))
    return _trigram_query(condition)


def _trigram_query(condition: TrigramQuery) -> Query:
    from dowse.query.regex import trigrams

    if isinstance(condition, trigrams.All):
        return {"match_all": {}}
    if isinstance(condition, trigrams.Trigram):
        return {"term": {"trigrams": replace_surrogates(condition.text)}}
    parts = (_trigram_query(part) for part in condition.parts)
    return all_of(parts) if isinstance(condition, trigrams.And) else any_of(parts)


def _count_trigrams(condition: TrigramQuery) -> int:
    parts = getattr(condition, "parts", None)
    return 1 if parts is None else sum(map(_count_trigrams, parts))


def _some_trigrams(condition: TrigramQuery) -> frozenset[str] | None:
    """Return trigrams of which every text that satisfies a condition has one; None if there are none."""
    from dowse.query.regex import trigrams

    if isinstance(condition, trigrams.All):
        return None
    if isinstance(condition, trigrams.Trigram):
        return frozenset([condition.text])
    parts = [_some_trigrams(part) for part in condition.parts]
    known = [part for part in parts if part is not None]
    if isinstance(condition, trigrams.And):
        return min(known, key=len, default=None)
    return frozenset().union(*known) if len(known) == len(parts) else None


def all_of(queries: Iterable[Query]) -> Query:
    """Return the query that matches where every query does; it adds nothing to a score."""
    return _one_or({"bool": {"filter": list(queries)}}, "filter", {"match_all": {}})


def any_of(queries: Iterable[Query]) -> Query:
    """Return the query that matches where some query does."""
    return _one_or({"bool": {"should": list(queries), "minimum_should_match": 1}}, "should", MATCH_NONE)


def _one_or(query: Query, part: str, empty: Query) -> Query:
    parts: list[Query] = query["bool"][part]
    return empty if not parts else parts[0] if len(parts) == 1 else query


def _score_query(field: str, term: Term, weight: float) -> Query:
    name, text = f"terms.{field}", replace_surrogates(term.text)
    if not term.distance:
        return {"term": {name: {"value": text, "boost": weight}}}
    # All terms within the edit distance score the same, as in tantivy.
    fuzzy = {"value": text, "fuzziness": term.distance, "rewrite": "constant_score", "boost": weight}
    return {"fuzzy": {name: fuzzy}}


def _leaf_query(leaf: Leaf, exact_rows: ExactRows) -> Query:
    if isinstance(leaf, LangFilter):
        return {"term": {"language": replace_surrogates(leaf.language)}}
    if isinstance(leaf, KindFilter):
        return {"term": {"kind": replace_surrogates(leaf.kind)}}
    if isinstance(leaf, PathFilter):
        return path_query("path", replace_surrogates(leaf.glob))
    if isinstance(leaf, WithinFilter):
        place = replace_surrogates(leaf.path)
        return any_of(({"term": {"path": place}}, {"prefix": {"path": f"{place}/"}}))
    if isinstance(leaf, RowsFilter):
        return among("row", sorted(leaf.rows))
    if isinstance(leaf, RepoFilter):
        return path_query("repo", replace_surrogates(leaf.glob))
    if isinstance(leaf, SymFilter):
        return symbol_query(replace_surrogates(leaf.glob))
    if isinstance(leaf, WordConstraint):
        return _word_query(leaf.word.text)
    if isinstance(leaf, Phrase | Regex):
        return among("row", (exact_rows or {}).get(leaf, ()))
    raise TypeError(f"no query for {leaf!r}")


def _any_constraint(constraint: Or, exact_rows: ExactRows) -> Query:
    """Return alternatives as a query; words, which may be many, are one clause for each field."""
    words: list[str] = []
    others: list[Query] = []
    for part in constraint.parts:
        terms = _required_terms(part.word.text) if isinstance(part, WordConstraint) else []
        if len(terms) == 1:
            words.append(replace_surrogates(terms[0]))
        else:
            others.append(constraint_query(part, exact_rows))
    fields = [among(f"terms.{field}", words) for field in KEYWORD_FIELDS] if words else []
    return any_of([*others, *fields])


def _word_query(word: str) -> Query:
    terms = _required_terms(word)
    return (
        all_of(any_of(term_query(field, term) for field in KEYWORD_FIELDS) for term in terms)
        if terms
        else MATCH_NONE
    )


def _required_terms(word: str) -> list[str]:
    """Return the terms of a word, all of which must match; the first one of an identifier is the whole."""
    terms = tokenize(word)
    return terms[:1] if word.isidentifier() else terms
