"""References of one file → edges: what each means, how sure that is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from dowse.graph.describe import unpack_facts
from dowse.graph.lookups import Lookups, Place
from dowse.graph.resolve.common_methods import says_whose
from dowse.graph.resolve.expressions import OUTSIDE, Found, Step, Value, only_callable, only_types, steps_of
from dowse.graph.resolve.languages import Families
from dowse.graph.resolve.local_scopes import LocalName, LocalNames
from dowse.graph.resolve.namespaces import joined
from dowse.graph.resolve.rules import Rules
from dowse.storage.local.graph_tables import Linked, LinkedFile, Named, OwnSymbol
from dowse.types import Reference

_EDGES = {
    "call": "calls",
    "extends": "extends",
    "implements": "implements",
    "use": "uses",
    "import": "imports",
}


class Links(NamedTuple):
    """What the references of a file turned out to be."""

    linked: list[Linked]
    named: list[Named]


def resolve_file(file: LinkedFile, lookups: Lookups, families: Families) -> Links:
    """Resolve every reference of a file."""
    place = lookups.place(file.path)
    links = Links([], [])
    if place is None or not file.symbols:
        return links
    rules = families.of(place.family)
    rules.begin()
    _FileResolver(file, place, rules, links).run()
    return links


class _FileResolver:
    """Goes through the references of one file."""

    def __init__(self, file: LinkedFile, place: Place, rules: Rules, links: Links) -> None:
        facts = unpack_facts(file.facts)
        self._file, self._rules, self._links, self._place = file, rules, links, place
        self._symbols = file.symbols
        self._remainder = facts.remainder
        self._local = LocalNames(file.symbols, facts.local, facts.remainder)
        self._values: dict[tuple[str, str, str], Value | None] = {}
        self._groups: dict[int, str] = {}
        self._heads: dict[tuple[str, int, int], Value | None] = {}
        self._owners = {s.qualified_name: i for i, s in reversed([*enumerate(self._symbols)]) if not s.part}
        self._firsts = _first_parts(self._symbols)

    def run(self) -> None:
        """Resolve every reference, once for each place."""
        for reference in self._file.references:
            owner = reference.owner
            if not 0 <= owner < len(self._symbols):
                owner = self._remainder
            if not 0 <= owner < len(self._symbols):
                continue
            try:
                self._resolve(reference, self._firsts[owner])
            except RecursionError:  # a chain of thousands of names, each another name for the next
                continue

    def _resolve(self, reference: Reference, owner: int) -> None:
        if reference.kind == "import":
            value = self._rules.import_reference(self._place, reference.name, reference.qualifier)
            self._add_import(reference, owner, value)
            return
        value = self._rules.whole(self._value(reference, owner))
        if value is None:
            self._add_named(reference, owner, is_member=bool(reference.qualifier))
        else:
            self._add_value(reference, owner, value)

    def _value(self, reference: Reference, owner: int) -> Value | None:
        """What a reference means; the same for all in one class, unless a function has a say in it."""
        name, path = reference.name, reference.qualifier
        steps = steps_of(path) if path else ()
        if self._local.knows(steps[0].name if steps else name):
            return self._find(steps, path, name, reference.line, owner)
        around = self._parent(owner) if self._rules.looks_around else self._group(owner)
        memo = (path, name, around)
        if memo not in self._values:
            self._values[memo] = self._find(steps, path, name, reference.line, owner)
        return self._values[memo]

    def _find(self, steps: Sequence[Step], path: str, name: str, line: int, owner: int) -> Value | None:
        if not path:
            return self._bare(name, line, owner, self._within(owner))
        receiver = self._follow(steps, line, owner) if steps else None
        return self._rules.member(self._place, receiver, name)

    def _parent(self, owner: int) -> str:
        """What all that stands side by side shares: the class or the module around, or the class itself."""
        symbol = self._symbols[owner]
        is_inside = symbol.kind in ("function", "method", "macro", "constant")
        return self._within(owner).rpartition(".")[0] if is_inside else f"in {self._within(owner)}"

    def _group(self, owner: int) -> str:
        """What all definitions of one class share; a function that is none is for itself."""
        if owner not in self._groups:
            around = self._local.class_around(owner)
            if not around and self._rules.functions_are_classes:
                around = self._local.function_around(owner)
            self._groups[owner] = around
        return self._groups[owner]

    def _within(self, owner: int) -> str:
        """The qualified name around a reference, "" at the top level."""
        return "" if owner == self._remainder else self._symbols[owner].qualified_name

    def _bare(self, name: str, line: int, owner: int, within: str) -> Value | None:
        """A name without anything before it."""
        if name in self._rules.supers:
            return (
                self._rules.member(self._place, self._super(owner), self._rules.constructors[0])
                if (self._rules.constructors)
                else OUTSIDE
            )
        if name in self._rules.selves:
            cls = self._own_class(owner)
            return Value("class", cls.found) if cls else OUTSIDE
        local, is_local = self._in_function(name, line, within)
        if is_local:
            return local or OUTSIDE  # a variable is called: nobody says which function it holds
        found = self._implicit(name, owner)
        if found is not None:
            return found
        return self._rules.top(self._place, name, within)

    def _in_function(self, name: str, line: int, within: str) -> tuple[Value | None, bool]:
        """What a name means inside the function around it, and whether it is known there at all."""
        known = self._local.lookup(name, line)
        if not known:
            return None, False
        for each in known:
            if each.symbol is not None:
                return self._rules.named(self._place, each.symbol.qualified_name), True
        return self._of_facts(name, line, within, known), True

    def _of_facts(self, name: str, line: int, within: str, known: list[LocalName]) -> Value | None:
        values = set[Value | None]()
        for each in known:
            fact = each.fact
            if fact is None or fact.kind == "local":
                continue
            if fact.kind in ("import", "export"):
                values.add(self._rules.imported(self._place, fact.kind, fact.value, fact.origin, within))
            elif fact.kind == "type":
                values.add(self._rules.of_type(self._place, fact.value, within))
            else:
                values.add(self._expression(fact.value, line, within, name, fact.kind == "made"))
        values.discard(None)
        return values.pop() if len(values) == 1 else None

    def _expression(self, path: str, line: int, within: str, name: str, made: bool) -> Value | None:
        """What a variable stands for, by the expression that it was given."""
        steps = steps_of(path)
        if not steps or steps[0].name == name:
            if steps and len(steps) == 1 and made:
                return self._rules.called(self._rules.top(self._place, name, within))
            return None
        owner = self._owner_named(within)
        value = self._follow(steps, line, owner)
        return self._rules.called(self._rules.whole(value)) if made else value

    def _owner_named(self, within: str) -> int:
        return self._owners.get(within, self._remainder)

    def _follow(self, steps: Sequence[Step], line: int, owner: int) -> Value | None:
        """What a path means at a line."""
        head = steps[0]
        # Only what functions bind can mean one thing on one line and another on the next.
        memo = (head.name, line if self._local.knows(head.name) else 0, owner)
        if memo in self._heads:
            value = self._heads[memo]
        else:
            self._heads[memo] = None  # a name that is given itself means nothing
            value = self._heads[memo] = self._head(head.name, line, owner)
        if head.called and not (value is not None and value.kind == "super"):
            value = self._rules.called(value)
        return self._rules.follow(self._place, value, steps[1:])

    def _head(self, name: str, line: int, owner: int) -> Value | None:
        within = self._within(owner)
        local, is_local = self._in_function(name, line, within)
        if is_local and not (local is None and name in self._rules.selves):
            return local
        if name in self._rules.selves:
            return self._own_class(owner)
        if name in self._rules.supers:
            return self._super(owner)
        if name.startswith("@"):
            own = self._own_class(owner)
            return self._rules.member(self._place, own, name.lstrip("@")) if own else None
        found = self._implicit(name, owner)
        if found is not None:
            return found
        value = self._rules.top(self._place, name, within)
        return None if value is OUTSIDE and self._rules.is_variable(name) else value

    def _implicit(self, name: str, owner: int) -> Value | None:
        """A member of a class around, where those need no `this`."""
        if not self._rules.implicit_self:
            return None
        around = self._local.class_around(owner)
        while around:
            own = self._class_named(around)
            if around.rpartition(".")[2] == name:
                return Value("class", own.found)  # its constructor has its name as well
            found = self._rules.class_member(self._place, own, name)
            if found is not None and found.kind != "outside" and not _is_constructor(found, name):
                return found
            around = around.rpartition(".")[0]
        return None

    def _own_class(self, owner: int) -> Value | None:
        around = self._group(owner)
        return self._class_named(around) if around else None

    def _class_named(self, name: str) -> Value:
        value = self._rules.named(self._place, name)
        if value is not None and value.kind == "class":
            return Value("instance", value.found)
        full = joined(self._place.prefix, name)
        return Value("instance", (Found(None, self._place.scope, full),))

    def _super(self, owner: int) -> Value | None:
        own = self._own_class(owner)
        return Value("super", own.found) if own is not None else OUTSIDE

    def _add_value(self, reference: Reference, owner: int, value: Value) -> None:
        """Add the edges of a reference that means something known."""
        if value.kind == "instance" and reference.kind == "call":
            called = self._rules.called_instance(self._place, value)
            if called is not None and called.kind == "function":
                self._add_targets(reference, owner, called)
            return
        if value.kind not in ("function", "class", "constant"):
            return
        if value.kind == "constant" and reference.kind == "call":
            return
        value = only_callable(value) if reference.kind == "call" else only_types(value)
        if reference.kind == "use" and self._is_inside(owner, value):
            return  # a method names its own class all the time
        value = self._rules.narrowed(self._place, value, self._file, reference)
        self._add_targets(reference, owner, value)
        if value.kind == "class" and reference.kind == "call":
            made = self._rules.constructor(self._place, value)
            if made is not None:
                made = self._rules.narrowed(self._place, made, self._file, reference)
                self._add_targets(reference, owner, made)

    def _is_inside(self, owner: int, value: Value) -> bool:
        own = self._within(owner)
        return any(
            each.target
            and each.target.path == self._file.path
            and own.startswith(each.target.qualified_name + ".")
            for each in value.found
        )

    def _add_targets(self, reference: Reference, owner: int, value: Value) -> None:
        rows = {each.target.row for each in value.found if each.target is not None}
        source, kind = self._symbols[owner].row, _EDGES[reference.kind]
        for row in rows:
            self._links.linked.append(Linked(source, reference.line, reference.column, kind, row, len(rows)))

    def _add_import(self, reference: Reference, owner: int, value: Value | None) -> None:
        if value is None:
            return
        if value.kind in ("function", "class", "constant"):
            self._add_targets(reference, owner, value)
        elif value.kind == "module":
            rest = self._rules.lookups.rest(value.module)
            if rest:
                self._add_targets(reference, owner, Value("function", tuple(Found(t, "", "") for t in rest)))

    def _add_named(self, reference: Reference, owner: int, is_member: bool) -> None:
        """Keep a reference of which only the name is known, if any symbol has it."""
        if not is_member and not self._rules.bare_by_name:
            return
        key = self._rules.lookups.is_named(self._place.family, is_member, reference.name)
        if not key:
            return
        sure = says_whose(reference.name) if is_member else self._rules.sure_bare(reference.name)
        self._links.named.append(
            Named(
                self._symbols[owner].row,
                *(reference.line, reference.column, _EDGES[reference.kind], key, sure),
            )
        )


def _first_parts(symbols: Sequence[OwnSymbol]) -> list[int]:
    """For each symbol, the first part of the definition that it is a part of."""
    firsts: list[int] = []
    for index, symbol in enumerate(symbols):
        firsts.append(firsts[-1] if symbol.part and firsts else index)
    return firsts


def _is_constructor(value: Value, name: str) -> bool:
    """Whether this is what makes a class of that name: nobody inherits it, so the class itself is meant."""
    return value.kind == "function" and all(
        each.full.rpartition(".")[0].rpartition(".")[2] == name for each in value.found
    )
