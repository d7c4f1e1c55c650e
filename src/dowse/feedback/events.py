"""One choice: who chose what for which question, and how."""

from __future__ import annotations

import math
import unicodedata
from typing import NamedTuple

from dowse.errors import DowseError

# How one can choose: look at it, copy from it, open it in an editor; or say what one thinks of it.
KINDS = ("click", "copy", "open", "up", "down")
# Longer texts are no questions, and no names of visitors or symbols.
_MOST_QUERY, _MOST_SYMBOL, _MOST_VISITOR = 2_000, 1_000, 100
_MOST_RANK = 1_000_000


class Event(NamedTuple):
    """One choice."""

    query: str  # as it was asked
    symbol: str  # `Symbol.id`
    kind: str  # one of KINDS
    visitor: str  # a random name that a page keeps; "cli" for the command line
    rank: int = 0  # where it stood when it was chosen, from 1; 0 for unknown
    time: float = 0.0  # seconds since 1970; 0 is replaced by the time of recording


def checked(event: Event) -> Event:
    """Return an event that can be recorded, or say what is wrong with it."""
    if event.kind not in KINDS:
        raise DowseError(f"`kind` is one of {', '.join(KINDS)}, not {event.kind!r}")
    for name, text, most in (
        ("query", normalised(event.query), _MOST_QUERY),
        ("symbol", event.symbol.strip(), _MOST_SYMBOL),
        ("visitor", event.visitor.strip(), _MOST_VISITOR),
    ):
        if not text:
            raise DowseError(f"`{name}` is empty; feedback names a question, a symbol and a visitor")
        if len(text) > most or "\0" in text:
            raise DowseError(f"`{name}` is a line of at most {most:,} characters")
    if not 0 <= event.rank <= _MOST_RANK:
        raise DowseError(f"`rank` counts from 1 to {_MOST_RANK:,}, or is 0 for unknown, not {event.rank}")
    if not 0 <= event.time < math.inf:
        raise DowseError(f"`time` is in seconds since 1970, or 0 for now, not {event.time}")
    return event._replace(
        query=" ".join(storable(event.query).split()),
        symbol=storable(event.symbol.strip()),
        visitor=storable(event.visitor.strip()),
    )


def normalised(query: str) -> str:
    """Return a question such that case, white space and a question mark make no other one of it."""
    text = " ".join(unicodedata.normalize("NFC", storable(query)).casefold().split())
    return text.rstrip("?!. ") or text


def storable(text: str) -> str:
    """Return a text with "?" for what is no character: half of a surrogate pair, say."""
    return text.encode("utf-8", "replace").decode()


def terms_of(query: str) -> tuple[str, ...]:
    """Return the terms that a question ranks by: its filters and patterns are not what it is about."""
    from dowse.query import QueryError, parse_query
    from dowse.search.lanes.bm25 import query_terms

    try:
        words = parse_query(query).text_for_ranking
    except QueryError:
        words = query
    return tuple(term.text for term in query_terms(words))
