"""The query language: text in, words and constraints out.

Exact matching (`pattern`, `trigrams`, `leaves`) is imported by those who need it: most queries do not.
"""

from __future__ import annotations

from dowse.query.ast import (
    And,
    Clause,
    Constraint,
    Filter,
    KindFilter,
    LangFilter,
    Leaf,
    Not,
    Or,
    PathFilter,
    Phrase,
    Query,
    Regex,
    RepoFilter,
    SymFilter,
    Word,
    WordConstraint,
    leaves,
    needs_match,
    positive_leaves,
    requires_exact,
    with_exact_words,
)
from dowse.query.errors import QueryError
from dowse.query.evaluate import (
    evaluate,
    glob_to_regex,
    matches_metadata,
    path_matches,
    symbol_matches,
)
from dowse.query.languages import KINDS, LANGUAGE_ALIASES, LANGUAGES
from dowse.query.parser import narrow, parse_query
from dowse.query.plain import plain_query

__all__ = [
    "KINDS",
    "LANGUAGES",
    "LANGUAGE_ALIASES",
    "And",
    "Clause",
    "Constraint",
    "Filter",
    "KindFilter",
    "LangFilter",
    "Leaf",
    "Not",
    "Or",
    "PathFilter",
    "Phrase",
    "Query",
    "QueryError",
    "Regex",
    "RepoFilter",
    "SymFilter",
    "Word",
    "WordConstraint",
    "evaluate",
    "glob_to_regex",
    "leaves",
    "matches_metadata",
    "narrow",
    "needs_match",
    "parse_query",
    "path_matches",
    "plain_query",
    "positive_leaves",
    "requires_exact",
    "symbol_matches",
    "with_exact_words",
]
