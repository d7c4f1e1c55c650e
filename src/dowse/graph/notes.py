"""What an answer says beside its steps: what was taken for what, what was cut, and what can't be seen."""

from __future__ import annotations

from collections.abc import Sequence

from dowse.graph.answer import GraphStep
from dowse.graph.path import shortest_chain
from dowse.graph.traverse import Walked
from dowse.storage.protocol import Reader
from dowse.symbol_lookup import is_loose_match
from dowse.types import Note, SymbolRow

# Names and lines that one note lists.
_SHOWN = 5
# Said when nothing was found, with what nobody can read off the text (docs/GRAPH.md).
_NOTHING = {
    "callers": "nothing in the index calls {}; calls by reflection, by a name in a string, or from outside"
    " can't be seen",
    "callees": "{} calls nothing in the index; calls of libraries, built-ins and callbacks make no edge",
    "uses": "nothing in the index uses {}; use by reflection, by a name in a string, or from outside can't be"
    " seen",
    "implementers": "nothing in the index implements {}; types that fit without saying so, as in Go, can't be"
    " seen",
    "subclasses": "nothing in the index extends {}",
    "supertypes": "{} extends and implements nothing in the index",
    "impact": "nothing in the index depends on {}; use by reflection, by a name in a string, or from outside"
    " can't be seen",
}


def about_seed(name: str, seeds: Sequence[SymbolRow]) -> list[Note]:
    """Say what a name was taken for, where that is not plain."""
    first = seeds[0]
    notes = []
    if is_loose_match(name, first):
        text = f"{name} is taken as {first.qualified_name} of {first.path}:{first.start_line}"
        notes.append(Note("graph", text))
    overloads = {row.signature: row.start_line for row in reversed(seeds)}
    if len(overloads) > 1:
        lines = ", ".join(str(line) for line in sorted(overloads.values())[:_SHOWN])
        more = ", …" if len(overloads) > _SHOWN else ""
        text = (
            f"{first.qualified_name} is defined {len(overloads)} times in {first.path} (lines {lines}{more}),"
            " taken together; name one by its path:line"
        )
        notes.append(Note("graph", text))
    return notes


def about_dispatch(possible: Sequence[GraphStep], seed: SymbolRow) -> Note:
    """Say that calls of other methods may run this one."""
    bases = sorted({step.through for step in possible})
    more = ", …" if len(bases) > _SHOWN else ""
    text = f"calls of {', '.join(bases[:_SHOWN])}{more} may run {seed.qualified_name}: shown as possible"
    return Note("graph", text)


def about_values(relation: str, seed: SymbolRow) -> list[Note]:
    """Say that reading a value makes no edge."""
    if seed.kind not in ("constant", "variable") or relation not in ("uses", "impact"):
        return []
    text = (
        f"only imports and calls of a {seed.kind} are in the graph; search for `{seed.name}` to see it read"
    )
    return [Note("graph", text)]


def about_nothing(reader: Reader, relation: str, seeds: Sequence[SymbolRow]) -> Note:
    """Say that nothing was found, and what could hide."""
    name = seeds[0].qualified_name
    said = _NOTHING[relation].format(name)
    if relation == "subclasses":
        others = reader.edges([seed.row for seed in seeds], ("implements",), incoming=True)
        if count := len({edge.source for edge in others}):
            said = f"{said}, but {count} implement it: `dowse implementers {name}`"
    return Note("graph", said)


def about_no_path(reader: Reader, starts: Sequence[SymbolRow], ends: Sequence[SymbolRow], depth: int) -> Note:
    """Say that no chain was found, and whether one leads the other way."""
    one, other = starts[0].qualified_name, ends[0].qualified_name
    said = f"no chain of calls and uses leads from {one} to {other} in {depth} hops"
    back = shortest_chain(reader, ends, starts, depth)
    if back.steps:
        hops = len(back.steps)
        text = f"{said}, but one of {hops} hop{'s' if hops > 1 else ''} leads from {other} to {one}"
        return Note("graph", text)
    return Note("graph", f"{said}, nor back; callbacks, reflection and code outside the index can't be seen")


def about_cuts(walked: Walked, total: int, k: int) -> list[Note]:
    """Say what was left out."""
    notes = []
    if k and total > k:
        notes.append(Note("truncated", f"the nearest {k} of {total:,}", "-k 0 gives all"))
    if walked.unfollowed:
        text = f"nothing was looked for behind {walked.unfollowed:,} that only a name that many bear leads to"
        notes.append(Note("graph", text))
    if walked.is_cut:
        notes.append(Note("graph", "there was more than one walk looks at: the farthest are missing"))
    return notes
