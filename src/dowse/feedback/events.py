"""Feedback events: who chose which symbol for which query, and how."""

from __future__ import annotations

import math
import unicodedata

from dowse.errors import DowseError
from dowse.lazy_classes import NamedTuple
from dowse.security.terminal import replace_surrogates

# Implicit feedback (click, copy, open in an editor) and explicit feedback (vote up or down).
EVENT_KINDS = ("click", "copy", "open", "up", "down")
# Longer texts are no queries, and no names of visitors or symbols.
_MAX_QUERY, _MAX_SYMBOL, _MAX_VISITOR = 2_000, 1_000, 100
_MAX_RANK = 1_000_000
# A choice changes answers down to this rank: so many candidates are retrieved for its sake.
MAX_COUNTED_RANK = 1_000


class Event(NamedTuple):
    """One feedback event."""

    query: str  # as it was typed
    symbol: str  # `Symbol.id`
    kind: str  # one of EVENT_KINDS
    visitor: str  # a random name that a page keeps; "cli" for the command line
    rank: int = 0  # the rank of the hit when it was chosen, from 1; 0 for unknown
    time: float = 0.0  # seconds since 1970; 0 is replaced by the time of recording


def validate_event(event: Event) -> Event:
    """Return an event that can be recorded; raises DowseError if a field is invalid."""
    if event.kind not in EVENT_KINDS:
        raise DowseError(f"`kind` is one of {', '.join(EVENT_KINDS)}, not {event.kind!r}")
    for name, text, limit in (
        ("query", normalise_query(event.query), _MAX_QUERY),
        ("symbol", event.symbol.strip(), _MAX_SYMBOL),
        ("visitor", event.visitor.strip(), _MAX_VISITOR),
    ):
        if not text:
            raise DowseError(f"`{name}` is empty; feedback names a query, a symbol and a visitor")
        if len(text) > limit or "\0" in text:
            raise DowseError(f"`{name}` is a line of at most {limit:,} characters")
    if not 0 <= event.rank <= _MAX_RANK:
        raise DowseError(f"`rank` counts from 1 to {_MAX_RANK:,}, or is 0 for unknown, not {event.rank}")
    if not 0 <= event.time < math.inf:
        raise DowseError(f"`time` is in seconds since 1970, or 0 for now, not {event.time}")
    return event._replace(
        query=" ".join(replace_surrogates(event.query).split()),
        symbol=replace_surrogates(event.symbol.strip()),
        visitor=replace_surrogates(event.visitor.strip()),
    )


def normalise_query(query: str) -> str:
    """Return a query without differences in case, white space and final punctuation."""
    text = " ".join(unicodedata.normalize("NFC", replace_surrogates(query)).casefold().split())
    return text.rstrip("?!. ") or text


def ranking_terms(query: str) -> tuple[str, ...]:
    """Return the terms that a query ranks by, without its filters and patterns."""
    from dowse.errors import QueryError
    from dowse.parsing.tokenizer import tokenize_query
    from dowse.query.parser import parse_query

    try:
        text = parse_query(query).text_for_ranking
    except QueryError:
        text = query
    return tuple(tokenize_query(text))
