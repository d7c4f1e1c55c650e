"""Reference resolution as far as languages agree; the rules of each family override what differs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from dowse.graph.keys import join_names
from dowse.graph.lookups import FileScope, Lookups
from dowse.graph.resolve.signatures import (
    accepts_argument_count,
    aliased_type,
    return_type,
    type_parameters,
)
from dowse.graph.resolve.values import (
    COLLECTION,
    ENTERED,
    EXTERNAL,
    IMPORTED,
    INHERITED,
    ITERATION,
    UNDEFINED,
    UNWRAPPED,
    Candidate,
    PathStep,
    Value,
    only_callable,
    only_types,
    parse_path,
    union_of,
)
from dowse.lazy_classes import NamedTuple
from dowse.parsing.declared_types import parse_declared_type
from dowse.parsing.facts import parse_type_name
from dowse.parsing.type_expressions import (
    CALLABLE,
    CLASS,
    LITERAL,
    parse_type,
    split_arguments,
    split_union,
)
from dowse.storage.protocol import FileSymbol, Target
from dowse.types import Reference

# Longer chains of imports and base classes are cycles, or might as well be.
MAX_DEPTH = 24
# Classes that the search for an inherited member visits at most.
_MAX_ANCESTORS = 200
# Names that are commonly those of type parameters.
_TYPE_PARAMETER = re.compile(r"_?[A-Z][A-Z0-9]?(?:_co|_contra)?|T[A-Z]\w*")
# No names stand for anything known.
NOTHING: Mapping[str, Value | None] = MappingProxyType({})
# Types that mean the class itself.
SELF_TYPES = frozenset(["Self", "self", "static", "this", "typing.Self", "te.Self", "t.Self", "$this"])


# The result of a function that is being determined.
_RECURSIVE = Value("recursive")

# Methods of collections of many languages that return an element, or another collection of the same elements.
_ELEMENT_METHODS = frozenset(
    "get pop popleft shift at find findLast first last next peek setdefault getOrDefault __getitem__ getValue"
    " getFirst getLast poll take remove element orElse orElseThrow orElseGet front back top value lock"
    " First FirstOrDefault Last LastOrDefault Single SingleOrDefault ElementAt Dequeue Pop Peek"
    " firstOrNull lastOrNull singleOrNull getOrNull getOrElse removeFirst removeLast random headOption head"
    " lastOption".split()
)
_COLLECTION_METHODS = frozenset(
    "values copy filter slice concat reverse reversed sort sorted splice toSorted toReversed stream"
    " parallelStream distinct limit skip iterator toList subList findFirst findAny min max Where OrderBy"
    " OrderByDescending ThenBy Take Skip Distinct Reverse ToList ToArray AsEnumerable AsReadOnly Concat"
    " filterNot sortedBy take drop asReversed asSequence toMutableList toSet begin end cbegin cend".split()
)


class _Bases(NamedTuple):
    """The base classes of a class by kind, as far as they are known."""

    classes: list[Candidate]
    mixins: list[Candidate]  # the last one first
    interfaces: list[Candidate]
    has_external: bool


class Rules:
    """Resolves names at the top level of files, members and calls.

    In all methods, `file` is the file whose code is resolved, and `enclosing` the qualified name of the
    definition around that code. None stands for "unknown", EXTERNAL for "not defined in this index".
    """

    # Names of the current object and of its base class.
    self_names = frozenset(["self", "this", "cls"])
    super_names = frozenset(["super"])
    # Whether a bare name can be a member of the class around it.
    implicit_self = False
    # Whether a bare name that is in no scope can still mean any symbol of the index with that name.
    bare_name_fallback = False
    # Whether names are looked up in the definitions around them.
    nested_scopes = False
    # Whether an import takes precedence over what other files of the package define.
    imports_hide_package = False
    # Whether a variable can be declared by another of its name: `let x = x.unwrap()`.
    shadows = False
    # Whether a function can be used like a class.
    functions_are_classes = False
    # Whether `super` itself can be called, as a constructor.
    calls_super = True
    # Whether members of the classes around that class can be meant as well.
    sees_outer_members = True
    # Whether base classes are named in the body of a class, where its own constants are visible.
    bases_are_inside = False
    # Whether a member that is used as a value is a method: in some languages, most are fields.
    names_values = True
    # Whether an element of a collection whose type is not known may be of any class.
    keeps_unknown = False
    # What variables start with that is no part of their names.
    sigil = "$"
    # Whether these are the rules of reads: they look up names, not the values of names.
    is_reading = False
    # Names of constructors, besides the name of the class.
    constructor_names: tuple[str, ...] = ()

    def __init__(self, lookups: Lookups) -> None:
        self.lookups = lookups
        self._names: dict[tuple[str, str, str], Value | None] = {}
        self._members: dict[tuple[str, tuple[Candidate, ...], str], Value | None] = {}
        self._base_classes: dict[Candidate, list[Value | None]] = {}
        self._bases_by_kind: dict[Candidate, _Bases] = {}
        self._results: dict[tuple[Candidate, Value | None], Value | None] = {}
        self._modules: dict[tuple[str, str], str | None] = {}
        self._active: set[tuple[str, ...]] = set()
        self._depth = 0

    def reset(self) -> None:
        """Start on another file: it must do all lookups itself, so that its dependencies are recorded."""
        self._names.clear()
        self._members.clear()
        self._base_classes.clear()
        self._bases_by_kind.clear()
        self._results.clear()
        self._modules.clear()
        self._active.clear()
        self._depth = 0

    # Names

    def resolve_name(self, file: FileScope, name: str, enclosing: str = "") -> Value | None:
        """Return the value of a name outside of functions."""
        memo = (file.path, name, enclosing if self.nested_scopes else "")
        if memo in self._names:
            return self._names[memo]
        if memo in self._active or self._depth > MAX_DEPTH:
            return None
        self._active.add(memo)
        self._depth += 1
        try:
            value = self._names[memo] = self._resolve_name(file, name, enclosing)
        finally:
            self._active.discard(memo)
            self._depth -= 1
        return value

    def _resolve_name(self, file: FileScope, name: str, enclosing: str) -> Value | None:
        for outer in self.enclosing_scopes(file, enclosing):
            if outer.rpartition(".")[2] == name:
                continue  # a constructor has the name of its class
            if not outer and self.imports_hide_package:
                break
            value = self.scope_symbol(file, join_names(outer, name))
            if value is not None:
                return value
        for _, imported, origin in self.lookups.bindings(file.path, f"import {name}"):
            return self.resolve_import(file, imported, origin, enclosing)
        if self.imports_hide_package:
            value = self.scope_symbol(file, name)
            if value is not None:
                return value
        bindings = self.lookups.bindings(file.path, f"var {name}")
        if bindings:
            return self.variable_value(file, bindings, enclosing)
        return self.resolve_free_name(file, name, enclosing)

    def enclosing_scopes(self, file: FileScope, enclosing: str) -> Iterator[str]:
        """Yield the names of the scopes that are searched, from the inside out; "" is the top level."""
        while enclosing and self.nested_scopes:
            yield enclosing
            enclosing = enclosing.rpartition(".")[0]
        yield ""

    def scope_symbol(self, file: FileScope, full_name: str) -> Value | None:
        """Return a symbol of the scope that a file belongs to."""
        return self.symbol(file, file.scope, join_names(file.prefix, full_name))

    def symbol(self, file: FileScope, scope: str, full_name: str) -> Value | None:
        """Return a symbol by scope and full name."""
        return self.lookups.value(file.family, scope, full_name)

    def visible_names(self, file: FileScope, names: tuple[Target, ...]) -> tuple[Target, ...]:
        """Return those of several names with one full name that a file can see."""
        return names

    def resolve_import(self, file: FileScope, name: str, origin: str, enclosing: str) -> Value | None:
        """Return what an import binds: a name of a module, or the module itself if the name is ""."""
        return IMPORTED

    def resolve_free_name(self, file: FileScope, name: str, enclosing: str) -> Value | None:
        """Return the value of a name that the file does not bind, e.g. one from a wildcard import."""
        return UNDEFINED

    def resolve_type(
        self, file: FileScope, around: Value | None, name: str, enclosing: str, is_attribute: bool
    ) -> Value | None:
        """Return what a name means in the position of a type, in a language where members can have it too."""
        return self.member(file, around, name) if around else self.resolve_name(file, name, enclosing)

    def outside(self, file: FileScope, name: str, value: Value = UNDEFINED) -> Value:
        """Return a value from outside: certainly from there if no symbol of the index has its name."""
        return value if self.lookups.key_of_name(file.family, False, name) else EXTERNAL

    def find_module(self, path: str, origin: str) -> str | None:
        """Return the file of the module that a file imports, None if it is not in this index."""
        memo = (path, origin)
        if memo not in self._modules:
            self._modules[memo] = self._find_module(path, origin)
        return self._modules[memo]

    def _find_module(self, path: str, origin: str) -> str | None:
        return None

    def module_member(self, file: FileScope, module: str, name: str) -> Value | None:
        """Return a name of a module."""
        return UNDEFINED

    # Expressions

    def bound_value(self, file: FileScope, bindings: list[list[str]], enclosing: str = "") -> Value | None:
        """Return the value that a variable or field is bound to, of whatever class; None if unknown."""
        return self.union([self._binding_value(file, kind, value, enclosing) for kind, value, _ in bindings])

    def variable_value(self, file: FileScope, bindings: list[list[str]], enclosing: str = "") -> Value | None:
        """Return the value of a variable of a module, or of what it exports under a name."""
        return self.bound_value(file, bindings, enclosing)

    def union(self, values: Sequence[Value | None]) -> Value | None:
        """Return what a name stands for that has one of these values."""
        return union_of(values)

    def _binding_value(self, file: FileScope, kind: str, value: str, enclosing: str) -> Value | None:
        if kind == "type":
            return self.instance_of(file, value, enclosing)
        if kind == "made":
            return self.call_result(self.resolve_path(file, value, enclosing))
        if kind == "namespace":
            return Value("constant", (Candidate(None, file.scope, join_names(file.prefix, value)),))
        return self.resolve_path(file, value, enclosing) if kind == "same" else None

    def instance_of(self, file: FileScope, type_name: str, enclosing: str) -> Value | None:
        """Return an instance of a type, which can be a union and have type arguments."""
        if type_name[:1] == LITERAL and type_name[-1:] != "]":
            return EXTERNAL
        if type_name.endswith("]") or "|" in type_name:
            return self._instance_of_expression(file, type_name, enclosing)
        if type_name in SELF_TYPES:
            own = self.enclosing_class(file, enclosing)
            return Value("instance", own.candidates) if own else None
        value = self.resolve_path(file, type_name, enclosing)
        if value is None or value.kind == "external":
            bound = self._bound_of_type_parameter(file, type_name, enclosing) if enclosing else ""
            if bound:
                return self._instance_of_bound(file, type_name, bound, enclosing)
        if value is None:
            return value
        if value.kind == "external":
            last = type_name.rpartition(".")[2]
            return None if _TYPE_PARAMETER.fullmatch(last) else self.outside(file, last, value)
        return Value("instance", only_types(value).candidates) if value.kind == "class" else None

    def _instance_of_bound(self, file: FileScope, parameter: str, bound: str, enclosing: str) -> Value | None:
        """Return an instance of the bound of a type parameter, which may name itself: `T extends Node<T>`."""
        active = (file.path, parameter, enclosing, bound)
        if active in self._active:
            return None
        self._active.add(active)
        try:
            return self.instance_of(file, bound, enclosing)
        finally:
            self._active.discard(active)

    def _bound_of_type_parameter(self, file: FileScope, name: str, enclosing: str) -> str:
        """Return the bound of a type parameter of a definition around it, "" if there is none."""
        while enclosing and name[:1].isupper() and "." not in name:
            value = self.scope_symbol(file, enclosing)
            for each in value.candidates if value else ():
                bound = type_parameters(each.target.signature).get(name, "") if each.target else ""
                if bound and bound != name:
                    return bound
            enclosing = enclosing.rpartition(".")[0]
        return ""

    def _instance_with(
        self, file: FileScope, type_name: str, enclosing: str, known: Mapping[str, Value | None]
    ) -> Value | None:
        """Return an instance of a type in which some names stand for known values."""
        if type_name in known:
            return known[type_name]
        if known and (type_name.endswith("]") or "|" in type_name):
            return self._instance_of_expression(file, type_name, enclosing, known)
        return self.instance_of(file, type_name, enclosing)

    def _instance_of_expression(
        self, file: FileScope, type_name: str, enclosing: str, known: Mapping[str, Value | None] = NOTHING
    ) -> Value | None:
        members = split_union(type_name)
        if len(members) > 1:
            return union_of(self._instance_with(file, member, enclosing, known) for member in members)
        name, written = split_arguments(type_name)
        arguments = tuple(
            self._instance_with(file, each, enclosing, known) if each else None for each in written
        )
        if name[:1] == LITERAL:  # a type that the language has built in
            return Value("external", (Candidate(None, "", name),), arguments=arguments)
        if name == CALLABLE:
            return Value("callable", arguments=arguments)
        if name == CLASS:
            held = arguments[0]
            return Value("class", held.candidates) if held and held.kind == "instance" else held
        value = self.instance_of(file, name, enclosing)
        # A collection from outside holds something, even if that is not known.
        is_held = any(arguments) or (value is not None and value.kind == "external" and self.keeps_unknown)
        return value._replace(arguments=arguments) if value is not None and is_held else value

    def enclosing_class(self, file: FileScope, enclosing: str) -> Value | None:
        """Return the innermost class around a definition, or the definition itself if it is one."""
        while enclosing:
            value = self.scope_symbol(file, enclosing)
            if value is not None and value.kind == "class":
                return value
            enclosing = enclosing.rpartition(".")[0]
        return None

    def resolve_path(self, file: FileScope, path: str, enclosing: str = "") -> Value | None:
        """Return the value of a member path such as `a.b().c` at the top level of a file."""
        steps = parse_path(path, self.sigil)
        if not steps or self._depth > MAX_DEPTH:
            return None
        self._depth += 1
        try:
            if steps[0].name in SELF_TYPES | self.self_names:
                value = self.enclosing_class(file, enclosing)
                if value is not None and steps[0].name in ("self", "this"):
                    value = Value("instance", value.candidates)
            elif steps[0].name.startswith("<"):
                value = self.instance_of(file, steps[0].name[1:-1], enclosing)
            else:
                value = self.resolve_head(file, steps[0].name, enclosing)
            if steps[0].is_call:
                value = self.external_result(self.call_result(value), steps[0].name)
            return self.follow(file, value, steps[1:])
        finally:
            self._depth -= 1

    def resolve_head(self, file: FileScope, name: str, enclosing: str) -> Value | None:
        """Return the value of the first name of a path."""
        return self.resolve_name(file, name, enclosing)

    def follow(self, file: FileScope, value: Value | None, steps: Sequence[PathStep]) -> Value | None:
        """Follow the members of a path."""
        for step in steps:
            value = self.member(file, value, step.name)
            if step.is_call:
                value = self.external_result(self.call_result(value), step.name)
        return value

    def external_result(self, value: Value | None, name: str) -> Value | None:
        """Return the result of a function or class: only the latter is certainly from outside."""
        return value

    def call_result(self, value: Value | None) -> Value | None:
        """Return the value of calling something."""
        if value is None or value.kind == "external":
            return value
        if value.kind == "callable":
            return value.arguments[0]
        value = only_callable(value)
        if value.kind == "class":
            return Value("instance", value.candidates, arguments=value.arguments)
        if value.kind == "constant":
            return self.call_result(self._constant_value(value))
        return self._return_value(value) if value.kind == "function" else None

    def _return_value(self, function: Value) -> Value | None:
        if self._depth > MAX_DEPTH:
            return None
        self._depth += 1
        try:
            receiver = function.receiver
            results = [*dict.fromkeys(self._result(each, receiver) for each in function.candidates)]
        finally:
            self._depth -= 1
        results = [each for each in results if each is not _RECURSIVE]
        return results[0] if len(results) == 1 else self.overload_result(results)

    def _result(self, function: Candidate, receiver: Value | None) -> Value | None:
        """Return the result of one function; overloads often return each other's."""
        memo = (function, receiver)
        if memo not in self._results:
            self._results[memo] = _RECURSIVE
            self._results[memo] = self._declared_return(function, receiver)
        return self._results[memo]

    def overload_result(self, results: list[Value | None]) -> Value | None:
        """Return the result of a call of one of several overloads that have different results."""
        return None

    def _declared_return(self, function: Candidate, receiver: Value | None = None) -> Value | None:
        """Return an instance of the return type in a function's signature, or what the function returns."""
        target = function.target
        file = self.lookups.file_scope(target.path) if target else None
        if target is None or file is None:
            return None
        type_name = return_type(target.language, target.signature)
        enclosing = target.qualified_name.rpartition(".")[0]
        if type_name:
            known = self.known_types(file, receiver, enclosing) if receiver else NOTHING
            return self._instance_with(file, type_name, enclosing, known)
        bindings = self.lookups.bindings(target.path, f"result {target.qualified_name}")
        if any(kind == "object" for kind, _, _ in bindings):
            return Value("constant", (function,))  # its functions are symbols of this one
        return self.bound_value(file, bindings, target.qualified_name)

    def callback_parameter(self, file: FileScope, callee: Value | None, position: str) -> Value | None:
        """Return a parameter of a function that is an argument of a call, by what its callee declares.

        The position is that of a fact of kind "argument".
        """
        return None

    # Members

    def member(self, file: FileScope, value: Value | None, name: str) -> Value | None:
        """Return the value of a name after a dot, or of an element."""
        if value is None or not name:  # a path may be incomplete, as in `use a::::b`
            return None
        if name[0] == "[":
            return self.element(file, value, name)
        if value.kind == "external":
            return self.external_member(value, name)
        if value.kind == "module":
            return self.module_member(file, value.module, name)
        if value.kind in ("class", "instance", "super"):
            member = self.class_member(file, value, name)
            if member is not None and member.kind == "function":
                return member._replace(receiver=value)  # for its result
            return self._substituted(value, name, member) if value.arguments else member
        if value.kind in ("function", "constant"):
            for each in value.candidates:  # an attribute of a function, or of the value of a property
                inner = self.symbol(file, each.scope, join_names(each.full_name, name))
                inner = inner or self._property(each, name)
                if inner is not None:
                    return inner
        if value.kind == "constant":
            return self.member(file, self._constant_value(value), name)
        return self.member(file, self._return_value(value), name) if value.kind == "function" else None

    def _constant_value(self, constant: Value) -> Value | None:
        """Return what a constant of a module is bound to."""
        target = constant.candidates[0].target
        file = self.lookups.file_scope(target.path) if target and target.kind == "constant" else None
        if target is None or file is None or self._depth > MAX_DEPTH:
            return None
        self._depth += 1
        try:
            value = self.bound_value(file, self.lookups.bindings(target.path, f"var {target.qualified_name}"))
        finally:
            self._depth -= 1
        return None if value == constant else value

    def _property(self, owner: Candidate, name: str) -> Value | None:
        """Return the value of a property of an object literal."""
        if owner.target is None:
            return None
        path, qualified_name = owner.target.path, owner.target.qualified_name
        bindings = self.lookups.bindings(path, f"field {qualified_name} {name}")
        file = self.lookups.file_scope(path) if bindings else None
        return self.bound_value(file, bindings, qualified_name) if file else None

    def known_types(self, file: FileScope, receiver: Value, enclosing: str) -> dict[str, Value | None]:
        """Return what types in a method of a class stand for: its own object, and type arguments."""
        known: dict[str, Value | None] = {}
        if receiver.kind == "instance":
            known = dict.fromkeys(SELF_TYPES, receiver)
        owner = self.scope_symbol(file, enclosing) if receiver.arguments else None
        for each in owner.candidates if owner else ():
            names = type_parameters(each.target.signature) if each.target else ()
            known |= zip(names, receiver.arguments, strict=False)
        return known

    def _substituted(self, owner: Value, name: str, member: Value | None) -> Value | None:
        """Return a field of a generic class with type arguments for the type parameters."""
        target = owner.candidates[0].target
        if target is None:
            return member
        for kind, written, _ in self.lookups.bindings(target.path, f"field {target.qualified_name} {name}"):
            if kind == "type" and written in type_parameters(target.signature):
                return _argument_of(target.signature, written, owner.arguments)
        return member

    def element(self, file: FileScope, value: Value, name: str) -> Value | None:
        """Return an element of a collection, or another value that a step without a name stands for.

        Iterating over a mapping yields its keys.
        """
        if name == UNWRAPPED:
            return value
        if name == COLLECTION:
            return Value("external", arguments=(value,))
        if name == ENTERED:
            return self.entered_value(file, value)
        if value.kind == "class":  # a class with type arguments
            return value
        if not value.arguments:
            return None
        if name[1:-1].isdigit():
            return value.arguments[min(int(name[1:-1]), len(value.arguments) - 1)]
        return value.arguments[0 if name == ITERATION else -1]

    def entered_value(self, file: FileScope, value: Value) -> Value | None:
        """Return what a context manager yields: by default, itself."""
        return value

    def external_member(self, value: Value, name: str) -> Value | None:
        """Return a member of something from outside the index; methods of collections yield elements."""
        if not value.arguments:
            return value
        if name in _ELEMENT_METHODS:
            return Value("callable", arguments=value.arguments[-1:])
        if name == "getKey":
            return Value("callable", arguments=value.arguments[:1])
        if name in _COLLECTION_METHODS:
            return Value("callable", arguments=(value._replace(arguments=value.arguments[-1:]),))
        return value._replace(arguments=())

    def implicit_member(self, file: FileScope, value: Value, name: str) -> Value | None:
        """Return a member of an object that needs no name."""
        return self.class_member(file, value, name)

    def class_member(self, file: FileScope, value: Value, name: str) -> Value | None:
        """Return a member of a class or of its base classes."""
        memo = (value.kind, value.candidates, name)
        if memo not in self._members:
            # None breaks cycles: a lookup that needs its own result finds nothing. What follows from that is
            # cached as well, or fields that are bound to each other would be followed without end.
            self._members[memo] = None
            self._members[memo] = self._class_member(file, value, name)
        return self._members[memo]

    def _class_member(self, file: FileScope, value: Value, name: str) -> Value | None:
        """Search the class hierarchy."""
        members = _members_of_union(value)
        if len(members) > 1:
            return union_of(
                member
                for each in members
                if (member := self.class_member(file, each, name)) is None or member.kind != "field"
            )
        for level in self.ancestor_levels(value):
            if level is None:
                return INHERITED
            member = self.visible_member(value, self._member_at_level(file, level, name))
            if member is not None:
                return member
        return None

    def visible_member(self, owner: Value, member: Value | None) -> Value | None:
        """Return a member as far as it is one of objects of this kind."""
        return member

    def ancestor_levels(self, value: Value) -> Iterator[list[Candidate] | None]:
        """Yield the classes in which a member is searched, with their base classes level by level.

        The last is None if some base class is outside the index. `super` is without its own class.
        """
        seen: set[Candidate] = set()
        has_external_base = False
        level = list(value.candidates)
        is_searched = value.kind != "super"
        while level and len(seen) < _MAX_ANCESTORS:
            if is_searched:
                yield level
            is_searched = True
            bases: list[Candidate] = []
            for each in level:
                if each in seen:
                    continue
                seen.add(each)
                for base in self.base_classes(each):
                    if base is None or base.kind != "class":
                        has_external_base = True
                    else:
                        bases.extend(base.candidates)
            level = [each for each in bases if each not in seen]
        if has_external_base:
            yield None

    def mixin_order(self, value: Value, mixin: str) -> Iterator[list[Candidate] | None]:
        """Yield a class, its mixins, then the same of its base class and so on; interfaces come last.

        Mixins are symbols of one kind. The last is None if some base class is outside the index.
        """
        waiting, interfaces = list(value.candidates), list[Candidate]()
        seen, has_external_base = set[Candidate](), False
        own = frozenset(waiting)  # the definitions of one class
        if value.kind != "super":
            yield list(value.candidates)
        while (waiting or interfaces) and len(seen) < _MAX_ANCESTORS:
            each = waiting.pop(0) if waiting else interfaces.pop(0)
            if each in seen:
                continue
            seen.add(each)
            if each not in own:
                yield [each]
            bases = self._bases(each, mixin)
            has_external_base |= bases.has_external
            interfaces += bases.interfaces
            waiting = bases.mixins + waiting + bases.classes
        if has_external_base:
            yield None

    def _bases(self, candidate: Candidate, mixin: str) -> _Bases:
        """Return the base classes of a class, apart from its mixins; a language has one kind of those."""
        bases = self._bases_by_kind.get(candidate)
        if bases is None:
            found = self.base_classes(candidate)
            by_kind: dict[str, list[Candidate]] = {}
            for base in (b for value in found if value and value.kind == "class" for b in value.candidates):
                by_kind.setdefault(base.target.kind if base.target else "", []).append(base)
            interfaces, mixins = by_kind.pop("interface", []), by_kind.pop(mixin, [])[::-1]
            classes = [base for bases_of_kind in by_kind.values() for base in bases_of_kind]
            has_external = any(base is None or base.kind != "class" for base in found)
            bases = _Bases(classes, mixins, interfaces, has_external)
            if found:  # else they may be those of a class whose bases are being determined
                self._bases_by_kind[candidate] = bases
        return bases

    def _member_at_level(self, file: FileScope, level: list[Candidate], name: str) -> Value | None:
        """Return a member of one of several classes at the same distance."""
        for scope, full_name in dict.fromkeys([(each.scope, each.full_name) for each in level]):
            value = self.symbol(file, scope, join_names(full_name, name))
            if value is not None:
                return value
        for each in level:
            if each.target is not None:
                path, owner = each.target.path, each.target.qualified_name
                bindings = self.lookups.bindings(path, f"field {owner} {name}")
                class_file = self.lookups.file_scope(path) if bindings else None
                if class_file is not None:
                    # The field exists, even if its type is unknown.
                    return self.bound_value(class_file, bindings, owner) or Value("field")
        return None

    def base_classes(self, candidate: Candidate) -> list[Value | None]:
        """Return the base classes of a class, as far as they are known."""
        if candidate not in self._base_classes:
            self._base_classes[candidate] = []  # breaks cycles: a class is no base of itself
            self._base_classes[candidate] = self._find_base_classes(candidate)
        return self._base_classes[candidate]

    def _find_base_classes(self, candidate: Candidate) -> list[Value | None]:
        target = candidate.target
        file = self.lookups.file_scope(target.path) if target else None
        if target is None or file is None or self._depth > MAX_DEPTH:
            return []
        paths = [path for _, path, _ in self.lookups.bindings(target.path, f"base {target.qualified_name}")]
        written = aliased_type(target.signature) if target.kind == "type" else ""
        if written:
            read = parse_type if target.language in ("python", "typescript") else parse_type_name
            aliased = (parse_declared_type if target.language == "cpp" else read)(written)
            names = [split_arguments(member)[0] for member in split_union(aliased)]
            paths += [name for name in names if name and name not in (LITERAL, CALLABLE, CLASS)]
        enclosing = target.qualified_name
        if not self.bases_are_inside:
            enclosing = enclosing.rpartition(".")[0]
        self._depth += 1
        try:
            return [self.resolve_path(file, path, enclosing) for path in paths]
        finally:
            self._depth -= 1

    def constructor(self, file: FileScope, value: Value) -> Value | None:
        """Return the constructor of a class, if the class itself defines one."""
        for each in value.candidates:
            for name in (*self.constructor_names, each.full_name.rpartition(".")[2]):
                member = self.symbol(file, each.scope, join_names(each.full_name, name))
                if member is not None and member.kind == "function":
                    return member
        return None

    def sets_fields(self, file: FileScope, value: Value | None) -> bool:
        """Whether the keys of a literal of a class, or the keywords of a call of it, are its fields."""
        return value is None or value.kind == "instance"

    def super_constructor(self, file: FileScope, value: Value | None) -> Value | None:
        """Return the constructor of a base class, which is called by the name of `super` alone."""
        return self.member(file, value, self.constructor_names[0])

    def kind_of_self(self, symbol: FileSymbol) -> str:
        """Return what the current object is in a definition: an instance of a class, or the class."""
        return "instance"

    def super_call(self, file: FileScope, value: Value | None, enclosing: str) -> Value | None:
        """Return what a call of `super` itself calls in a definition."""
        return self.super_constructor(file, value)

    def call_operator(self, file: FileScope, value: Value) -> Value | None:
        """Return the method that runs when an object is called like a function."""
        return None

    def default_export(self, value: Value | None) -> Value | None:
        """Return what a module stands for when it is used like a function or a class."""
        return value

    def resolve_import_statement(self, file: FileScope, name: str, qualifier: str) -> Value | None:
        """Return what an import statement names."""
        return self.resolve_import(file, name, qualifier, "")

    def resolve_nested_import(
        self, file: FileScope, name: str, qualifier: str, enclosing: str
    ) -> Value | None:
        """Return a name of a nested list of imports, of which not the whole path is known here."""
        return self.resolve_name(file, name, enclosing)

    def preferred(self, file: FileScope, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
        """Return the candidates that an ordinary build uses; the others stay possible."""
        return candidates

    def implemented_interfaces(self, file: FileScope, symbol: FileSymbol) -> Iterator[Value]:
        """Yield the interfaces that a type implements without a reference to them."""
        yield from ()

    def trusts_bare_name(self, name: str) -> bool:
        """Whether the only candidate for a bare name is certainly its target."""
        return True

    def inherited_overloads(self, file: FileScope, value: Value, reference: Reference) -> Value:
        """Return the methods of base classes where those of the class cannot be meant."""
        return value

    def select_overloads(self, value: Value, reference: Reference) -> Value:
        """Return the overloads that a reference can mean by its number of arguments."""
        if len(value.candidates) < 2 or reference.arguments < 0 or value.kind != "function":
            return value
        fitting = tuple(
            each
            for each in value.candidates
            if each.target and accepts_argument_count(each.target.signature, reference.arguments)
        )
        return value._replace(candidates=fitting) if fitting else value


def _argument_of(signature: str, parameter: str, arguments: tuple[Value | None, ...]) -> Value | None:
    """Return the type argument for a type parameter of a class."""
    index = list(type_parameters(signature)).index(parameter)
    return arguments[index] if index < len(arguments) else None


def _members_of_union(value: Value) -> list[Value]:
    """Return a value for each class among the candidates; a class can have several definitions."""
    if len(value.candidates) < 2:
        return [value]
    by_name: dict[tuple[str, str], list[Candidate]] = {}
    for each in value.candidates:
        by_name.setdefault((each.scope, each.full_name), []).append(each)
    return [value._replace(candidates=tuple(candidates)) for candidates in by_name.values()]
