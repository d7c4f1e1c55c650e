"""From a question to what was chosen for it, and for questions like it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from dowse.feedback.events import normalised, terms_of
from dowse.feedback.store import Choice, FeedbackStore, Known
from dowse.feedback.weigh import likeness, pooled, vote
from dowse.search.ranking.feedback import Boost

# Less alike, two questions ask for different things.
LEAST_LIKENESS = 0.5
# Questions that are compared, of those that share terms.
_COMPARED = 50
# A question that is quoted is cut to so many characters.
_QUOTED = 60


def boosts(
    store: FeedbackStore,
    query: str,
    candidates: Collection[str] | None = None,
    *,
    similar: bool = True,
    rarity: Callable[[str], float] = lambda _: 1.0,
) -> dict[str, Boost]:
    """Return what choices say of symbols, by `Symbol.id`; empty where nothing is known.

    Args:
        store: The choices.
        query: As it is asked now.
        candidates: Symbols that it may speak of; None for all.
        similar: Whether choices for similar questions count too.
        rarity: What it says of a text to have a term.
    """
    number = store.number_of(query)
    alike = _alike(store, query, rarity) if similar else {}
    if number is None and not alike:
        return {}
    by_symbol: dict[str, list[Choice]] = defaultdict(list)
    for choice in store.choices([*([] if number is None else [number]), *alike]):
        if candidates is None or choice.symbol in candidates:
            by_symbol[choice.symbol].append(choice)
    found = {symbol: _boost(choices, number, alike) for symbol, choices in by_symbol.items()}
    return {symbol: boost for symbol, boost in found.items() if boost}


def _alike(
    store: FeedbackStore, query: str, rarity: Callable[[str], float]
) -> dict[int, tuple[float, Known]]:
    """Return questions that are like one, by number, with how like they are."""
    terms, text, worth = frozenset(terms_of(query)), normalised(query), _Worth(rarity)
    # A cosine is at most the root of the share of one's own that is shared.
    least = LEAST_LIKENESS**2 * sum(worth[term] ** 2 for term in terms)
    telling = _telling(terms, worth, least)
    alike = {}
    for each in store.sharing(telling, _COMPARED) if telling else ():
        if each.text != text and sum(worth[term] ** 2 for term in terms & each.terms) >= least:
            found = likeness(terms, each.terms, worth)
            if found >= LEAST_LIKENESS:
                alike[each.number] = (found, each)
    return alike


def _telling(terms: Collection[str], worth: Mapping[str, float], least: float) -> list[str]:
    """Return terms of which a question must share one to be like another: the common ones do not suffice."""
    telling, left = [], sum(worth[term] ** 2 for term in terms)
    for term in sorted(terms, key=lambda term: (-worth[term], term)):
        if left < least or not worth[term]:
            break
        telling.append(term)
        left -= worth[term] ** 2
    return telling


class _Worth(dict[str, float]):
    """Term → what it says; asked once for each."""

    def __init__(self, rarity: Callable[[str], float]) -> None:
        self._rarity = rarity

    def __missing__(self, term: str) -> float:
        worth = self[term] = self._rarity(term)
        return worth


def _boost(
    choices: Sequence[Choice], number: int | None, alike: Mapping[int, tuple[float, Known]]
) -> Boost | None:
    """Weigh the choices of one symbol; what was chosen for the question itself says all."""
    here = [choice for choice in choices if choice.query == number]
    if here:
        votes = sum(votes_of(here).values())
        return Boost(same=votes, detail=f"{_told(here)} for this question") if votes else None
    by_visitor: dict[str, list[float]] = defaultdict(list)
    for (visitor, query), value in votes_of(choices).items():
        by_visitor[visitor].append(alike[query][0] * value)
    together, others = pooled(by_visitor)
    if together <= 0:
        return None
    likest = max((alike[choice.query] for choice in choices), key=lambda found: found[0])[1]
    return Boost(
        similar=together, others=others, detail=f"{_told(choices)} for questions like “{_cut(likest.asked)}”"
    )


def votes_of(choices: Iterable[Choice]) -> dict[tuple[str, int], float]:
    """Return the vote of each visitor for each question."""
    kinds: dict[tuple[str, int], list[str]] = defaultdict(list)
    for choice in choices:
        kinds[choice.visitor, choice.query].append(choice.kind)
    return {each: vote(given) for each, given in kinds.items()}


def _told(choices: Sequence[Choice]) -> str:
    """Say how often something was chosen, and voted down."""
    down = sum(choice.kind == "down" for choice in choices)
    chosen = len(choices) - down
    told = [f"chosen {_times(chosen)}"] if chosen else []
    return " and ".join([*told, f"voted down {_times(down)}"] if down else told)


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _cut(text: str) -> str:
    return text if len(text) <= _QUOTED else f"{text[: _QUOTED - 1].rstrip()}…"
