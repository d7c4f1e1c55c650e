"""Phrases and regexes of a query as patterns."""

from __future__ import annotations

from dowse.query.ast import Phrase, Regex
from dowse.query.regex.matcher import Case, Pattern, compile_pattern


def pattern_of(leaf: Phrase | Regex, case: bool | None = None) -> Pattern:
    """Compile a leaf; `case` is Query.case: case:yes is exact, case:no ignores case, neither is smart."""
    mode: Case = "smart" if case is None else "sensitive" if case else "insensitive"
    if isinstance(leaf, Phrase):
        return compile_pattern(leaf.text, literal=True, case=mode)
    return compile_pattern(leaf.pattern, case="insensitive" if leaf.ignore_case else mode)
