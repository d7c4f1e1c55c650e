"""How names get their meaning, as far as languages agree; each family says where it differs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dowse.graph.lookups import Lookups, Place
from dowse.graph.resolve.arity import takes
from dowse.graph.resolve.expressions import OUTSIDE, Found, Step, Value, only_callable, only_types, steps_of
from dowse.graph.resolve.namespaces import joined
from dowse.graph.resolve.return_types import return_type
from dowse.parsing.facts import LITERAL, parse_type_name
from dowse.storage.local.graph_tables import LinkedFile
from dowse.types import Reference

# Chains of imports and base classes longer than this are cycles, or as good as.
_DEPTH = 24
# Types that mean the class itself.
_SELF_TYPES = frozenset(["Self", "self", "static", "this", "typing.Self", "te.Self", "t.Self", "$this"])


class Rules:
    """The meaning of names at the top level of files, of members, and of calls."""

    # What the object at hand and its parent are called.
    selves = frozenset(["self", "this", "cls"])
    supers = frozenset(["super"])
    # Whether a bare name can be a member of the class around it.
    implicit_self = False
    # Whether a bare name that no scope knows can still be defined elsewhere in the index.
    bare_by_name = False
    # Whether a member that its class does not have can come from elsewhere in the index.
    open_classes = True
    # Whether the definitions around a name have a say in what it means.
    looks_around = False
    # Whether a function can be used like a class.
    functions_are_classes = False
    # What a class calls its constructor, besides its own name.
    constructors: tuple[str, ...] = ()

    def __init__(self, lookups: Lookups) -> None:
        self.lookups = lookups
        self._memo: dict[tuple[str, str, str], Value | None] = {}
        self._members: dict[tuple[str, tuple[Found, ...], str], Value | None] = {}
        self._bases: dict[Found, list[Value | None]] = {}
        self._active: set[tuple[str, ...]] = set()
        self._depth = 0

    def begin(self) -> None:
        """Start on another file: its answers must be asked for anew, so that they are remembered."""
        self._memo.clear()
        self._members.clear()
        self._bases.clear()
        self._active.clear()
        self._depth = 0

    # Names

    def top(self, place: Place, name: str, within: str = "") -> Value | None:
        """What a name means outside of functions; `within` is the definition around it."""
        memo = (place.path, name, within if self.looks_around else "")
        if memo in self._memo:
            return self._memo[memo]
        if memo in self._active or self._depth > _DEPTH:
            return None
        self._active.add(memo)
        self._depth += 1
        try:
            found = self._memo[memo] = self._top(place, name, within)
        finally:
            self._active.discard(memo)
            self._depth -= 1
        return found

    def _top(self, place: Place, name: str, within: str) -> Value | None:
        for outer in self.outers(place, within):
            if outer.rpartition(".")[2] == name:
                continue  # a constructor has the name of its class
            value = self.named(place, joined(outer, name))
            if value is not None:
                return value
        for kind, what, origin in self.lookups.face(place.path, f"import {name}"):
            return self.imported(place, kind, what, origin, within)
        said = self.lookups.face(place.path, f"var {name}")
        if said:
            return self.said(place, said, within)
        return self.elsewhere(place, name, within)

    def outers(self, place: Place, within: str) -> Iterator[str]:
        """The names that may stand, unwritten, before a name; the last is none."""
        yield ""

    def named(self, place: Place, full: str) -> Value | None:
        """A symbol of the scope that a place is in."""
        return self.symbol(place, place.scope, joined(place.prefix, full))

    def symbol(self, place: Place, scope: str, full: str) -> Value | None:
        """A symbol by scope and full name."""
        return self.lookups.value(place.family, scope, full)

    def imported(self, place: Place, kind: str, value: str, origin: str, within: str) -> Value | None:
        """What an import brings in."""
        return OUTSIDE

    def elsewhere(self, place: Place, name: str, within: str) -> Value | None:
        """What a name means that the file does not define: wildcards, the package, nothing."""
        return OUTSIDE

    def module_member(self, place: Place, module: str, name: str) -> Value | None:
        """A name inside a module."""
        return OUTSIDE

    # Expressions

    def said(self, place: Place, said: list[list[str]], within: str = "") -> Value | None:
        """What is said of a variable or a field; None if it is not one thing."""
        values = {self._one_said(place, kind, value, within) for kind, value, _ in said if kind != "local"}
        values -= {None} if len(values) > 1 else set()
        return values.pop() if len(values) == 1 else None

    def _one_said(self, place: Place, kind: str, value: str, within: str) -> Value | None:
        if kind == "type":
            return self.of_type(place, value, within)
        if kind == "made":
            return self.called(self.written(place, value, within))
        if kind == "same":
            return self.written(place, value, within)
        return None

    def of_type(self, place: Place, written: str, within: str) -> Value | None:
        """An instance of a type."""
        if written == LITERAL:
            return OUTSIDE
        if written in _SELF_TYPES:
            found = self.own_class(place, within)
            return Value("instance", found.found) if found else None
        value = self.written(place, written, within)
        if value is None or value.kind == "outside":
            return value
        return Value("instance", only_types(value).found) if value.kind == "class" else None

    def own_class(self, place: Place, within: str) -> Value | None:
        """The class that a definition is in."""
        name = within
        while name:
            value = self.named(place, name)
            if value is not None and value.kind == "class":
                return value
            name = name.rpartition(".")[0]
        return None

    def written(self, place: Place, path: str, within: str = "") -> Value | None:
        """What a path means at the top level of a file."""
        steps = steps_of(path)
        if not steps or self._depth > _DEPTH:
            return None
        self._depth += 1
        try:
            if steps[0].name in _SELF_TYPES | self.selves:
                value = self.own_class(place, within)
            else:
                value = self.top(place, steps[0].name, within)
            if steps[0].called:
                value = self.called(value)
            return self.follow(place, value, steps[1:])
        finally:
            self._depth -= 1

    def follow(self, place: Place, value: Value | None, steps: Sequence[Step]) -> Value | None:
        """Walk along the members of a path."""
        for step in steps:
            value = self.member(place, value, step.name)
            if step.called:
                value = self.called(value)
        return value

    def called(self, value: Value | None) -> Value | None:
        """What calling something gives."""
        if value is None or value.kind == "outside":
            return value
        value = only_callable(value)
        if value.kind == "class":
            return Value("instance", value.found)
        if value.kind == "function":
            return self._returned(value)
        return None

    def _returned(self, value: Value) -> Value | None:
        if self._depth > _DEPTH:
            return None
        self._depth += 1
        try:
            results = {self._returned_by(each) for each in value.found}
        finally:
            self._depth -= 1
        return results.pop() if len(results) == 1 else None

    def _returned_by(self, found: Found) -> Value | None:
        if found.target is None:
            return None
        place = self.lookups.place(found.target.path)
        written = return_type(found.target.language, found.target.signature)
        if place is None or not written:
            return None
        return self.of_type(place, written, found.target.qualified_name.rpartition(".")[0])

    # Members

    def member(self, place: Place, value: Value | None, name: str) -> Value | None:
        """What a name means after a dot."""
        if value is None or value.kind == "outside":
            return value
        if value.kind == "module":
            return self.module_member(place, value.module, name)
        if value.kind in ("class", "instance", "super"):
            return self.class_member(place, value, name)
        if value.kind == "function":
            for each in value.found:  # what hangs on a function, or on what a property gives
                inner = self.symbol(place, each.scope, joined(each.full, name))
                if inner is not None:
                    return inner
            return self.member(place, self._returned(value), name)
        if value.kind == "constant":
            for each in value.found:
                inner = self.symbol(place, each.scope, joined(each.full, name))
                if inner is not None:
                    return inner
        return None

    def class_member(self, place: Place, value: Value, name: str) -> Value | None:
        """A member of a class or of one that it inherits from."""
        memo = (value.kind, value.found, name)
        if memo not in self._members:
            # Who asks again on the way to the answer goes in a circle. What is found then is remembered,
            # too: fields that say of each other what they are would else be walked without end.
            self._members[memo] = None
            self._members[memo] = self._class_member(place, value, name)
        return self._members[memo]

    def _class_member(self, place: Place, value: Value, name: str) -> Value | None:
        seen: set[tuple[str, str]] = set()
        outside = False
        level = list(value.found)
        first = value.kind != "super"
        while level and len(seen) < 200:
            if first:
                found = self._at_level(place, level, name)
                if found is not None:
                    return found
            first = True
            above: list[Found] = []
            for each in level:
                if (each.scope, each.full) in seen:
                    continue
                seen.add((each.scope, each.full))
                for base in self.bases(place, each):
                    if base is None or base.kind != "class":
                        outside = True
                    else:
                        above.extend(base.found)
            level = [each for each in above if (each.scope, each.full) not in seen]
        return OUTSIDE if outside or not self.open_classes else None

    def _at_level(self, place: Place, level: list[Found], name: str) -> Value | None:
        """A member of one of some classes that are equally near."""
        for each in level:
            value = self.symbol(place, each.scope, joined(each.full, name))
            if value is not None:
                return value
        for each in level:
            if each.target is not None:
                said = self.lookups.face(each.target.path, f"field {each.target.qualified_name} {name}")
                home = self.lookups.place(each.target.path) if said else None
                if home is not None:
                    # A field is there; of which type, nobody may say.
                    return self.said(home, said, each.target.qualified_name) or Value("field")
        return None

    def bases(self, place: Place, found: Found) -> list[Value | None]:
        """The classes that a class inherits from, as far as they are known."""
        if found not in self._bases:
            self._bases[found] = []  # for who asks again on the way: a class is no base of itself
            self._bases[found] = self._find_bases(found)
        return self._bases[found]

    def _find_bases(self, found: Found) -> list[Value | None]:
        target = found.target
        if target is None:
            return []
        home = self.lookups.place(target.path)
        if home is None or self._depth > _DEPTH:
            return []
        around = target.qualified_name.rpartition(".")[0]
        paths = [path for _, path, _ in self.lookups.face(target.path, f"base {target.qualified_name}")]
        if target.kind == "type" and "=" in target.signature:
            aliased = parse_type_name(target.signature.partition("=")[2].strip(" ;"))
            paths += [aliased] if aliased and aliased != LITERAL else []
        self._depth += 1
        try:
            return [self.written(home, path, around) for path in paths]
        finally:
            self._depth -= 1

    def constructor(self, place: Place, value: Value) -> Value | None:
        """What runs when a class is instantiated, if the class itself defines it."""
        for each in value.found:
            for name in (*self.constructors, each.full.rpartition(".")[2]):
                found = self.symbol(place, each.scope, joined(each.full, name))
                if found is not None and found.kind == "function":
                    return found
        return None

    def called_instance(self, place: Place, value: Value) -> Value | None:
        """What runs when an object is called like a function."""
        return None

    def whole(self, value: Value | None) -> Value | None:
        """What a module stands for when it is used like a function or a class."""
        return value

    def import_reference(self, place: Place, name: str, qualifier: str) -> Value | None:
        """What an import statement names."""
        return self.imported(place, "import", name, qualifier, "")

    def is_variable(self, name: str) -> bool:
        """Whether a name that nothing is known of can only be a variable."""
        return False

    def sure_bare(self, name: str) -> bool:
        """Whether a bare name with one candidate means that one."""
        return True

    def narrowed(self, place: Place, value: Value, file: LinkedFile, reference: Reference) -> Value:
        """The symbols among several of one name that a reference can mean, by the number of arguments."""
        if len(value.found) < 2 or reference.arguments < 0 or value.kind != "function":
            return value
        fitting = tuple(
            each for each in value.found if each.target and takes(each.target.signature, reference.arguments)
        )
        return value._replace(found=fitting) if fitting else value
