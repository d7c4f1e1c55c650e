"""The graph lane: the symbols that references lead to from a seed, nearest and surest first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from dowse.graph.model import RELATIONS, describe_confidence, is_peripheral
from dowse.graph.reachability import Bases, dispatching_method, reach, shortest_path
from dowse.graph.traverse import Aliases, Reached, breadth_first_search
from dowse.graph.type_hierarchy import call_aliases, is_definition
from dowse.storage.protocol import Reader

# What a reference is worth by how sure it is; the number of references decides among equals.
_SURE = {"resolved": 2.0, "unique": 1.0, "possible": 0.5, "ambiguous": 0.0}
# What each hop away from the seed costs: nothing that is farther ever outweighs what is nearer.
_HOP = 0.5
# Tests, examples and imports come behind other code that is as near and as sure.
_ASIDE = 0.4
# Callees of a bare name are worth less than its callers: who types a name looks for its use.
_OUTGOING = 0.5


@dataclass(frozen=True, slots=True)
class GraphResult:
    """What the lane found: rows and scores, best first, and why each is there."""

    rows: tuple[int, ...]
    scores: tuple[float, ...]  # in (0, 1]
    details: tuple[str, ...]  # "calls shop.Cart.add in line 12, resolved"
    is_cut: bool = False  # whether there was more than the walk looks at


def ask_graph(
    reader: Reader,
    seeds: Sequence[int],
    limit: int,
    relation: str = "",
    depth: int = 1,
    ends: Sequence[int] = (),
) -> GraphResult:
    """Answer what the planner asks of the graph: a relation, a path, or what stands around a name.

    Args:
        reader: One generation of an index.
        seeds: Rows to start from.
        limit: How many to return at most.
        relation: A key of `RELATIONS`; "" for the neighbours.
        depth: Hops to walk; never fewer than the relation needs.
        ends: Rows that a path shall lead to.
    """
    if not relation:
        return neighbour_lane(reader, seeds, limit)
    depth = max(depth, RELATIONS[relation].depth)
    if relation == "path":
        return path_lane(reader, seeds, ends, depth, limit)
    return relation_lane(reader, relation, seeds, depth, limit)


def relation_lane(reader: Reader, relation: str, seeds: Sequence[int], depth: int, limit: int) -> GraphResult:
    """Return what the command of the same name would list, as the lane of a question in words.

    Args:
        reader: One generation of an index.
        relation: A key of `RELATIONS`, other than path.
        seeds: Rows of what is asked about; they are not part of the result.
        depth: How many hops.
        limit: How many to return at most.
    """
    symbols = reader.rows(list(dict.fromkeys(seeds)))
    walked, bases = reach(reader, relation, symbols, depth)
    incoming = RELATIONS[relation].incoming
    return _result(reader, walked.reached, incoming, limit, walked.is_truncated, bases)


def graph_lane(
    reader: Reader,
    seeds: Sequence[int],
    kinds: Sequence[str],
    incoming: bool,
    depth: int,
    limit: int,
) -> GraphResult:
    """Return what is reached from some symbols by edges of some kinds, of all if none are named.

    Args:
        reader: One generation of an index.
        seeds: Rows to start from; they are not part of the result.
        kinds: Of edges.
        incoming: From what is used to what uses it.
        depth: How many hops.
        limit: How many to return at most.
    """
    symbols = reader.rows(list(dict.fromkeys(seeds)))
    joined = not kinds or "calls" in kinds  # who calls a constructor uses its class
    together: Aliases = partial(call_aliases, reader, incoming=incoming) if joined else lambda _: {}
    walked = breadth_first_search(
        reader, symbols, kinds, incoming, depth, aliases=together, expands=is_definition
    )
    return _result(reader, walked.reached, incoming, limit, walked.is_truncated)


def neighbour_lane(reader: Reader, seeds: Sequence[int], limit: int) -> GraphResult:
    """Return what stands around a definition: what refers to it first, then what it refers to."""
    into = graph_lane(reader, seeds, (), True, 1, limit)
    out = graph_lane(reader, seeds, (), False, 1, limit)
    known, share = set(into.rows), _OUTGOING * min(into.scores, default=1.0)
    more = [(row, share * score, detail) for row, score, detail in _each(out) if row not in known]
    return _from([*_each(into), *more][:limit], into.is_cut or out.is_cut)


def path_lane(
    reader: Reader, starts: Sequence[int], ends: Sequence[int], depth: int, limit: int
) -> GraphResult:
    """Return the symbols of the shortest chain from some symbols to others, in its order."""
    first, last = reader.rows(starts), reader.rows(ends)
    chain = shortest_path(reader, first, last, depth)
    return _result(reader, chain.steps, False, limit, chain.is_truncated)


def _result(
    reader: Reader,
    reached: Sequence[Reached],
    incoming: bool,
    limit: int,
    is_cut: bool,
    bases: Bases | None = None,
) -> GraphResult:
    """Score what a walk reached and say why."""
    bases = bases or {}
    ends = {row for step in reached for row in step.edges[0][1:3]}
    names = {row.row: row.qualified_name for row in reader.rows(sorted(ends))}
    scored = [
        (step.symbol.row, _score(step, bases), _detail(step, names, incoming, bases)) for step in reached
    ]
    scored.sort(key=lambda each: -each[1])  # among equals the walk's own order by place stays
    return _from(scored[:limit], is_cut)


def _score(step: Reached, bases: Bases) -> float:
    """Return a score by hops, then by how sure the surest reference is, then by how many there are."""
    edge, count = step.edges[0], len(step.edges)
    only_possible = dispatching_method(step, bases) and edge.confidence != "ambiguous"
    sure = _SURE["possible" if only_possible else edge.confidence]
    among = count / (count + 1) / edge.candidates  # in (0, 1)
    if is_peripheral(step.symbol) or edge.kind == "imports":
        among *= _ASIDE
    return _HOP ** (step.depth - 1) * (0.5 + (sure + among) / 6)


def _detail(step: Reached, names: dict[int, str], incoming: bool, bases: Bases) -> str:
    edge = step.edges[0]
    target = names[edge.target]
    said = f"{edge.kind} {target}" if incoming else f"{names[edge.source]} {edge.kind} {target}"
    more = f", {len(step.edges)} references" if len(step.edges) > 1 else ""
    possible = f", may mean {bases[edge.target][1].qualified_name}" if dispatching_method(step, bases) else ""
    return f"{said} in line {edge.line}, {describe_confidence(edge)}{more}{possible}"


def _each(result: GraphResult) -> list[tuple[int, float, str]]:
    return list(zip(result.rows, result.scores, result.details, strict=True))


def _from(found: Sequence[tuple[int, float, str]], is_cut: bool) -> GraphResult:
    rows, scores, details = zip(*found, strict=True) if found else ((), (), ())
    return GraphResult(rows, scores, details, is_cut)
