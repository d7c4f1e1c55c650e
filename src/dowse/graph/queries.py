"""Graph queries: resolve the name, traverse the graph, and return an answer with notes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from dowse.errors import DowseError
from dowse.graph.mentions import MENTION_LIMIT, find_mentions
from dowse.graph.model import RELATIONS, GraphAnswer, GraphStep
from dowse.graph.notes import (
    dispatch_note,
    empty_note,
    mention_note,
    no_path_note,
    not_called_note,
    seed_notes,
    truncation_notes,
)
from dowse.graph.reachability import (
    Bases,
    ShortestPath,
    dispatching_method,
    reach,
    relation_of,
    shortest_path,
)
from dowse.graph.tests_to_run import impact_notes, is_doubtful
from dowse.graph.traverse import Reached
from dowse.graph.type_hierarchy import KINDS_WITH_MEMBERS
from dowse.lazy_classes import replace
from dowse.storage.protocol import Reader
from dowse.symbol_lookup import resolve_all, resolve_groups
from dowse.types import INCOMPLETE_INDEX, UNLINKED_GRAPH, Edge, Note, SymbolRow

# Relations of types: if a name can mean a type, it does.
_TYPE_RELATIONS = ("implementers", "subclasses", "supertypes")


def query_relation(
    reader: Reader,
    relation: str,
    name: str,
    depth: int | None = None,
    k: int | None = None,
) -> GraphAnswer:
    """Return the symbols in a relation to the symbol with a name; raise if it is unknown or ambiguous.

    Args:
        reader: One generation of an index.
        relation: callers, callees, uses, implementers, subclasses, supertypes or impact.
        name: `pkg.Class.method`, `Class.method`, `name` or `file.py:42`.
        depth: The number of hops; None takes the default of the relation.
        k: The number of steps; 0 gives all, None takes the default of the relation.
    """
    _check_limits(depth, k)
    seeds = resolve_all(reader, name, _seed_kinds(relation))
    notes = seed_notes(name, seeds)
    return query_relation_of(reader, relation, seeds, depth, k, notes=notes)


def seeds_named(reader: Reader, relation: str, name: str) -> list[list[SymbolRow]]:
    """Return the symbols that a name means in a relation, as its command takes it; none if it is unknown."""
    try:
        return resolve_groups(reader, name, _seed_kinds(relation))
    except DowseError:
        return []


def query_relation_of(
    reader: Reader,
    relation: str,
    seeds: Sequence[SymbolRow],
    depth: int | None = None,
    k: int | None = None,
    *,
    notes: Sequence[Note] = (),
) -> GraphAnswer:
    """Return the symbols in a relation to known ones: a symbol, its overloads, the parts of a long one.

    Names are not called: instead of their callers, their uses are returned.
    """
    _check_limits(depth, k)
    notes = list(notes)
    if (meant := relation_of(relation, seeds)) != relation:
        relation = meant
        notes.append(not_called_note(seeds[0]))
    defaults = RELATIONS[relation]
    hops, limit = depth or defaults.depth, defaults.limit if k is None else k
    traversal, bases = reach(reader, relation, seeds, hops)
    steps = _steps(reader, traversal.reached, bases)
    if possible := [step for step in steps if step.through and step.depth == 1]:
        notes.append(dispatch_note(possible, seeds[0]))
    mention_limit = MENTION_LIMIT if limit else 0
    mentions = find_mentions(reader, relation, seeds, traversal.reached, bases, mention_limit)
    if mentions.total:
        notes.append(mention_note(relation, seeds[0], mentions, is_empty=not steps))
    elif not steps:
        notes.append(empty_note(reader, relation, seeds, traversal, mentions))
    is_impact = relation == "impact"
    doubtful = {step.number for step in steps if is_impact and limit and is_doubtful(step)}
    found = [step for step in steps if step.number not in doubtful]
    shown = _nearest(steps, limit, tests_apart=is_impact, left_out=doubtful)
    notes += truncation_notes(traversal, found, shown)
    if is_impact:
        notes += impact_notes(reader, seeds[0], traversal, found, len(doubtful), hops)
    answer = _answer(reader, relation, seeds, shown, found, hops, traversal.edges, notes)
    return replace(answer, mentions=mentions.shown, total_mentions=mentions.total)


def find_path(reader: Reader, start: str, end: str, depth: int | None = None) -> GraphAnswer:
    """Return the shortest path of calls and uses, of `depth` hops at most, between two symbols by name."""
    starts, ends = resolve_all(reader, start), resolve_all(reader, end)
    notes = [*seed_notes(start, starts), *seed_notes(end, ends)]
    return find_path_between(reader, starts, ends, depth, notes=notes)


def find_path_between(
    reader: Reader,
    starts: Sequence[SymbolRow],
    ends: Sequence[SymbolRow],
    depth: int | None = None,
    *,
    notes: Sequence[Note] = (),
) -> GraphAnswer:
    """Return the shortest path between known symbols."""
    _check_limits(depth)
    hops = depth or RELATIONS["path"].depth
    notes = list(notes)
    path = shortest_path(reader, starts, ends, hops)
    if not path.steps:
        notes.append(no_path_note(reader, starts, ends, hops))
    elif not path.is_certain:
        text = "every path has an ambiguous link: this one holds if each means the symbol that it needs"
        notes.append(Note("graph", text))
    if path.is_truncated:
        notes.append(Note("graph", "the search reached its limit: a path may have been missed"))
    steps = _steps(reader, path.steps, {})
    for number, step in enumerate(steps):
        if step.edge.kind == "overrides":
            steps[number] = replace(step, through=step.other)
            notes.append(dispatch_note(steps[number : number + 1], step.symbol))
    edges = tuple(edge for step in path.steps for edge in step.edges)
    seeds = [*_start_member(reader, starts, path), *starts]
    return _answer(reader, "path", seeds, steps, steps, hops, edges, notes, ends[0])


def _seed_kinds(relation: str) -> Collection[str]:
    return KINDS_WITH_MEMBERS if relation in _TYPE_RELATIONS else ()


def _check_limits(depth: int | None, k: int | None = None) -> None:
    if depth is not None and depth < 1:
        raise DowseError(f"`depth` is a number of hops from 1, not {depth}")
    if k is not None and k < 0:
        raise DowseError(f"`k` is a number of symbols or 0 for all, not {k}")


def _steps(reader: Reader, reached: Sequence[Reached], bases: Bases) -> list[GraphStep]:
    numbers = {step.symbol.row: number for number, step in enumerate(reached, 1)}
    others = {row.row: row for row in reader.rows(sorted({_other_end(step) for step in reached}))}
    steps = []
    for number, step in enumerate(reached, 1):
        other, parent = others[_other_end(step)], numbers.get(step.parent, 0)
        # References are in the file of their source.
        path = step.symbol.path if step.symbol.row == step.edges[0].source else other.path
        base = dispatching_method(step, bases)
        found = (step.symbol, step.depth, parent, step.edges)
        steps.append(GraphStep(number, *found, path, other.qualified_name, base))
    return steps


def _nearest(
    steps: Sequence[GraphStep], limit: int, *, tests_apart: bool, left_out: Collection[int] = ()
) -> list[GraphStep]:
    """Return the nearest steps, all without a limit; with `tests_apart`, so many tests and so many others."""
    if not limit:
        return list(steps)
    left = {False: limit, True: limit}
    numbers = {0: 0}  # of the steps that are kept, by their numbers before
    shown: list[GraphStep] = []
    for step in steps:
        is_test, parent = tests_apart and step.is_test, step.parent
        if not left[is_test] or step.number in left_out:
            continue
        left[is_test] -= 1
        while parent not in numbers:
            parent = steps[parent - 1].parent
        numbers[step.number] = len(shown) + 1
        shown.append(replace(step, number=len(shown) + 1, parent=numbers[parent]))
    return shown


def _other_end(step: Reached) -> int:
    """Return the row at the other end of the most certain reference."""
    edge = step.edges[0]
    return edge.target if edge.source == step.symbol.row else edge.source


def _answer(
    reader: Reader,
    relation: str,
    seeds: Sequence[SymbolRow],
    steps: Sequence[GraphStep],
    found: Sequence[GraphStep],
    depth: int,
    edges: Iterable[Edge],
    notes: Sequence[Note],
    target: SymbolRow | None = None,
) -> GraphAnswer:
    if not reader.is_complete:
        notes = [*notes, INCOMPLETE_INDEX]
    elif not reader.is_linked:
        notes = [*notes, UNLINKED_GRAPH]
    # Of a long symbol that is stored in parts, the first part counts.
    first = {(seed.qualified_name, seed.signature): seed for seed in reversed(seeds)}
    distinct = tuple(seed for seed in seeds if seed in first.values())
    shown = {row.row for row in distinct} | {step.symbol.row for step in steps}
    kept = {edge: None for edge in edges if edge.source in shown and edge.target in shown}
    kept.update((edge, None) for step in steps for edge in step.references)
    return GraphAnswer(
        *(relation, distinct, tuple(steps), len(found), depth, reader.generation, tuple(kept), tuple(notes)),
        target=target,
        total_tests=sum(step.is_test for step in found),
        total_by_depth=tuple(
            sum(not step.is_test for step in found if step.depth == hop)
            for hop in range(1, max((step.depth for step in found), default=0) + 1)
        ),
    )


def _start_member(reader: Reader, starts: Sequence[SymbolRow], path: ShortestPath) -> list[SymbolRow]:
    """Return the method of a type that the path starts with, if it does not start with the type itself."""
    if not path.steps or path.steps[0].parent in {row.row for row in starts}:
        return []
    return reader.rows([path.steps[0].parent])
