"""Breadth-first search over the call graph: symbols, their distance, and the references to them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

from dowse import deadline
from dowse.graph.model import EdgeSource, location_key, role_order, uncertainty
from dowse.lazy_classes import NamedTuple
from dowse.types import Edge, SymbolRow

# Edges read in one hop; a name that is used everywhere has more, and nobody reads them.
EDGES_PER_HOP = 20_000
# Symbols that one search reaches at most.
MAX_REACHED = 20_000
# A reference with more candidates than this is part of the result, but the search does not go on behind it:
# everything with a common name, such as `get`, would follow.
MAX_FOLLOWED_CANDIDATES = 5

EdgeRank = Callable[[Edge], tuple[int, int]]
# Maps symbols of the frontier to others whose edges count as theirs: row of the other → row in the frontier.
Aliases = Callable[[Sequence[SymbolRow]], Mapping[int, int]]


class Reached(NamedTuple):
    """A symbol that a search reached."""

    symbol: SymbolRow
    depth: int  # hops: the length of the shortest path
    parent: int  # row of the symbol before it
    edges: tuple[Edge, ...]  # between the two, most certain first


class Traversal(NamedTuple):
    """The result of a search."""

    reached: tuple[Reached, ...]  # nearest first, then code before tests, most certain first, by location
    edges: tuple[Edge, ...]  # all edges seen between two of them, or a seed and one
    is_truncated: bool  # whether a limit was reached
    unfollowed: int  # symbols that were not followed, since their references have too many candidates


def breadth_first_search(
    source: EdgeSource,
    seeds: Sequence[SymbolRow],
    kinds: Sequence[str],
    incoming: bool,
    depth: int,
    *,
    aliases: Aliases = lambda _: {},
    expands: Callable[[SymbolRow], bool] = lambda _: True,
    accepts: Callable[[Edge], bool] = lambda _: True,
    extra_edges: Callable[[Sequence[SymbolRow]], Iterable[Edge]] = lambda _: (),
    rank: EdgeRank = uncertainty,
    goal: frozenset[int] = frozenset(),
    limit: int = MAX_REACHED,
) -> Traversal:
    """Return the symbols that are reached from the seeds, each once, at its smallest distance (Moore 1959).

    Args:
        source: The graph.
        seeds: The symbols to start from; they are not part of the result.
        kinds: The kinds of edges to follow.
        incoming: Follow edges from target to source, e.g. from a function to its callers.
        depth: The number of hops.
        aliases: Gives further symbols whose edges count as those of the frontier.
        expands: Whether to follow the edges of a symbol that was reached.
        accepts: Whether to follow an edge.
        extra_edges: Gives edges of the frontier that the graph does not store.
        rank: The sort key of edges, most certain first.
        goal: Rows; the search ends with the hop that reaches one of them.
        limit: End the search when it has reached this many symbols.
    """
    visited = {seed.row for seed in seeds}
    frontier = list(seeds)
    reached: list[Reached] = []
    seen: dict[Edge, None] = {}
    is_truncated, unfollowed = False, 0
    for hop in range(1, depth + 1):
        if not frontier or not goal.isdisjoint(visited):
            break
        deadline.check()
        owners = {**{symbol.row: symbol.row for symbol in frontier}, **aliases(frontier)}
        edges = source.edges(sorted(owners), kinds, incoming, EDGES_PER_HOP)
        is_truncated = is_truncated or len(edges) >= EDGES_PER_HOP
        edges = [edge for edge in (*edges, *extra_edges(frontier)) if accepts(edge)]
        seen.update(dict.fromkeys(edges))
        by_target = _group_edges(edges, owners, visited, incoming)
        new_steps = _reached_in_hop(source, by_target, [symbol.row for symbol in frontier], hop, rank)
        if len(reached) + len(new_steps) > limit:
            new_steps, is_truncated = new_steps[: limit - len(reached)], True
        reached += new_steps
        visited.update(step.symbol.row for step in new_steps)
        frontier = [step.symbol for step in new_steps if expands(step.symbol) and not _is_vague(step)]
        unfollowed += sum(map(_is_vague, new_steps)) if hop < depth else 0
    among = tuple(edge for edge in seen if edge.source in visited and edge.target in visited)
    return Traversal(tuple(reached), among, is_truncated, unfollowed)


def _group_edges(
    edges: Iterable[Edge], owners: Mapping[int, int], visited: set[int], incoming: bool
) -> dict[int, dict[int, list[Edge]]]:
    """Return the edges to new symbols, by that symbol and then by the symbol of the frontier."""
    groups: dict[int, dict[int, list[Edge]]] = defaultdict(lambda: defaultdict(list))
    for edge in edges:
        # A call of a method may run one that overrides it, in whichever direction calls are followed.
        is_backward = incoming or edge.kind == "overrides"
        near, far = (edge.target, edge.source) if is_backward else (edge.source, edge.target)
        if far not in visited:
            groups[far][owners[near]].append(edge)
    return groups


def _reached_in_hop(
    source: EdgeSource,
    groups: Mapping[int, Mapping[int, Sequence[Edge]]],
    frontier: Sequence[int],
    hop: int,
    rank: EdgeRank,
) -> list[Reached]:
    """Return the symbols that one hop newly reaches, in the order of an answer."""
    position = {row: index for index, row in enumerate(frontier)}
    steps = []
    for symbol in source.rows(list(groups)):
        parents = {near: _distinct_references(edges, rank) for near, edges in groups[symbol.row].items()}
        parent = min(parents, key=lambda near: (rank(parents[near][0]), position[near]))
        steps.append(Reached(symbol, hop, parent, parents[parent]))
    return sorted(
        steps, key=lambda step: (role_order(step.symbol), rank(step.edges[0]), *location_key(step.symbol))
    )


def _distinct_references(edges: Sequence[Edge], rank: EdgeRank) -> tuple[Edge, ...]:
    """Return the references from one symbol to another, most certain first; one edge for each reference.

    All are in one file, so lines order them.
    """
    first: dict[tuple[int, int, str], Edge] = {}
    for edge in sorted(edges, key=lambda edge: (rank(edge), edge.line, edge.column, edge.kind)):
        first.setdefault((edge.line, edge.column, edge.kind), edge)
    return tuple(first.values())


def _is_vague(step: Reached) -> bool:
    return step.edges[0].candidates > MAX_FOLLOWED_CANDIDATES
