"""Boosts of symbols from click feedback for the same query and for similar queries.

A visitor has one vote for a symbol and a query. Without an explicit vote it is 1 − Π (1 − weight of each
event): below 1, however often somebody clicks. The last explicit vote, 1 or −1, overrides the events.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache

from dowse.feedback.events import normalise_query, ranking_terms
from dowse.feedback.store import FeedbackStore, QueryEvent, StoredQuery
from dowse.types import Boost

# A click may be a mistake; who copies from a hit, or opens it in an editor, has use for it.
_EVENT_WEIGHTS = {"click": 0.4, "copy": 0.6, "open": 0.6}
_EXPLICIT_VOTES = {"up": 1.0, "down": -1.0}
# Less similar queries ask for different things.
_MIN_SIMILARITY = 0.5
# How many of the queries that share terms are compared.
_MAX_COMPARED = 50
# A quoted query is cut to so many characters.
_QUOTED_CHARACTERS = 60


def feedback_boosts(
    store: FeedbackStore,
    query: str,
    *,
    similar: bool = True,
    idf: Callable[[str], float] = lambda _: 1.0,
) -> dict[str, Boost]:
    """Return the boosts of symbols, by `Symbol.id`; empty where there is no feedback.

    Args:
        store: The recorded events.
        query: The current query.
        similar: Whether feedback for similar queries counts too.
        idf: The inverse document frequency of a term.
    """
    query_id = store.query_id(query)
    neighbours = _similar_queries(store, query, idf) if similar else {}
    if query_id is None and not neighbours:
        return {}
    by_symbol: dict[str, list[QueryEvent]] = defaultdict(list)
    for event in store.query_events([*([] if query_id is None else [query_id]), *neighbours]):
        by_symbol[event.symbol].append(event)
    boosts = {symbol: _boost(events, query_id, neighbours) for symbol, events in by_symbol.items()}
    return {symbol: boost for symbol, boost in boosts.items() if boost}


def visitor_vote(kinds: Iterable[str]) -> float:
    """Return one visitor's vote for one symbol and query, from −1 to 1; events come in the order of time."""
    doubt, explicit = 1.0, 0.0
    for kind in kinds:
        explicit = _EXPLICIT_VOTES.get(kind, explicit)
        doubt *= 1 - _EVENT_WEIGHTS.get(kind, 0.0)
    return explicit or 1 - doubt


def cosine_similarity(a: Iterable[str], b: Iterable[str], idf: Callable[[str], float]) -> float:
    """Return the cosine of the IDF vectors of two sets of terms, from 0 to 1."""
    first, second = set(a), set(b)
    sizes = [sum(idf(term) ** 2 for term in terms) for terms in (first, second)]
    shared = sum(idf(term) ** 2 for term in first & second)
    return shared / (sizes[0] * sizes[1]) ** 0.5 if shared else 0.0


def pool_votes(votes: Mapping[str, Sequence[float]]) -> tuple[float, float]:
    """Return the sum of all visitors' votes, and the sum without the visitor with the highest vote.

    Args:
        votes: By visitor, for several queries, each already weighted by the similarity of the query. Of
            those, only the strongest for and the strongest against count: asking the same in ten
            wordings gives nobody ten votes.
    """
    each = [max(0.0, *values) + min(0.0, *values) for values in votes.values()]
    return sum(each), sum(each) - max(each, default=0.0)


def _similar_queries(
    store: FeedbackStore, query: str, idf_of: Callable[[str], float]
) -> dict[int, tuple[float, StoredQuery]]:
    """Return stored queries that are similar to a query, by id, each with its similarity."""
    terms, text, idf = frozenset(ranking_terms(query)), normalise_query(query), cache(idf_of)
    # A cosine is at most the root of the share of the query's own weight that is shared.
    threshold = _MIN_SIMILARITY**2 * sum(idf(term) ** 2 for term in terms)
    selective = _selective_terms(terms, idf, threshold)
    neighbours = {}
    for stored in store.queries_sharing(selective, _MAX_COMPARED) if selective else ():
        shared = sum(idf(term) ** 2 for term in terms & stored.terms)
        if stored.text != text and shared >= threshold:
            similarity = cosine_similarity(terms, stored.terms, idf)
            if similarity >= _MIN_SIMILARITY:
                neighbours[stored.id] = (similarity, stored)
    return neighbours


def _selective_terms(terms: Collection[str], idf: Callable[[str], float], threshold: float) -> list[str]:
    """Return terms of which a similar query must share at least one: the common terms do not suffice."""
    selective, left = [], sum(idf(term) ** 2 for term in terms)
    for term in sorted(terms, key=lambda term: (-idf(term), term)):
        if left < threshold or not idf(term):
            break
        selective.append(term)
        left -= idf(term) ** 2
    return selective


def _boost(
    events: Sequence[QueryEvent], query_id: int | None, neighbours: Mapping[int, tuple[float, StoredQuery]]
) -> Boost | None:
    """Return the boost of one symbol; events for the query itself override those for similar queries."""
    same = [event for event in events if event.query == query_id]
    if same:
        votes = sum(_votes(same).values())
        return Boost(same=votes, detail=f"{_summary(same)} for this query") if votes else None
    by_visitor: dict[str, list[float]] = defaultdict(list)
    for (visitor, query), value in _votes(events).items():
        by_visitor[visitor].append(neighbours[query][0] * value)
    total, others = pool_votes(by_visitor)
    if total <= 0:
        return None
    most_similar = max((neighbours[event.query] for event in events), key=lambda pair: pair[0])[1]
    detail = f"{_summary(events)} for queries like “{_truncate(most_similar.original)}”"
    return Boost(similar=total, others=others, detail=detail)


def _votes(events: Iterable[QueryEvent]) -> dict[tuple[str, int], float]:
    """Return the vote of each visitor for each query."""
    kinds: dict[tuple[str, int], list[str]] = defaultdict(list)
    for event in events:
        kinds[event.visitor, event.query].append(event.kind)
    return {key: visitor_vote(several) for key, several in kinds.items()}


def _summary(events: Sequence[QueryEvent]) -> str:
    """Return how often a symbol was chosen, and voted down, in words."""
    down = sum(event.kind == "down" for event in events)
    counts = (("chosen", len(events) - down), ("voted down", down))
    return " and ".join(f"{verb} {'once' if n == 1 else f'{n} times'}" for verb, n in counts if n)


def _truncate(text: str) -> str:
    return text if len(text) <= _QUOTED_CHARACTERS else f"{text[: _QUOTED_CHARACTERS - 1].rstrip()}…"
