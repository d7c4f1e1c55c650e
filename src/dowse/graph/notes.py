"""Notes of an answer: how a name was understood, what was truncated, what static analysis cannot see."""

from __future__ import annotations

from collections.abc import Sequence

from dowse.graph.mentions import Mentions
from dowse.graph.model import GraphStep
from dowse.graph.reachability import shortest_path
from dowse.graph.traverse import Traversal
from dowse.storage.protocol import Reader
from dowse.symbol_lookup import is_partial_match
from dowse.types import Note, SymbolRow

# Names and lines that one note lists.
_MAX_LISTED = 5
# Notes of empty answers, with what static analysis cannot see (docs/GRAPH.md).
_EMPTY = {
    "callers": "nothing in the index calls {}, and its name occurs nowhere else; calls by reflection or from"
    " outside can't be seen",
    "callees": "{} calls nothing in the index; calls of libraries, built-ins and callbacks make no edge",
    "uses": "nothing in the index uses {}, and its name occurs nowhere else; use by reflection or from"
    " outside can't be seen",
    "implementers": "nothing in the index implements {}; types that fit without saying so, as in Go, can't be"
    " seen",
    "subclasses": "nothing in the index extends {}",
    "supertypes": "{} extends and implements nothing in the index",
    "impact": "nothing in the index depends on {}, and its name occurs nowhere else; use by reflection or"
    " from outside can't be seen",
}
# What the certain references of a relation are called.
_REFERENCES = {"callers": "call", "uses": "use", "impact": "use"}


def seed_notes(name: str, seeds: Sequence[SymbolRow]) -> list[Note]:
    """Return how a name was understood, where that is not obvious."""
    first = seeds[0]
    notes = []
    if is_partial_match(name, first):
        text = f"{name} is taken as {first.qualified_name} of {first.path}:{first.start_line}"
        notes.append(Note("graph", text))
    overloads = {row.signature: row.start_line for row in reversed(seeds)}
    if len(overloads) > 1:
        lines = _listed([str(line) for line in sorted(overloads.values())])
        text = (
            f"{first.qualified_name} is defined {len(overloads)} times in {first.path} (lines {lines}),"
            " taken together; name one by its path:line"
        )
        notes.append(Note("graph", text))
    return notes


def dispatch_note(possible: Sequence[GraphStep], seed: SymbolRow) -> Note:
    """Say that dynamic dispatch of calls of other methods may run this one."""
    bases = _listed(sorted({step.through for step in possible}))
    return Note("graph", f"calls of {bases} may run {seed.qualified_name}: shown as possible")


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:_MAX_LISTED]) + (", …" if len(names) > _MAX_LISTED else "")


def value_notes(relation: str, seed: SymbolRow) -> list[Note]:
    """Say that reading a value makes no edge."""
    if seed.kind not in ("constant", "variable") or relation not in ("uses", "impact"):
        return []
    text = (
        f"only imports and calls of a {seed.kind} are in the graph; search for `{seed.name}` to see it read"
    )
    return [Note("graph", text)]


def empty_note(reader: Reader, relation: str, seeds: Sequence[SymbolRow]) -> Note:
    """Say that nothing was found, and what static analysis cannot see."""
    name = seeds[0].qualified_name
    text, remedy = _EMPTY[relation].format(name), ""
    if relation == "subclasses":
        edges = reader.edges([seed.row for seed in seeds], ("implements",), incoming=True)
        if count := len({edge.source for edge in edges}):
            text, remedy = f"{text}, but {count} implement it", f"`dowse implementers {name}` lists them"
    return Note("graph", text, remedy)


def mention_note(relation: str, seed: SymbolRow, mentions: Mentions, *, is_empty: bool) -> Note:
    """Say that no reference is certain, and how often the name is mentioned."""
    known = "known" if is_empty else "certain"
    count = f"{'at least ' if mentions.is_truncated else ''}{mentions.total:,}"
    lines = f"{count} {'' if is_empty else 'more '}line{'s' if mentions.total > 1 else ''}"
    verb = "mention" if mentions.total > 1 else "mentions"
    text = f"no {_REFERENCES[relation]} of {seed.qualified_name} is {known}; {lines} {verb} its name"
    return Note("graph", text)


def no_path_note(reader: Reader, starts: Sequence[SymbolRow], ends: Sequence[SymbolRow], depth: int) -> Note:
    """Say that there is no path, and whether there is one in the other direction."""
    start, end = starts[0].qualified_name, ends[0].qualified_name
    text = f"no chain of calls and uses leads from {start} to {end} in {depth} hops"
    hops = len(shortest_path(reader, ends, starts, depth).steps)
    if hops:
        text += f", but one of {hops} hop{'s' if hops > 1 else ''} leads from {end} to {start}"
    else:
        text += ", nor back; callbacks, reflection and code outside the index can't be seen"
    return Note("graph", text)


def truncation_notes(traversal: Traversal, total: int, limit: int) -> list[Note]:
    """Say what was left out."""
    notes = []
    if limit and total > limit:
        notes.append(Note("truncated", f"the nearest {limit} of {total:,}", "-k 0 gives all"))
    if traversal.unfollowed:
        text = f"{traversal.unfollowed:,} were not followed further: only a name that many symbols have"
        notes.append(Note("graph", f"{text} leads to them"))
    if traversal.is_truncated:
        notes.append(Note("graph", "the search reached its limit: the farthest are missing"))
    return notes
