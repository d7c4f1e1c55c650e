"""How methods belong to types: members, constructors, what a method overrides and what overrides it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Protocol

from dowse.graph.answer import doubt
from dowse.graph.traverse import GraphSource, Reached, place, walk
from dowse.types import NON_DEFINITION_KINDS, TYPE_KINDS, Edge, SymbolRow

# An object of Scala or Kotlin is a type with one instance.
WITH_MEMBERS = TYPE_KINDS | {"object"}
# What languages call the function that makes an object; in Java and its kin it has the name of the class.
_CONSTRUCTORS = frozenset(["__init__", "__new__", "constructor", "initialize", "__construct", "init"])
_HIERARCHY = ("extends", "implements")
# Longer chains of inheritance are a cycle of names or a generated file.
_MOST_GENERATIONS = 10
# Members of types of one name that are looked at.
_MOST_MEMBERS = 10_000


class KinSource(GraphSource, Protocol):
    """What is asked of an index here; every `Reader` has it."""

    def rows_of_files(self, file_ids: Sequence[int]) -> list[SymbolRow]:
        """Return the symbols of files, file by file, in the order of their lines."""

    def lookup(self, pattern: str, limit: int) -> list[SymbolRow]:
        """Return the symbols whose name or qualified name matches a pattern with `*` and `?`."""


def is_type(symbol: SymbolRow) -> bool:
    """Whether a symbol can have members."""
    return symbol.kind in WITH_MEMBERS


def is_definition(symbol: SymbolRow) -> bool:
    """Whether others can mean this symbol by its name.

    Nobody means the rest of a file: who imports the file does not use what one of its lines uses.
    """
    return symbol.kind not in NON_DEFINITION_KINDS


def is_constructor(symbol: SymbolRow) -> bool:
    """Whether a symbol makes objects of the type that it belongs to."""
    owner = symbol.qualified_name.split(".")[-2:-1]
    return bool(owner) and (symbol.name in _CONSTRUCTORS or symbol.name == owner[0])


def members(source: KinSource, types: Sequence[SymbolRow]) -> list[SymbolRow]:
    """Return the methods and other members of types, also where they stand in other files of a folder."""
    found = {row.row: row for _, row in _members_in_files(source, types)}
    for owner in types:
        found.update((row.row, row) for row in _members_elsewhere(source, owner))
    known = {owner.row for owner in types}
    return sorted((row for row in found.values() if row.row not in known), key=place)


def call_companions(source: KinSource, frontier: Sequence[SymbolRow], incoming: bool) -> dict[int, int]:
    """Return, for types, their constructors, and for those, their types: who calls one calls the other."""
    types = [symbol for symbol in frontier if is_type(symbol)]
    found = {row.row: owner.row for owner, row in _members_in_files(source, types) if is_constructor(row)}
    if incoming:
        made = [symbol for symbol in frontier if is_constructor(symbol)]
        found.update((owner.row, symbol.row) for symbol, owner in _owners_in_files(source, made))
    here = {symbol.row for symbol in frontier}  # these stand for themselves
    return {row: near for row, near in found.items() if row not in here}


def overridden(source: KinSource, method: SymbolRow) -> list[SymbolRow]:
    """Return the methods of supertypes through which a call may reach this one."""
    if is_constructor(method):
        return []
    bases = walk(source, owners(source, method), _HIERARCHY, incoming=False, depth=_MOST_GENERATIONS)
    return [row for _, row in _of_name(source, bases.reached, method.name)]


def overriding(source: KinSource, method: SymbolRow) -> list[Edge]:
    """Return edges of kind "overrides" from methods of subtypes that take the place of this one.

    Each is as sure as the inheritance between them.
    """
    if is_constructor(method):
        return []
    types = walk(source, owners(source, method), _HIERARCHY, incoming=True, depth=_MOST_GENERATIONS)
    weakest: dict[int, Edge] = {}
    for step in types.reached:  # a chain is as sure as its least sure link
        before = weakest.get(step.parent, step.edges[0])
        weakest[step.symbol.row] = max(before, step.edges[0], key=doubt)
    found = []
    for step, row in _of_name(source, types.reached, method.name):
        link = weakest[step.symbol.row]
        sure = (link.confidence, link.candidates)
        found.append(Edge("overrides", row.row, method.row, row.file_id, row.start_line, 0, *sure))
    return found


def owners(source: KinSource, member: SymbolRow) -> list[SymbolRow]:
    """Return the type that a member belongs to; several where it is opened again, as in Rust or Ruby."""
    near = [owner for _, owner in _owners_in_files(source, [member])]
    name = member.qualified_name.rpartition(".")[0]
    if near or not name:
        return near
    rows = source.lookup(name.rpartition(".")[2], _MOST_MEMBERS)
    return [row for row in rows if row.qualified_name == name and is_type(row) and _are_near(row, member)]


def _of_name(source: KinSource, steps: Sequence[Reached], name: str) -> list[tuple[Reached, SymbolRow]]:
    """Return the members of that name, and by which type each was reached."""
    by_type = {step.symbol.row: step for step in steps}
    types = [step.symbol for step in steps]
    named = [(owner, row) for owner, row in _members_in_files(source, types) if row.name == name]
    done = {owner.row for owner, _ in named}
    for owner in types:
        if owner.row not in done:
            named += [(owner, row) for row in _members_elsewhere(source, owner, name)]
    order = {row: at for at, row in enumerate(by_type)}
    named.sort(key=lambda pair: (order[pair[0].row], place(pair[1])))
    # The later parts of a long method stand behind its first.
    first: dict[tuple[int, str, str], tuple[Reached, SymbolRow]] = {}
    for owner, row in named:
        first.setdefault((row.file_id, row.qualified_name, row.signature), (by_type[owner.row], row))
    return list(first.values())


def _members_in_files(source: KinSource, types: Sequence[SymbolRow]) -> list[tuple[SymbolRow, SymbolRow]]:
    """Return (type, member) for the members that stand in the file of their type."""
    by_name = {(owner.file_id, owner.qualified_name): owner for owner in reversed(types)}
    files = sorted({owner.file_id for owner in types})
    found = []
    for row in source.rows_of_files(files) if files else ():
        owner = by_name.get((row.file_id, row.qualified_name.rpartition(".")[0]))
        if owner and row.row != owner.row:
            found.append((owner, row))
    return found


def _members_elsewhere(source: KinSource, owner: SymbolRow, name: str = "*") -> Iterable[SymbolRow]:
    """Return members that stand in other files of the same folder, as Go writes them."""
    if owner.language != "go":
        return []
    rows = source.lookup(f"{owner.qualified_name}.{name}", _MOST_MEMBERS)
    return [
        row
        for row in rows
        if row.qualified_name.rpartition(".")[0] == owner.qualified_name
        and row.file_id != owner.file_id
        and _are_near(row, owner)
    ]


def _owners_in_files(source: KinSource, symbols: Sequence[SymbolRow]) -> list[tuple[SymbolRow, SymbolRow]]:
    """Return (member, type) for members whose type stands in the same file."""
    wanted: dict[tuple[int, str], list[SymbolRow]] = defaultdict(list)
    for symbol in symbols:
        wanted[symbol.file_id, symbol.qualified_name.rpartition(".")[0]].append(symbol)
    files = sorted({symbol.file_id for symbol in symbols})
    rows = [row for row in source.rows_of_files(files) if is_type(row)] if files else []
    return [(symbol, row) for row in rows for symbol in wanted.get((row.file_id, row.qualified_name), ())]


def _are_near(one: SymbolRow, other: SymbolRow) -> bool:
    """Whether two symbols stand in one folder, in one language."""
    folders = {row.path.rpartition("/")[0] for row in (one, other)}
    return len(folders) == 1 and one.language == other.language and one.repo == other.repo
