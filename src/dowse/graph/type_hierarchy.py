"""Class hierarchy analysis (Dean, Grove & Chambers 1995): members, constructors, overriding methods."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from dowse.graph.model import location_key, uncertainty
from dowse.graph.traverse import Reached, breadth_first_search
from dowse.storage.protocol import Reader
from dowse.types import NON_DEFINITION_KINDS, TYPE_KINDS, Edge, SymbolRow

# An object of Scala or Kotlin is a type with one instance.
KINDS_WITH_MEMBERS = TYPE_KINDS | {"object"}
# Names of constructors; in Java and similar languages a constructor has the name of its class.
_CONSTRUCTORS = frozenset(["__init__", "__new__", "constructor", "initialize", "__construct", "init"])
_HIERARCHY = ("extends", "implements")
# Longer chains of inheritance are a cycle of names or a generated file.
_MAX_GENERATIONS = 10
# Methods of one hop whose overriding methods are looked up.
_MAX_DISPATCHED = 500
# Members of types of one name that are read.
_MAX_MEMBERS = 10_000


def is_type(symbol: SymbolRow) -> bool:
    """Whether a symbol can have members."""
    return symbol.kind in KINDS_WITH_MEMBERS


def is_definition(symbol: SymbolRow) -> bool:
    """Whether references can mean this symbol by its name.

    No reference means the code outside the definitions of a file: a file that imports the file does not use
    what one of its lines uses.
    """
    return symbol.kind not in NON_DEFINITION_KINDS


def is_constructor(symbol: SymbolRow) -> bool:
    """Whether a symbol is a constructor of its class."""
    owner = symbol.qualified_name.split(".")[-2:-1]
    return bool(owner) and (symbol.name in _CONSTRUCTORS or symbol.name == owner[0])


def members(reader: Reader, types: Sequence[SymbolRow]) -> list[SymbolRow]:
    """Return the methods and other members of types, also from other files of a folder."""
    by_row = {row.row: row for _, row in _members_in_same_file(reader, types)}
    for owner in types:
        by_row.update((row.row, row) for row in _members_in_other_files(reader, owner))
    own = {owner.row for owner in types}
    return sorted((row for row in by_row.values() if row.row not in own), key=location_key)


def call_aliases(reader: Reader, frontier: Sequence[SymbolRow], incoming: bool) -> dict[int, int]:
    """Return the constructors of types, and the types of constructors: a call of one calls the other."""
    types = [symbol for symbol in frontier if is_type(symbol)]
    aliases = {
        row.row: owner.row for owner, row in _members_in_same_file(reader, types) if is_constructor(row)
    }
    if incoming:
        constructors = [symbol for symbol in frontier if is_constructor(symbol)]
        aliases.update(
            (owner.row, symbol.row) for symbol, owner in _owners_in_same_file(reader, constructors)
        )
    own = {symbol.row for symbol in frontier}
    return {row: near for row, near in aliases.items() if row not in own}


def overridden_methods(reader: Reader, method: SymbolRow) -> list[SymbolRow]:
    """Return the methods of supertypes through which dynamic dispatch may run this one."""
    supertypes = _related_types(reader, method, incoming=False)
    return [row for _, row in _members_named(reader, supertypes, method.name)]


def overridden_by(reader: Reader, symbols: Sequence[SymbolRow]) -> list[tuple[SymbolRow, SymbolRow]]:
    """Return (base method, method) for the methods among some symbols that dynamic dispatch may run."""
    methods = [row for row in symbols if row.kind == "method"][:_MAX_DISPATCHED]
    owners = {method.row: owner.row for method, owner in _owners_in_same_file(reader, methods)}
    edges = reader.edges(sorted(set(owners.values())), _HIERARCHY) if owners else []
    derived = {edge.source for edge in edges}
    return [
        (base, method)
        for method in methods
        if method.row not in owners or owners[method.row] in derived  # its type may be in another file
        for base in overridden_methods(reader, method)
    ]


def overriding_edges(reader: Reader, method: SymbolRow) -> list[Edge]:
    """Return edges of kind "overrides" from the methods of subtypes that override this one.

    Each is as certain as the inheritance between them.
    """
    subtypes = _related_types(reader, method, incoming=True)
    weakest: dict[int, Edge] = {}
    for step in subtypes:  # a chain is as certain as its least certain link
        before = weakest.get(step.parent, step.edges[0])
        weakest[step.symbol.row] = max(before, step.edges[0], key=uncertainty)
    overriding = []
    for step, row in _members_named(reader, subtypes, method.name):
        link = weakest[step.symbol.row]
        position = (row.row, method.row, row.file_id, row.start_line, 0)
        overriding.append(Edge("overrides", *position, link.confidence, link.candidates))
    return overriding


def dispatch_edges(reader: Reader, symbols: Sequence[SymbolRow]) -> list[Edge]:
    """Return edges of kind "overrides" from all methods that calls of these symbols may run instead."""
    methods = [row for row in symbols if row.kind == "method" and not is_constructor(row)]
    owned = _owners_in_same_file(reader, methods[:_MAX_DISPATCHED])
    types = sorted({owner.row for _, owner in owned})
    derived = {edge.target for edge in reader.edges(types, _HIERARCHY, incoming=True)} if types else set()
    overridden = [method for method, owner in owned if owner.row in derived]
    return [edge for method in overridden for edge in overriding_edges(reader, method)]


def _related_types(reader: Reader, method: SymbolRow, incoming: bool) -> Sequence[Reached]:
    """Return the supertypes, or the subtypes, of the type of a method; none for a constructor."""
    if is_constructor(method):
        return ()
    owners = _owners(reader, method)
    return breadth_first_search(reader, owners, _HIERARCHY, incoming, _MAX_GENERATIONS).reached


def _owners(reader: Reader, member: SymbolRow) -> list[SymbolRow]:
    """Return the type of a member; several where it can be reopened, as in Rust or Ruby."""
    near = [owner for _, owner in _owners_in_same_file(reader, [member])]
    name = member.qualified_name.rpartition(".")[0]
    if near or not name:
        return near
    rows = reader.lookup(name.rpartition(".")[2], _MAX_MEMBERS)
    return [row for row in rows if row.qualified_name == name and is_type(row) and _share_folder(row, member)]


def _members_named(reader: Reader, steps: Sequence[Reached], name: str) -> list[tuple[Reached, SymbolRow]]:
    """Return the members with a name, each with the step that reached its type."""
    by_type = {step.symbol.row: step for step in steps}
    types = [step.symbol for step in steps]
    named = [(owner, row) for owner, row in _members_in_same_file(reader, types) if row.name == name]
    done = {owner.row for owner, _ in named}
    for owner in types:
        if owner.row not in done:
            named += [(owner, row) for row in _members_in_other_files(reader, owner, name)]
    order = {row: index for index, row in enumerate(by_type)}
    named.sort(key=lambda pair: (order[pair[0].row], location_key(pair[1])))
    # Of a long method that is stored in parts, the first part counts.
    first: dict[tuple[int, str, str], tuple[Reached, SymbolRow]] = {}
    for owner, row in named:
        first.setdefault((row.file_id, row.qualified_name, row.signature), (by_type[owner.row], row))
    return list(first.values())


def _members_in_same_file(reader: Reader, types: Sequence[SymbolRow]) -> list[tuple[SymbolRow, SymbolRow]]:
    """Return (type, member) for the members in the file of their type."""
    by_name = {(owner.file_id, owner.qualified_name): owner for owner in reversed(types)}
    files = sorted({owner.file_id for owner in types})
    pairs = []
    for row in reader.rows_of_files(files) if files else ():
        owner = by_name.get((row.file_id, row.qualified_name.rpartition(".")[0]))
        if owner and row.row != owner.row:
            pairs.append((owner, row))
    return pairs


def _members_in_other_files(reader: Reader, owner: SymbolRow, name: str = "*") -> list[SymbolRow]:
    """Return members in other files of the same folder, as Go allows."""
    if owner.language != "go":
        return []
    return [
        row
        for row in reader.lookup(f"{owner.qualified_name}.{name}", _MAX_MEMBERS)
        if row.qualified_name.rpartition(".")[0] == owner.qualified_name
        and row.file_id != owner.file_id
        and _share_folder(row, owner)
    ]


def _owners_in_same_file(reader: Reader, symbols: Sequence[SymbolRow]) -> list[tuple[SymbolRow, SymbolRow]]:
    """Return (member, type) for members whose type is in the same file."""
    wanted: dict[tuple[int, str], list[SymbolRow]] = defaultdict(list)
    for symbol in symbols:
        wanted[symbol.file_id, symbol.qualified_name.rpartition(".")[0]].append(symbol)
    files = sorted({symbol.file_id for symbol in symbols})
    rows = [row for row in reader.rows_of_files(files) if is_type(row)] if files else []
    return [(symbol, row) for row in rows for symbol in wanted.get((row.file_id, row.qualified_name), ())]


def _share_folder(one: SymbolRow, other: SymbolRow) -> bool:
    """Whether two symbols are in one folder, in one language."""
    folders = {row.path.rpartition("/")[0] for row in (one, other)}
    return len(folders) == 1 and one.language == other.language and one.repo == other.repo
