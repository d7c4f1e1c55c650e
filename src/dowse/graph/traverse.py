"""Walking the graph hop by hop: what is reached from some symbols, how far away, and by which references."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from dowse.graph.answer import doubt, is_test
from dowse.types import Edge, SymbolRow

# References looked at in one hop; a name that is everywhere has more, and nobody reads them.
EDGES_PER_HOP = 20_000
# Symbols that one walk reaches at most.
MOST_REACHED = 20_000
# A reference that could mean more symbols than this is shown, and the walk ends there: behind it lies
# everything that bears a common name, such as `get`.
FOLLOWED_CANDIDATES = 5


class GraphSource(Protocol):
    """What a walk needs of an index; every `Reader` has it."""

    def edges(
        self, rows: Sequence[int], kinds: Sequence[str] = (), incoming: bool = False, limit: int = ...
    ) -> list[Edge]:
        """Return edges out of symbols, or into them."""

    def rows(self, rows: Sequence[int]) -> list[SymbolRow]:
        """Return symbols by row, in the order asked."""


class Reached(NamedTuple):
    """A symbol that a walk came to."""

    symbol: SymbolRow
    depth: int  # hops: the length of the shortest way
    parent: int  # row of the symbol before it
    edges: tuple[Edge, ...]  # between the two, most certain first


class Walked(NamedTuple):
    """All that a walk found."""

    reached: tuple[Reached, ...]  # nearest first, then most certain, then by place
    edges: tuple[Edge, ...]  # every edge that was seen between two of them, or a seed and one
    is_cut: bool  # whether there was more than a walk looks at
    unfollowed: int  # symbols behind which nothing was looked for, for their edges may mean many others


# Given symbols that the walk goes on from: others whose edges count as theirs, and whose each is.
Companions = Callable[[Sequence[SymbolRow]], Mapping[int, int]]


def walk(
    source: GraphSource,
    seeds: Sequence[SymbolRow],
    kinds: Sequence[str],
    incoming: bool,
    depth: int,
    *,
    companions: Companions = lambda _: {},
    goes_on: Callable[[SymbolRow], bool] = lambda _: True,
    follows: Callable[[Edge], bool] = lambda _: True,
    more: Callable[[Sequence[SymbolRow]], Iterable[Edge]] = lambda _: (),
    doubted: Callable[[Edge], tuple[int, int]] = doubt,
    until: frozenset[int] = frozenset(),
    most: int = MOST_REACHED,
) -> Walked:
    """Return what is reached from the seeds in so many hops, each symbol once, where it is nearest.

    Args:
        source: The graph.
        seeds: Where to start; they are not reached themselves.
        kinds: Which edges to take.
        incoming: Walk from targets to sources, e.g. from what is called to its callers.
        depth: How many hops.
        companions: Gives more symbols whose edges are taken as those of the ones walked from.
        goes_on: Whether to look further behind a symbol that was reached.
        follows: Whether to take an edge at all.
        more: Gives edges that the graph does not hold, for symbols walked from.
        doubted: What orders edges, the surest first.
        until: Rows; the walk ends with the hop that reaches one of them.
        most: End the walk when so many were reached.
    """
    known = {seed.row for seed in seeds}
    frontier = list(seeds)
    reached: list[Reached] = []
    seen: dict[Edge, None] = {}
    is_cut, unfollowed = False, 0
    for hop in range(1, depth + 1):
        if not frontier or not until.isdisjoint(known):
            break
        whose = {**{symbol.row: symbol.row for symbol in frontier}, **companions(frontier)}
        edges = source.edges(sorted(whose), kinds, incoming, EDGES_PER_HOP)
        is_cut = is_cut or len(edges) >= EDGES_PER_HOP
        edges = [edge for edge in (*edges, *more(frontier)) if follows(edge)]
        seen.update(dict.fromkeys(edges))
        steps = _between(edges, whose, known, incoming)
        found = _arrivals(source, steps, [symbol.row for symbol in frontier], hop, doubted)
        if len(reached) + len(found) > most:
            found, is_cut = found[: most - len(reached)], True
        reached += found
        known.update(step.symbol.row for step in found)
        frontier = [step.symbol for step in found if goes_on(step.symbol) and not _is_vague(step)]
        unfollowed += sum(map(_is_vague, found)) if hop < depth else 0
    return Walked(tuple(reached), tuple(_among(seen, known)), is_cut, unfollowed)


def _between(
    edges: Iterable[Edge], whose: Mapping[int, int], known: set[int], incoming: bool
) -> dict[int, dict[int, list[Edge]]]:
    """Return the edges to what is not known yet, by where they lead and then by where they come from."""
    between: dict[int, dict[int, list[Edge]]] = defaultdict(lambda: defaultdict(list))
    for edge in edges:
        near, far = (edge.target, edge.source) if incoming else (edge.source, edge.target)
        if far not in known:
            between[far][whose[near]].append(edge)
    return between


def _arrivals(
    source: GraphSource,
    between: Mapping[int, Mapping[int, Sequence[Edge]]],
    order: Sequence[int],
    hop: int,
    doubted: Callable[[Edge], tuple[int, int]],
) -> list[Reached]:
    """Return the symbols that one hop newly reaches, in the order of an answer."""
    position = {row: at for at, row in enumerate(order)}
    found = []
    for symbol in source.rows(list(between)):
        parents = {near: _ordered(edges, doubted) for near, edges in between[symbol.row].items()}
        parent = min(parents, key=lambda near: (doubted(parents[near][0]), position[near]))
        found.append(Reached(symbol, hop, parent, parents[parent]))
    return sorted(found, key=lambda step: (doubted(step.edges[0]), aside(step.symbol), *place(step.symbol)))


def _ordered(edges: Sequence[Edge], doubted: Callable[[Edge], tuple[int, int]]) -> tuple[Edge, ...]:
    """Return the references from one symbol to another, surest first; each once, whatever it may mean.

    They stand in one file, so lines order them.
    """
    ordered = sorted(edges, key=lambda edge: (doubted(edge), edge.line, edge.column, edge.kind))
    first: dict[tuple[int, int, str], Edge] = {}
    for edge in ordered:
        first.setdefault((edge.line, edge.column, edge.kind), edge)
    return tuple(first.values())


def aside(symbol: SymbolRow) -> bool:
    """Whether a symbol is no part of what the project is for: its tests, examples, documentation."""
    return bool(symbol.role) or is_test(symbol)


def place(symbol: SymbolRow) -> tuple[str, str, int, int, str, int]:
    """Return what orders symbols wherever they are stored."""
    return (
        *(symbol.repo, symbol.path, symbol.start_line, -symbol.end_line),
        *(symbol.qualified_name, symbol.row),
    )


def _is_vague(step: Reached) -> bool:
    return step.edges[0].candidates > FOLLOWED_CANDIDATES


def _among(edges: Iterable[Edge], rows: set[int]) -> Iterable[Edge]:
    return (edge for edge in edges if edge.source in rows and edge.target in rows)
