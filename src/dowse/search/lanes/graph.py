"""The graph lane: the symbols that a call-graph traversal reaches from seeds, nearest and surest first."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from dowse.graph.mentions import find_mentions
from dowse.graph.model import RELATIONS, SYMBOL_KINDS, describe_confidence, role_order
from dowse.graph.reachability import Bases, dispatching_method, reach, relation_of, shortest_path
from dowse.graph.traverse import Aliases, Reached, breadth_first_search
from dowse.graph.type_hierarchy import call_aliases, is_definition
from dowse.search.lanes.jobs import MENTION_SCORE, LaneResult
from dowse.storage.protocol import Reader
from dowse.types import is_test

# Score of a reference by its confidence; the number of references breaks ties.
_CONFIDENCE_SCORES = {"resolved": 2.0, "unique": 1.0, "possible": 0.5, "ambiguous": 0.0}
# Factor of each hop from the seed: a farther symbol never scores above a nearer one.
_HOP_FACTOR = 0.5
# Factor of tests, examples and imports among symbols that are as near and as sure.
_SECONDARY_FACTOR = 0.4
# Factor of the callees of a bare name: a query for a name looks for its callers first.
_OUTGOING_FACTOR = 0.5


def graph_query_lane(
    reader: Reader,
    seeds: Sequence[int],
    limit: int,
    relation: str = "",
    depth: int = 1,
    ends: Sequence[int] = (),
) -> LaneResult:
    """Traverse the call graph from the seeds: by a relation, to the ends of a path, or to their neighbours.

    `relation` is a key of `RELATIONS`, "tests", or "" for the neighbours; `depth` is never less than the
    relation needs.
    """
    if not relation:
        return neighbour_lane(reader, seeds, limit)
    if relation == "tests":
        return tests_lane(reader, seeds, depth, limit)
    depth = max(depth, RELATIONS[relation].depth)
    if relation == "path":
        return path_lane(reader, seeds, ends, depth, limit)
    return relation_lane(reader, relation, seeds, depth, limit)


def relation_lane(reader: Reader, relation: str, seeds: Sequence[int], depth: int, limit: int) -> LaneResult:
    """Return the symbols in a relation to the seeds, as the command of that name lists them.

    If none is certain, the symbols that mention the name follow.
    """
    symbols = reader.rows(list(dict.fromkeys(seeds)))
    if not symbols:
        return _make_result(())
    relation = relation_of(relation, symbols)
    walked, bases = reach(reader, relation, symbols, depth)
    incoming = RELATIONS[relation].incoming
    result = _scored_result(reader, walked.reached, incoming, limit, bases, by_role=True)
    found = _triples(result)
    mentions = find_mentions(reader, relation, symbols, walked.reached, bases)
    known = {0, *result.rows}  # a line outside all symbols has no row
    for mention in mentions.shown:
        if mention.symbol.row not in known:
            known.add(mention.symbol.row)
            detail = f"mentions {symbols[0].name} in line {mention.line}, not known to refer to it"
            found.append((mention.symbol.row, MENTION_SCORE, detail))
    return _make_result(found[:limit])


def tests_lane(reader: Reader, seeds: Sequence[int], depth: int, limit: int) -> LaneResult:
    """Return the tests that reach the seeds, nearest first."""
    walked, bases = reach(reader, "impact", reader.rows(list(dict.fromkeys(seeds))), depth)
    tests = [step for step in walked.reached if is_test(step.symbol) and step.symbol.kind != "module"]
    return _scored_result(reader, tests, True, limit, bases)


def graph_lane(
    reader: Reader, seeds: Sequence[int], kinds: Sequence[str], incoming: bool, depth: int, limit: int
) -> LaneResult:
    """Return what is reached from the seeds by edges of some kinds, of all if none are named."""
    symbols = reader.rows(list(dict.fromkeys(seeds)))
    joined = not kinds or "calls" in kinds  # who calls a constructor uses its class
    aliases: Aliases = partial(call_aliases, reader, incoming=incoming) if joined else lambda _: {}
    walked = breadth_first_search(
        reader, symbols, kinds, incoming, depth, aliases=aliases, expands=is_definition
    )
    return _scored_result(reader, walked.reached, incoming, limit)


def neighbour_lane(reader: Reader, seeds: Sequence[int], limit: int) -> LaneResult:
    """Return the neighbours of a definition: incoming references first, then outgoing ones."""
    into = graph_lane(reader, seeds, SYMBOL_KINDS if min(seeds, default=0) > 0 else (), True, 1, limit)
    out = graph_lane(reader, seeds, SYMBOL_KINDS, False, 1, limit)
    known, share = set(into.rows), _OUTGOING_FACTOR * min(into.scores, default=1.0)
    more = [
        (row, share * score, detail) for row, score, detail in _triples(out) if row not in known and row > 0
    ]
    return _make_result([*_triples(into), *more][:limit])


def path_lane(
    reader: Reader, starts: Sequence[int], ends: Sequence[int], depth: int, limit: int
) -> LaneResult:
    """Return the symbols of the shortest chain from some symbols to others, in its order."""
    first, last = reader.rows(starts), reader.rows(ends)
    chain = shortest_path(reader, first, last, depth)
    return _scored_result(reader, chain.steps, False, limit)


def _scored_result(
    reader: Reader,
    reached: Sequence[Reached],
    incoming: bool,
    limit: int,
    bases: Bases | None = None,
    *,
    by_role: bool = False,
) -> LaneResult:
    """Score the symbols that a traversal reached, each with a detail that names the reference."""
    bases = bases or {}
    ends = {row for step in reached for row in step.edges[0][1:3]}
    names = {row.row: row.qualified_name for row in reader.rows(sorted(ends))}
    scored = [
        (step.symbol.row, _score(step, bases, by_role), _detail(step, names, incoming, bases))
        for step in reached
    ]
    scored.sort(key=lambda each: -each[1])  # ties keep the order of the traversal, by location
    return _make_result(scored[:limit])


def _score(step: Reached, bases: Bases, by_role: bool) -> float:
    """Return a score by hops, by role if asked, by the best confidence, then by the number of references."""
    edge, count = step.edges[0], len(step.edges)
    only_possible = dispatching_method(step, bases) and edge.confidence != "ambiguous"
    confidence = _CONFIDENCE_SCORES["possible" if only_possible else edge.confidence]
    tie_break = count / (count + 1) / max(1, edge.candidates)  # in (0, 1)
    if role_order(step.symbol) or edge.kind == "imports":
        tie_break *= _SECONDARY_FACTOR
    share = (confidence + tie_break) / 3  # in (0, 1)
    if by_role:  # as graph queries list them: code, other files, tests
        share = (share + 2 - role_order(step.symbol)) / 3
    return _HOP_FACTOR ** (step.depth - 1) * (0.5 + share / 2)


def _detail(step: Reached, names: dict[int, str], incoming: bool, bases: Bases) -> str:
    edge = step.edges[0]
    target = names[edge.target]
    reference = f"{edge.kind} {target}" if incoming else f"{names[edge.source]} {edge.kind} {target}"
    more = f", {len(step.edges)} references" if len(step.edges) > 1 else ""
    possible = f", may mean {bases[edge.target][1].qualified_name}" if dispatching_method(step, bases) else ""
    return f"{reference} in line {edge.line}, {describe_confidence(edge)}{more}{possible}"


def _triples(result: LaneResult) -> list[tuple[int, float, str]]:
    return list(zip(result.rows, result.scores, result.details, strict=True))


def _make_result(candidates: Sequence[tuple[int, float, str]]) -> LaneResult:
    rows, scores, details = zip(*candidates, strict=True) if candidates else ((), (), ())
    return LaneResult(rows, scores, details)
