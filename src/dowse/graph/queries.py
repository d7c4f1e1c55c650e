"""From a question to the graph to its answer: name the seed, walk, say what was found and what can't be."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from dowse.errors import DowseError
from dowse.graph.answer import GraphAnswer, GraphStep
from dowse.graph.notes import (
    about_cuts,
    about_dispatch,
    about_no_path,
    about_nothing,
    about_seed,
    about_values,
)
from dowse.graph.path import Chain, shortest_chain
from dowse.graph.reachability import Bases, reach, through
from dowse.graph.relations import RELATIONS
from dowse.graph.resolve.inheritance import WITH_MEMBERS
from dowse.graph.secrets import without_secrets
from dowse.graph.traverse import Reached
from dowse.storage.protocol import Reader
from dowse.symbol_lookup import resolve_all
from dowse.types import INCOMPLETE_INDEX, Edge, Note, SymbolRow

# Questions that are about types where a name can mean one.
_OF_TYPES = ("implementers", "subclasses", "supertypes")


def ask(
    reader: Reader,
    relation: str,
    name: str,
    depth: int | None = None,
    k: int | None = None,
    *,
    show_secrets: bool = False,
) -> GraphAnswer:
    """Answer one question about one symbol; raise if the name is unknown or could mean several.

    Args:
        reader: One generation of an index.
        relation: callers, callees, uses, implementers, subclasses, supertypes or impact.
        name: `pkg.Class.method`, `Class.method`, `name` or `file.py:42`.
        depth: Hops to walk; None takes what is usual for the relation.
        k: How many steps to give; 0 gives all, None what is usual for the relation.
        show_secrets: Do not mask likely secrets in names and signatures.
    """
    _check(depth, k)
    seeds = resolve_all(reader, name, WITH_MEMBERS if relation in _OF_TYPES else ())
    answer = ask_about(reader, relation, seeds, depth, k, show_secrets=True)
    answer = replace(answer, notes=(*about_seed(name, seeds), *answer.notes))
    return answer if show_secrets else without_secrets(answer)


def ask_about(
    reader: Reader,
    relation: str,
    seeds: Sequence[SymbolRow],
    depth: int | None = None,
    k: int | None = None,
    *,
    show_secrets: bool = False,
) -> GraphAnswer:
    """Answer one question about symbols that are known: one, its overloads, the parts of a long one."""
    _check(depth, k)
    usual = RELATIONS[relation]
    hops, most = depth or usual.depth, usual.most if k is None else k
    walked, bases = reach(reader, relation, seeds, hops)
    steps = _steps(reader, walked.reached, bases)
    notes = []
    if possible := [step for step in steps if step.through]:
        notes.append(about_dispatch(possible, seeds[0]))
    notes += about_values(relation, seeds[0])
    if not steps:
        notes.append(about_nothing(reader, relation, seeds))
    notes += about_cuts(walked, len(steps), most)
    shown = steps[:most] if most else steps
    answer = _answer(reader, relation, seeds, shown, len(steps), hops, walked.edges, notes)
    return answer if show_secrets else without_secrets(answer)


def find_path(
    reader: Reader, start: str, end: str, depth: int | None = None, *, show_secrets: bool = False
) -> GraphAnswer:
    """Return the shortest chain of calls and uses from one symbol to another.

    Args:
        reader: One generation of an index.
        start: The first symbol, named as in `ask`.
        end: The last.
        depth: The longest chain to look for.
        show_secrets: Do not mask likely secrets in names and signatures.
    """
    starts, ends = resolve_all(reader, start), resolve_all(reader, end)
    answer = path_between(reader, starts, ends, depth, show_secrets=True)
    notes = (*about_seed(start, starts), *about_seed(end, ends), *answer.notes)
    answer = replace(answer, notes=notes)
    return answer if show_secrets else without_secrets(answer)


def path_between(
    reader: Reader,
    starts: Sequence[SymbolRow],
    ends: Sequence[SymbolRow],
    depth: int | None = None,
    *,
    show_secrets: bool = False,
) -> GraphAnswer:
    """Return the shortest chain between symbols that are known."""
    _check(depth)
    hops = depth or RELATIONS["path"].depth
    notes = []
    chain = shortest_chain(reader, starts, ends, hops)
    if not chain.steps:
        notes.append(about_no_path(reader, starts, ends, hops))
    elif not chain.is_sure:
        text = "no chain is sure in every link: this one holds if the uncertain ones mean what it needs"
        notes.append(Note("graph", text))
    if chain.is_cut:
        notes.append(Note("graph", "there was more than one walk looks at: a chain may have been missed"))
    steps = _steps(reader, chain.steps, {})
    if steps and steps[-1].edge.kind == "overrides":
        base = chain.steps[-2].symbol
        steps[-1] = replace(steps[-1], through=base.qualified_name)
        notes.append(about_dispatch(steps[-1:], ends[0]))
    edges = tuple(edge for step in chain.steps for edge in step.edges)
    first = _first_of_chain(reader, starts, chain)
    answer = _answer(reader, "path", [*first, *starts], steps, len(steps), hops, edges, notes, ends[0])
    return answer if show_secrets else without_secrets(answer)


def _check(depth: int | None, k: int | None = None) -> None:
    if depth is not None and depth < 1:
        raise DowseError(f"`depth` is a number of hops from 1, not {depth}")
    if k is not None and k < 0:
        raise DowseError(f"`k` is a number of symbols or 0 for all, not {k}")


def _steps(reader: Reader, reached: Sequence[Reached], bases: Bases) -> list[GraphStep]:
    """Turn what a walk reached into steps of an answer."""
    at = {step.symbol.row: number for number, step in enumerate(reached)}
    others = {row.row: row for row in reader.rows(sorted({_other(step) for step in reached}))}
    steps = []
    for step in reached:
        other, parent = others[_other(step)], at.get(step.parent, -1)
        # References stand in their source.
        path = step.symbol.path if step.symbol.row == step.edges[0].source else other.path
        steps.append(
            GraphStep(
                *(step.symbol, step.depth, parent, step.edges, path, other.qualified_name),
                through=through(step, bases),
            )
        )
    return steps


def _other(step: Reached) -> int:
    """Return the row at the other end of the surest reference."""
    edge = step.edges[0]
    return edge.target if edge.source == step.symbol.row else edge.source


def _answer(
    reader: Reader,
    relation: str,
    seeds: Sequence[SymbolRow],
    steps: Sequence[GraphStep],
    total: int,
    depth: int,
    edges: Iterable[Edge],
    notes: Sequence[Note],
    target: SymbolRow | None = None,
) -> GraphAnswer:
    if not reader.is_complete:
        notes = [*notes, INCOMPLETE_INDEX]
    # The later parts of a long symbol stand behind its first.
    first = {(seed.qualified_name, seed.signature): seed for seed in reversed(seeds)}
    distinct = tuple(seed for seed in seeds if seed in first.values())
    shown = {row.row for row in distinct} | {step.symbol.row for step in steps}
    kept = {edge: None for edge in edges if edge.source in shown and edge.target in shown}
    kept.update((edge, None) for step in steps for edge in step.references)
    return GraphAnswer(
        relation, distinct, tuple(steps), total, depth, reader.generation, tuple(kept), tuple(notes), target
    )


def _first_of_chain(reader: Reader, starts: Sequence[SymbolRow], chain: Chain) -> list[SymbolRow]:
    """Return the method of a type that the chain begins with, if it does not begin with the type itself."""
    if not chain.steps or chain.steps[0].parent in {row.row for row in starts}:
        return []
    return reader.rows([chain.steps[0].parent])
