"""The query language and exact matching: text in, words, constraints and patterns out."""

from __future__ import annotations

from .ast import (
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
    requires_exact,
)
from .errors import QueryError
from .evaluate import (
    constraint_trigrams,
    evaluate,
    glob_to_regex,
    matches_metadata,
    path_matches,
    pattern_of,
    symbol_matches,
)
from .languages import KINDS, LANGUAGE_ALIASES, LANGUAGES
from .parser import parse_query
from .pattern import Pattern, compile_pattern
from .trigrams import TrigramQuery, required_trigrams, trigrams_of

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
    "Pattern",
    "Phrase",
    "Query",
    "QueryError",
    "Regex",
    "RepoFilter",
    "SymFilter",
    "TrigramQuery",
    "Word",
    "WordConstraint",
    "compile_pattern",
    "constraint_trigrams",
    "evaluate",
    "glob_to_regex",
    "leaves",
    "matches_metadata",
    "parse_query",
    "path_matches",
    "pattern_of",
    "required_trigrams",
    "requires_exact",
    "symbol_matches",
    "trigrams_of",
]
