"""Which lanes a query will most likely need, told from its text alone.

A command starts what they need while it opens the index, which the planner asks about names.
"""

from __future__ import annotations

from dowse.query.lexer import is_code_word, tokenize
from dowse.query.parser import plain_words
from dowse.query.structural import parse_structural
from dowse.search.options import MODE_LANES, PLANNED_LANES, SearchRequest


def likely_lanes(request: SearchRequest) -> tuple[str, ...]:
    """Return the lanes of a query if every name in it is that of a symbol; of no text, those of any query."""
    options, text = request.options, request.text
    if options.lanes or options.mode != "auto":
        return options.lanes or MODE_LANES[options.mode]
    if not text:
        return PLANNED_LANES
    if parse_structural(text, lambda _: True):
        return ("keyword", "graph")
    if options.plain:
        are_names = {is_code_word(word) for word in plain_words(text)}
    else:
        are_names = {token.flag for token in tokenize(text) if token.kind == "word"}
    lanes = ["keyword"]
    lanes += ["embedding"] if False in are_names else []
    lanes += ["graph"] if True in are_names else []
    return tuple(lanes)
