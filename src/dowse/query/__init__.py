"""The query language: lexer, parser, AST and evaluation of boolean queries.

Exact matching (`query.regex`) is imported where it is needed: most queries do not need it.
"""

from __future__ import annotations

from dowse.errors import QueryError
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
    Query,
    Regex,
    RepoFilter,
    SymFilter,
    Word,
    WordConstraint,
    leaves,
    needs_match,
    positive_leaves,
    with_exact_words,
)
from dowse.query.evaluate import evaluate, matches_metadata, path_matches, symbol_matches
from dowse.query.parser import narrow, parse_query, plain_query

__all__ = [
    "And",
    "Constraint",
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
    "leaves",
    "matches_metadata",
    "narrow",
    "needs_match",
    "parse_query",
    "path_matches",
    "plain_query",
    "positive_leaves",
    "symbol_matches",
    "with_exact_words",
]
