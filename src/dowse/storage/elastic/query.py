"""What the engine asks, in Elasticsearch's terms: filters are part of a query, before the top k is taken."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dowse.parsing.tokenizer import tokenize
from dowse.query import (
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
    SymFilter,
    WordConstraint,
)
from dowse.storage.elastic.globs import NOTHING, path_query, symbol_query
from dowse.storage.protocol import KeywordRequest, Term
from dowse.types import KEYWORD_FIELDS

if TYPE_CHECKING:
    from dowse.query.regex.trigrams import TrigramQuery

Query = dict[str, Any]
ExactRows = Mapping[object, frozenset[int]] | None

# Elasticsearch's own limit on the values of one `terms` query.
_MOST_VALUES = 65_536


def visible_query(
    hidden: Sequence[Query], filters: Sequence[Query] = (), should: Sequence[Query] = ()
) -> Query:
    """Return what finds the documents of a snapshot that meet all filters and, if given, some part."""
    query: dict[str, Any] = {"must_not": list(hidden), "filter": list(filters)}
    if should:
        query |= {"should": list(should), "minimum_should_match": 1}
    return {"bool": query}


def filters_of(constraint: Constraint | None, exact_rows: ExactRows) -> list[Query]:
    """Return a constraint as filters, all of which must hold."""
    if constraint is None:
        return []
    if isinstance(constraint, And):
        return [condition(part, exact_rows) for part in constraint.parts]
    return [condition(constraint, exact_rows)]


def condition(constraint: Constraint, exact_rows: ExactRows) -> Query:
    """Return a constraint as a query."""
    if isinstance(constraint, And):
        return all_of(condition(part, exact_rows) for part in constraint.parts)
    if isinstance(constraint, Or):
        return any_of(condition(part, exact_rows) for part in constraint.parts)
    if isinstance(constraint, Not):
        return {"bool": {"must_not": [condition(constraint.part, exact_rows)]}}
    return _leaf(constraint, exact_rows)


def scored_terms(request: KeywordRequest) -> list[tuple[str, str, Query]]:
    """Return field, label and query of every addend of a score; all of them sum to it."""
    return [
        (field, label(term), _scored(field, term, weight * term.weight))
        for term in request.terms
        for field, weight in request.field_weights.items()
        if weight
    ]


def label(term: Term) -> str:
    """Return what an explanation calls a term."""
    return f"{term.text}~{term.distance}" if term.distance else term.text


def named(query: Query, name: str) -> Query:
    """Return a query whose own part of a score comes back under a name."""
    ((kind, fields),) = query.items()
    ((field, body),) = fields.items()
    return {kind: {field: {**body, "_name": name}}}


def has_term(field: str, term: str) -> Query:
    """Return what finds the symbols that have a term in a field, whatever that is worth."""
    return {"term": {f"terms.{field}": {"value": plain(term)}}}


def among(field: str, values: Iterable[int | str]) -> Query:
    """Return what finds the documents whose field has one of the values."""
    wanted = list(values)
    if not wanted:
        return NOTHING
    parts = [wanted[start : start + _MOST_VALUES] for start in range(0, len(wanted), _MOST_VALUES)]
    return any_of({"terms": {field: part}} for part in parts)


def trigram_condition(wanted: TrigramQuery) -> Query:
    """Find the files whose trigrams satisfy a condition."""
    from dowse.query.regex import trigrams

    if isinstance(wanted, trigrams.All):
        return {"match_all": {}}
    if isinstance(wanted, trigrams.Trigram):
        return {"term": {"trigrams": plain(wanted.text)}}
    parts = (trigram_condition(part) for part in wanted.parts)
    return all_of(parts) if isinstance(wanted, trigrams.And) else any_of(parts)


def all_of(queries: Iterable[Query]) -> Query:
    """Return what meets every query; adds nothing to a score."""
    return _one_or({"bool": {"filter": list(queries)}}, "filter", {"match_all": {}})


def any_of(queries: Iterable[Query]) -> Query:
    """Return what meets some query."""
    return _one_or({"bool": {"should": list(queries), "minimum_should_match": 1}}, "should", NOTHING)


def plain(text: str) -> str:
    """Return a text that can be sent: a half of a surrogate pair is no character."""
    return text.encode("utf-8", "replace").decode()


def _one_or(query: Query, part: str, empty: Query) -> Query:
    parts: list[Query] = query["bool"][part]
    return empty if not parts else parts[0] if len(parts) == 1 else query


def _scored(field: str, term: Term, weight: float) -> Query:
    name, text = f"terms.{field}", plain(term.text)
    if not term.distance:
        return {"term": {name: {"value": text, "boost": weight}}}
    # tantivy gives all words within reach the same, and so do we.
    fuzzy = {"value": text, "fuzziness": term.distance, "rewrite": "constant_score", "boost": weight}
    return {"fuzzy": {name: fuzzy}}


def _leaf(leaf: Leaf, exact_rows: ExactRows) -> Query:
    if isinstance(leaf, LangFilter):
        return {"term": {"language": plain(leaf.language)}}
    if isinstance(leaf, KindFilter):
        return {"term": {"kind": plain(leaf.kind)}}
    if isinstance(leaf, PathFilter):
        return path_query("path", plain(leaf.glob))
    if isinstance(leaf, RepoFilter):
        return path_query("repo", plain(leaf.glob))
    if isinstance(leaf, SymFilter):
        return symbol_query(plain(leaf.glob))
    if isinstance(leaf, WordConstraint):
        return _has_word(leaf.word.text)
    if isinstance(leaf, Phrase | Regex):
        return among("row", (exact_rows or {}).get(leaf, ()))
    raise TypeError(f"no way to decide {leaf!r}")


def _has_word(word: str) -> Query:
    terms = tokenize(word)
    if not terms:
        return NOTHING
    # An identifier's first term is the whole of it; several words must all be there.
    wanted = terms[:1] if word.isidentifier() else terms
    return all_of(any_of(has_term(field, term) for field in KEYWORD_FIELDS) for term in wanted)
