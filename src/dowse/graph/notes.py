"""Notes of an answer: how a name was understood, what was truncated, what static analysis cannot see."""

from __future__ import annotations

from collections.abc import Sequence

from dowse.graph.implicit_calls import is_called_implicitly
from dowse.graph.mentions import RELATIONS_WITH_MENTIONS, Mentions
from dowse.graph.model import GraphStep
from dowse.graph.reachability import shortest_path
from dowse.graph.traverse import Traversal
from dowse.graph.type_hierarchy import is_type
from dowse.parsing.languages import detect_language, has_symbols
from dowse.storage.protocol import Reader
from dowse.symbol_lookup import is_partial_match
from dowse.types import Note, SymbolRow

# Names and lines that one note lists.
_MAX_LISTED = 5
# Notes of empty answers, with what static analysis cannot see (docs/GRAPH.md).
_EMPTY = {
    "callees": "{} calls nothing in the index; calls of libraries, built-ins and callbacks make no edge",
    "implementers": "nothing in the index implements {}; types that fit without saying so can't be seen, but"
    " in Go",
    "subclasses": "nothing in the index extends {}",
    "supertypes": "{} extends and implements nothing in the index",
}
# Why they are empty for a name.
_NOT_FOR_NAMES = {
    "callees": "it calls nothing",
    "implementers": "only types and methods are implemented",
    "subclasses": "only types have subclasses",
    "supertypes": "only types extend and implement others",
}
# What the certain references of a relation are called.
_REFERENCES = {"callers": "call", "uses": "use", "impact": "use"}
_DENIALS = {"callers": "calls", "uses": "uses", "impact": "depends on"}


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


def not_called_note(seed: SymbolRow) -> Note:
    """Say that a name has uses instead of callers."""
    return Note("graph", f"{_described(seed)}: not its callers, but its uses are listed")


def dispatch_note(possible: Sequence[GraphStep], seed: SymbolRow) -> Note:
    """Say that dynamic dispatch of calls of other methods may run this one."""
    bases = _listed(sorted({step.through for step in possible}))
    what = f"a method of {seed.qualified_name}" if is_type(seed) else seed.qualified_name
    return Note("graph", f"calls of {bases} may run {what}: shown as possible")


def _described(seed: SymbolRow) -> str:
    article = "an" if seed.kind[:1] in "aeiou" else "a"
    return f"{seed.qualified_name} is {article} {seed.kind}"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:_MAX_LISTED]) + (", …" if len(names) > _MAX_LISTED else "")


def empty_note(
    reader: Reader, relation: str, seeds: Sequence[SymbolRow], traversal: Traversal, mentions: Mentions
) -> Note:
    """Say that nothing was found, and what static analysis cannot see."""
    name = seeds[0].qualified_name
    if relation in RELATIONS_WITH_MENTIONS:
        return _denial(reader, relation, seeds[0], mentions, is_recursive=bool(traversal.edges))
    if seeds[0].row < 0:
        return Note("graph", f"{_described(seeds[0])}: {_NOT_FOR_NAMES[relation]}")
    text, remedy = _EMPTY[relation].format(name), ""
    if relation == "subclasses":
        edges = reader.edges([seed.row for seed in seeds], ("implements",), incoming=True)
        if count := len({edge.source for edge in edges}):
            text, remedy = f"{text}, but {count} implement it", f"`dowse implementers {name}` lists them"
    return Note("graph", text, remedy)


def _denial(
    reader: Reader, relation: str, seed: SymbolRow, mentions: Mentions, *, is_recursive: bool
) -> Note:
    """Say that nothing refers to a symbol, or why that is not known."""
    name, reference = seed.qualified_name, _REFERENCES[relation]
    unseen = f"{reference}{'s' if reference == 'call' else ''} by reflection or from outside can't be seen"
    if not mentions.is_complete:
        text = f"no {reference} of {name} is known; not every file of the index was searched for its name"
        return Note("graph", text)
    if is_called_implicitly(seed):
        text = f"no {reference} of {name} by its name is in the index; {seed.language} calls it without, too"
        return Note("graph", text)
    but_itself = " but itself" if is_recursive else ""
    text = f"nothing in the index {_DENIALS[relation]} {name}{but_itself}, and its name occurs nowhere else"
    left_out = sum(has_symbols(detect_language(path)) for path, _ in reader.skipped())
    if not left_out:
        return Note("graph", f"{text}; {unseen}")
    files = f"{left_out:,} source file{'s are' if left_out > 1 else ' is'} not in the index"
    return Note("graph", f"{text}; {files}, and {unseen}", "`dowse status --files` lists what is left out")


def mention_note(relation: str, seed: SymbolRow, mentions: Mentions, *, is_empty: bool) -> Note:
    """Say that no reference is certain, and how often the name is mentioned."""
    known = "known" if is_empty else "certain"
    count = f"{'' if mentions.is_complete else 'at least '}{mentions.total:,}"
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


def truncation_notes(
    traversal: Traversal, steps: Sequence[GraphStep], shown: Sequence[GraphStep]
) -> list[Note]:
    """Say what was left out."""
    notes = []
    if len(shown) < len(steps):
        text = f"the nearest {len(shown):,} of {len(steps):,}"
        tests, shown_tests = (sum(step.is_test for step in each) for each in (steps, shown))
        if tests:
            text += f", of them {shown_tests:,} of {tests:,} tests"
        notes.append(Note("truncated", text, "-k 0 gives all"))
    if traversal.unfollowed:
        text = f"{traversal.unfollowed:,} were not followed further: only a name that many symbols have"
        notes.append(Note("graph", f"{text} leads to them"))
    if traversal.is_truncated:
        notes.append(Note("graph", "the search reached its limit: the farthest are missing"))
    return notes
