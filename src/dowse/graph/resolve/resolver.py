"""Resolves the references of one file to edges of the call graph."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial

from dowse.graph.keys import join_names
from dowse.graph.lookups import FileScope, Lookups
from dowse.graph.resolve.common_methods import is_distinctive
from dowse.graph.resolve.ecmascript import EcmascriptRules
from dowse.graph.resolve.global_names import CRules, ElixirRules, PlainRules
from dowse.graph.resolve.go import GoRules
from dowse.graph.resolve.jvm import CsharpRules, JvmRules
from dowse.graph.resolve.local_scopes import LocalBinding, LocalScopes
from dowse.graph.resolve.php import PhpRules
from dowse.graph.resolve.python import PythonRules
from dowse.graph.resolve.reading import reading_rules
from dowse.graph.resolve.ruby import RubyRules
from dowse.graph.resolve.rules import Rules
from dowse.graph.resolve.rust import RustRules
from dowse.graph.resolve.values import (
    EDGE_KINDS,
    EXTERNAL,
    INHERITED,
    TYPED_RESULT,
    VARIABLE,
    Candidate,
    PathStep,
    Value,
    is_own_member,
    only_callable,
    only_types,
    parse_path,
)
from dowse.graph.symbol_table import decode_symbol_table
from dowse.lazy_classes import NamedTuple
from dowse.parsing.names import ATTRIBUTE, BARE, REGISTERED, TYPE
from dowse.storage.protocol import FileSymbol, NamedReference, ResolvedReference, UnlinkedFile
from dowse.types import Reference

_TYPE_NAME = re.compile(r"(?<![\w.!])[A-Za-z_]\w*(?![\w.])")

# The rules of each language family.
RULES: dict[str, type[Rules]] = {
    "python": PythonRules,
    "ecmascript": EcmascriptRules,
    "go": GoRules,
    "jvm": JvmRules,
    "rust": RustRules,
    "csharp": CsharpRules,
    "php": PhpRules,
    "c": CRules,
    "ruby": RubyRules,
    "elixir": ElixirRules,
}

# Creates named tuples at the speed of plain ones.
_RESOLVED = partial(tuple.__new__, ResolvedReference)

_MAX_LINES = 1 << 40
# Languages in which `f()` is a function even if a variable has the name.
_SEPARATE_FUNCTIONS = frozenset(["java", "php", "ruby"])
# Languages in which neither a call nor a type can be the name of a field or constant.
_FIELDS_UNLIKE_CALLS = frozenset(["java", "php"])
# References to names that can stand for a type of another name.
_OTHER_NAMES = frozenset([("c", "use"), ("rust", "call")])
# Languages in which `x.name` can be a call, and calls nothing if the name is that of a field.
_FIELDS_LIKE_CALLS = frozenset(["ruby", "scala"])
# A module of Ruby that more files than these open is a namespace: to read its name says nothing of them.
_MAX_REOPENED = 8
# Languages in which a module often gives what it exports another name than its definition has.
_EXPORTS_ALIASES = frozenset(["ecmascript", "python"])


class Links(NamedTuple):
    """The references of a file: resolved ones, and those of which only the name is known."""

    resolved: list[ResolvedReference]
    named: list[NamedReference]


def resolve_file(file: UnlinkedFile, lookups: Lookups, rules: dict[str, Rules]) -> Links:
    """Resolve every reference of a file.

    Args:
        file: The file.
        lookups: Answers from other files.
        rules: Keeps the rules of each language family for the next file.
    """
    scope = lookups.file_scope(file.path)
    links = Links([], [])
    if scope is None or not file.symbols:
        return links
    family_rules = rules.get(scope.family)
    if family_rules is None:
        family_rules = rules[scope.family] = RULES.get(scope.family, PlainRules)(lookups)
        rules[f"{scope.family} reads"] = reading_rules(family_rules)
    reading = rules[f"{scope.family} reads"]
    family_rules.reset()
    reading.reset()
    _FileResolver(file, scope, family_rules, reading, links).run()
    return links


class _FileResolver:
    """Resolves the references of one file; `owner` is the index of the symbol around a reference."""

    def __init__(
        self, file: UnlinkedFile, scope: FileScope, rules: Rules, reading: Rules, links: Links
    ) -> None:
        table = decode_symbol_table(file.table)
        self._reading = reading
        self._file, self._rules, self._links, self._scope = file, rules, links, scope
        self._symbols = file.symbols
        self._remainder = table.remainder
        self._bindings = table.bindings
        self._local = LocalScopes(file.symbols, table.local, table.remainder, rules.sigil)
        self._values: dict[tuple[str, str, str, int], Value | None] = {}
        self._readable_values: dict[tuple[str, str, int], Value | None] = {}
        self._receiver_values: dict[tuple[int, int], Value | None] = {}
        self._this_classes: dict[int, str] = {}
        self._heads: dict[tuple[str, int, int], Value | None] = {}
        self._owners = {s.qualified_name: i for i, s in reversed([*enumerate(self._symbols)]) if not s.part}
        self._first_parts = _first_parts(self._symbols)

    def run(self) -> None:
        """Resolve every reference."""
        for reference in self._file.references:
            owner = self._owner_of(reference)
            if owner < 0:
                continue
            try:
                self._resolve(reference, owner)
            except RecursionError:  # a chain of thousands of names, each an alias of the next
                self._add_named(reference, owner, "receiver")

        for index, symbol in enumerate(self._symbols):
            if not symbol.part:
                for interface in self._rules.implemented_interfaces(self._scope, symbol):
                    declaration = Reference("implements", symbol.name, "", symbol.first, 0, index, -1)
                    self._add_targets(declaration, index, interface)

    def _owner_of(self, reference: Reference) -> int:
        """Return the index of the symbol around a reference, -1 for none."""
        for owner in (reference.owner, self._remainder):
            if 0 <= owner < len(self._symbols):
                return self._first_parts[owner]
        return -1

    def _resolve(self, reference: Reference, owner: int) -> None:
        if reference.arguments in (TYPE, ATTRIBUTE):  # no member of a class, even if one has that name
            value = self._value(reference, owner)
            if value is not None and value.kind == "class":
                self._resolve_to_symbol(reference, owner)
            else:
                self._add_named_use(reference, owner, value)
            return
        if reference.kind in ("read", "write"):
            self._resolve_use(reference, owner)
            return
        can_name = reference.kind not in ("call", "use") or self._scope.language not in _FIELDS_UNLIKE_CALLS
        if not self._resolve_to_symbol(reference, owner) and can_name:
            self._resolve_use(reference, owner)

    def _resolve_to_symbol(self, reference: Reference, owner: int) -> bool:
        """Add the edges of a reference to symbols; return whether it can mean no name instead."""
        if reference.kind == "import":
            value = self._rules.resolve_import_statement(self._scope, reference.name, reference.qualifier)
            return self._add_import(reference, owner, value)
        if reference.qualifier == REGISTERED:
            self._add_registered(reference, owner)
            return True
        value = self._rules.default_export(self._value(reference, owner))
        if reference.arguments == BARE:
            if value is not None and value.kind == "function":
                self._add_value(reference, owner, value)
        elif reference.kind == "value":
            self._add_function_value(reference, owner, value)
            return False  # a value is a use, whether or not it may be called
        elif value is None:
            return self._add_named(reference, owner, self._reason_by_name(reference))
        elif self._is_other_name(reference, owner, value):
            return False  # not what it stands for
        elif reference.kind == "use" and value.kind == "class" and self._is_inside(owner, value):
            # Methods name their own class all the time: that is no use by another.
            self._add_targets(reference._replace(kind="read"), owner, only_types(value))
        elif value.kind == "field" and self._scope.language in _FIELDS_LIKE_CALLS:
            return False
        elif not self._add_value(reference, owner, value) and reference.kind == "call":
            reason = _reason_unresolved(value, is_member=bool(reference.qualifier))
            if reason and self._add_named(reference, owner, reason):
                return True
        return value is not None and _is_named(value, reference.name)

    def _resolve_use(self, reference: Reference, owner: int) -> None:
        """Add the edges of a reference to names; of a read or write, also to symbols that can be read."""
        if not self._may_be_defined(reference.name):
            return
        is_use = reference.kind in ("read", "write", "value", "import")
        value = self._readable(reference, owner)
        if value is None or value.kind == "external":
            if reference.kind != "import" and (is_use or (reference.kind == "call" and reference.qualifier)):
                self._add_named_use(reference, owner, value)
            return
        if value.kind != "name" and not (is_use and value.kind in ("function", "class", "constant")):
            return
        if value.kind == "class":
            value = only_types(value)
            if len(value.candidates) > _MAX_REOPENED and self._scope.language == "ruby":
                return
        if reference.kind in ("call", "value") or (reference.kind == "import" and value.kind != "name"):
            reference = reference._replace(kind="read")
        self._add_targets(reference, owner, self._rules.select_overloads(value, reference))

    def _may_be_defined(self, name: str) -> bool:
        """Whether a name can be one of the index: most are not, and it takes long to resolve them."""
        family = self._scope.family
        if family in _EXPORTS_ALIASES or f"import {name}" in self._bindings or self._local.binds(name):
            return True
        return self._rules.lookups.is_defined(family, name)

    def _readable(self, reference: Reference, owner: int) -> Value | None:
        """Return what a name is, other than the value that it has; shared as those of calls are."""
        name, path = reference.name, reference.qualifier
        if reference.kind == "import":
            value = self._reading.resolve_import_statement(self._scope, name, path)
            is_unknown = value is None or value.kind == "external"
            if is_unknown and self._scope.family != "ecmascript":
                value = self._reading.resolve_nested_import(self._scope, name, path, self._enclosing(owner))
            return value
        steps = parse_path(path, self._rules.sigil) if path else ()
        if path:
            receiver = self._resolve_path(steps, reference.line, owner) if steps else None
            if (
                reference.kind == "write"
                and path[0] == "<"
                and not self._rules.sets_fields(self._scope, receiver)
            ):
                return EXTERNAL
            return self._reading.member(self._scope, receiver, name)
        if self._local.binds(name):
            for binding in self._local.lookup(name, reference.line):
                fact = binding.fact
                if binding.symbol is not None:
                    return self._rules.scope_symbol(self._scope, binding.symbol.qualified_name)
                if fact is None or fact.kind not in ("import", "export"):
                    return EXTERNAL  # a variable of a function
                return self._reading.resolve_import(
                    self._scope, fact.value, fact.origin, self._enclosing(owner)
                )
        shared_scope = self._parent_scope(owner) if self._rules.nested_scopes else self._this_class(owner)
        memo = (name, shared_scope, self._local.receiver_index(reference.line))
        if memo not in self._readable_values:
            member = self._implicit_member(name, reference.line, owner, self._reading)
            found = member or self._reading.resolve_name(self._scope, name, self._enclosing(owner))
            self._readable_values[memo] = found
        return self._readable_values[memo]

    def _value(self, reference: Reference, owner: int) -> Value | None:
        """Return the value of a reference, shared by all in a class unless a function binds the name."""
        name, path = reference.name, reference.qualifier
        steps = parse_path(path, self._rules.sigil) if path else ()
        if reference.arguments in (TYPE, ATTRIBUTE):
            around = self._resolve_path(steps, reference.line, owner) if steps else None
            is_attribute = reference.arguments == ATTRIBUTE
            return self._rules.resolve_type(self._scope, around, name, self._enclosing(owner), is_attribute)
        if self._local.binds(steps[0].name if steps else name):
            is_variable = reference.kind != "call" or self._scope.language not in _SEPARATE_FUNCTIONS
            return self._find_value(steps, path, name, reference.line, owner, is_variable)
        if name in self._rules.super_names and not path:  # depends on the method around
            return self._find_value(steps, path, name, reference.line, owner)
        shared_scope = self._parent_scope(owner) if self._rules.nested_scopes else self._this_class(owner)
        shared_scope += self._rules.kind_of_self(self._symbols[owner])
        memo = (path, name, shared_scope, self._local.receiver_index(reference.line))
        if memo not in self._values:
            self._values[memo] = self._find_value(steps, path, name, reference.line, owner)
        return self._values[memo]

    def _find_value(
        self, steps: Sequence[PathStep], path: str, name: str, line: int, owner: int, is_variable: bool = True
    ) -> Value | None:
        if not path:
            return self._resolve_bare_name(name, line, owner, is_variable)
        receiver = self._resolve_path(steps, line, owner) if steps else None
        return self._rules.member(self._scope, receiver, name)

    def _parent_scope(self, owner: int) -> str:
        """Return the scope that siblings share: the class or module around, or the class itself."""
        enclosing = self._enclosing(owner)
        is_leaf = self._symbols[owner].kind in ("function", "method", "macro", "constant")
        return enclosing.rpartition(".")[0] if is_leaf else f"in {enclosing}"

    def _this_class(self, owner: int) -> str:
        """Return the class of `this` in a definition; a JavaScript function can be its own class."""
        if owner not in self._this_classes:
            name = self._local.enclosing_class(owner)
            if not name and self._rules.functions_are_classes:
                name = self._local.enclosing_function(owner)
            self._this_classes[owner] = name
        return self._this_classes[owner]

    def _enclosing(self, owner: int) -> str:
        """Return the qualified name of the definition around a reference, "" at the top level."""
        return "" if owner == self._remainder else self._symbols[owner].qualified_name

    def _resolve_bare_name(self, name: str, line: int, owner: int, is_variable: bool) -> Value | None:
        enclosing = self._enclosing(owner)
        if name in self._rules.super_names:
            if not self._rules.constructor_names or not self._rules.calls_super:
                return EXTERNAL
            return self._rules.super_call(self._scope, self._super_value(owner), enclosing)
        if name in self._rules.self_names and not self._is_assigned(name, line):
            own = self._this_instance(owner)
            return Value("class", own.candidates) if own else EXTERNAL
        local, is_local = self._resolve_local(name, line, enclosing)
        if is_local and (is_variable or (local is not None and local.kind in ("function", "class"))):
            return local or VARIABLE
        member = self._implicit_member(name, line, owner, self._rules)
        if member is not None:
            return member
        return self._rules.resolve_name(self._scope, name, enclosing)

    def _is_assigned(self, name: str, line: int) -> bool:
        """Whether a function assigns a name of its own to `self` or `cls`; most only have the parameter."""
        bindings = self._local.lookup(name, line)
        return any(each.fact is not None and each.fact.kind != "local" for each in bindings)

    def _resolve_local(self, name: str, line: int, enclosing: str) -> tuple[Value | None, bool]:
        """Return the value of a name in the scopes of functions, and whether one of them binds it."""
        bindings = self._local.lookup(name, line)
        for binding in bindings:
            if binding.symbol is not None:
                return self._rules.scope_symbol(self._scope, binding.symbol.qualified_name), True
        if not bindings:
            return None, False
        return self._local_value(name, line, enclosing, bindings), True

    def _local_value(
        self, name: str, line: int, enclosing: str, bindings: list[LocalBinding]
    ) -> Value | None:
        """Return the value that local bindings give a name, of whatever class."""
        values: list[Value | None] = []
        for binding in bindings:
            fact = binding.fact
            if fact is None or fact.kind == "local":
                values.append(None)
            elif fact.kind in ("import", "export"):
                values.append(self._rules.resolve_import(self._scope, fact.value, fact.origin, enclosing))
            elif fact.kind == "object":  # its functions are symbols of the definition around it
                around = self._rules.scope_symbol(self._scope, enclosing)
                values.append(Value("constant", around.candidates) if around else None)
            elif fact.kind == "type":
                type_name = self._with_bounds(fact.value, line)
                values.append(self._rules.instance_of(self._scope, type_name, enclosing))
            else:
                at = fact.first or line
                is_own = self._rules.shadows or fact.first > 0
                definition = enclosing
                if fact.value.startswith("this") and 0 <= fact.owner < len(self._symbols):
                    definition = self._symbols[fact.owner].qualified_name  # not that of a class inside
                value = self._assigned_value(fact.value, at, definition, name, fact.kind == "made", is_own)
                if fact.kind == "argument":
                    value = self._rules.callback_parameter(self._scope, value, fact.origin)
                values.append(value)
        return self._rules.union(values)

    def _with_bounds(self, type_name: str, line: int) -> str:
        """Return a type with the bounds of type parameters in their place."""

        def bound_of(name: re.Match[str]) -> str:
            for binding in self._local.lookup(name[0], line) if self._local.binds(name[0]) else ():
                if binding.fact and binding.fact.kind == "type" and binding.fact.name == name[0]:
                    return binding.fact.value
            return name[0]

        # A struct of C can have the name of a variable.
        return type_name if self._scope.family == "c" else _TYPE_NAME.sub(bound_of, type_name)

    def _assigned_value(
        self, path: str, line: int, enclosing: str, name: str, is_call: bool, shadows: bool
    ) -> Value | None:
        """Return the value of a variable by the expression that is assigned to it.

        Where it shadows another of its name, that one is in scope on the line before.
        """
        steps = parse_path(path, self._rules.sigil)
        if steps and steps[0].name == name and shadows:
            return self._resolve_path(steps, line - 1, self._owners.get(enclosing, self._remainder))
        if not steps or steps[0].name == name:
            if len(steps) == 1 and is_call:
                return self._rules.call_result(self._rules.resolve_name(self._scope, name, enclosing))
            return None
        value = self._resolve_path(steps, line, self._owners.get(enclosing, self._remainder))
        return self._rules.call_result(self._rules.default_export(value)) if is_call else value

    def _resolve_path(self, steps: Sequence[PathStep], line: int, owner: int) -> Value | None:
        """Return the value of a member path at a line."""
        head = steps[0]
        # Only a name that functions bind can have different values on different lines.
        is_bound = self._local.binds(head.name)
        memo = (head.name, line if is_bound else self._local.receiver_index(line) - _MAX_LINES, owner)
        if memo not in self._heads:
            self._heads[memo] = None  # breaks cycles: a name assigned to itself has no value
            self._heads[memo] = self._resolve_head(head.name, line, owner)
        value = self._heads[memo]
        if head.is_call and not (value is not None and value.kind == "super"):
            value = self._rules.external_result(self._rules.call_result(value), head.name)
        return self._rules.follow(self._scope, value, steps[1:])

    def _resolve_head(self, name: str, line: int, owner: int) -> Value | None:
        enclosing = self._enclosing(owner)
        if name.startswith("<"):
            return self._rules.instance_of(self._scope, name[1:-1], enclosing)
        if name == "this" and self._rules.implicit_self:
            return next(self._receivers(line, owner), None) or self._this_instance(owner)
        local, is_local = self._resolve_local(name, line, enclosing)
        if is_local and (name not in self._rules.self_names or self._is_assigned(name, line)):
            return local
        if name in self._rules.self_names:
            return self._this_instance(owner)
        if name in self._rules.super_names:
            return self._super_value(owner)
        if name.startswith("@"):
            own = self._this_instance(owner)
            return self._rules.member(self._scope, own, name) if own else None
        member = self._implicit_member(name, line, owner, self._rules)
        if member is not None:
            return member
        return self._rules.resolve_name(self._scope, name, enclosing)

    def _receivers(self, line: int, owner: int) -> Iterator[Value]:
        """Yield what `this` is in the lambdas and the extension function around a line, where known."""
        around = self._local.receivers(line)
        if not around:
            return
        first, last = self._local.lines_of(self._owners.get(self._local.enclosing_class(owner), -1))
        for bindings in around:
            span = bindings[0].first, bindings[0].last
            if span[0] < first or span[1] > last:
                return  # outside of the class
            if span not in self._receiver_values:
                self._receiver_values[span] = None  # the callee of a lambda is no member of its receiver
                self._receiver_values[span] = self._local_value(
                    "this", line, self._enclosing(owner), bindings
                )
            value = self._receiver_values[span]
            if value is not None:
                yield value

    def _implicit_member(self, name: str, line: int, owner: int, rules: Rules) -> Value | None:
        """Return a member of a receiver or a class around, in languages where it needs no `this`."""
        if not rules.implicit_self:
            return None
        for receiver in self._receivers(line, owner):
            member = rules.member(self._scope, receiver, name)
            if is_own_member(receiver, member):
                return member
        class_name = self._local.enclosing_class(owner)
        kind = self._rules.kind_of_self(self._symbols[owner])
        while class_name:
            instance = self._instance_of(class_name)._replace(kind=kind)
            if class_name.rpartition(".")[2] == name:
                return Value("class", instance.candidates)  # its constructor has its name as well
            member = rules.implicit_member(self._scope, instance, name)
            if member is not None and member is not INHERITED and not _is_constructor(member, name):
                return member
            class_name = class_name.rpartition(".")[0] if self._rules.sees_outer_members else ""
        return None

    def _this_instance(self, owner: int) -> Value | None:
        class_name = self._this_class(owner)
        kind = self._rules.kind_of_self(self._symbols[owner])
        return self._instance_of(class_name)._replace(kind=kind) if class_name else None

    def _instance_of(self, class_name: str) -> Value:
        value = self._rules.scope_symbol(self._scope, class_name)
        if value is not None and value.kind == "class":
            return Value("instance", value.candidates)
        full_name = join_names(self._scope.prefix, class_name)
        return Value("instance", (Candidate(None, self._scope.scope, full_name),))

    def _super_value(self, owner: int) -> Value | None:
        own = self._this_instance(owner)
        return Value("super", own.candidates) if own is not None else EXTERNAL

    def _add_value(self, reference: Reference, owner: int, value: Value) -> bool:
        """Add the edges of a reference whose value is known; return whether there are any."""
        is_call = reference.kind == "call"
        if value.kind == "instance" and is_call:
            operator = self._rules.call_operator(self._scope, value)
            if operator is None or operator.kind != "function":
                return False
            return self._add_targets(reference, owner, operator)
        if value.kind not in ("function", "class", "constant") or (value.kind == "constant" and is_call):
            return False
        value = only_callable(value) if is_call else only_types(value)
        if is_call:
            value = self._rules.inherited_overloads(self._scope, value, reference)
        value = self._rules.select_overloads(value, reference)
        is_added = self._add_targets(reference, owner, value)
        if value.kind == "class" and is_call:
            constructor = self._rules.constructor(self._scope, value)
            if constructor is not None:
                constructor = self._rules.select_overloads(constructor, reference)
                self._add_targets(reference, owner, constructor)
        return is_added

    def _add_registered(self, reference: Reference, owner: int) -> None:
        """Add a possible call of a decorated function by what is around it: its decorator may store it."""
        symbol = self._symbols[owner]
        around = self._owners.get(symbol.qualified_name.rpartition(".")[0], self._remainder)
        if symbol.name == reference.name and 0 <= around != owner:
            position = (self._symbols[around].row, reference.line, reference.column, EDGE_KINDS["value"])
            self._links.resolved.append(ResolvedReference(*position, symbol.row, 0))

    def _add_function_value(self, reference: Reference, owner: int, value: Value | None) -> None:
        """Add possible calls of a function that is passed on or stored."""
        if value is None and reference.qualifier and self._rules.names_values:
            self._add_named(reference, owner, "value")
        elif value is not None and value.kind in ("function", "class"):
            self._add_targets(reference, owner, only_callable(value))

    def _is_other_name(self, reference: Reference, owner: int, value: Value) -> bool:
        """Whether a name stands for a type of another name, or may: by a typedef, as a variant of an enum."""
        if (self._scope.language, reference.kind) not in _OTHER_NAMES or value.kind != "class":
            return False
        if self._scope.language == "c" and not _is_named(value, reference.name):
            return True
        if self._scope.language == "rust" and _is_named(value, reference.name):
            return False
        readable = self._readable(reference, owner)
        return readable is not None and readable.kind == "name"

    def _is_inside(self, owner: int, value: Value) -> bool:
        enclosing = self._enclosing(owner)
        return any(
            each.target
            and each.target.path == self._file.path
            and enclosing.startswith(each.target.qualified_name + ".")
            for each in value.candidates
        )

    def _add_targets(self, reference: Reference, owner: int, value: Value) -> bool:
        rows = {each.target.row for each in value.candidates if each.target is not None}
        position = (self._symbols[owner].row, reference.line, reference.column, EDGE_KINDS[reference.kind])
        likely = rows
        if len(rows) > 1:
            preferred = self._rules.preferred(self._scope, value.candidates)
            likely = {each.target.row for each in preferred if each.target is not None} or rows
        is_certain = reference.kind != "value"
        for row in rows:
            count = len(likely if row in likely else rows)
            count = count if is_certain or count > 1 else 0
            self._links.resolved.append(_RESOLVED((*position, row, count)))
        return bool(rows)

    def _add_import(self, reference: Reference, owner: int, value: Value | None) -> bool:
        if value is None:
            return False
        if value.kind in ("function", "class", "constant"):
            self._add_targets(reference, owner, value)
            return _is_named(value, reference.name)
        if value.kind == "module":
            targets = self._rules.lookups.remainder(value.module)
            module = Value("function", tuple(Candidate(target, "", "") for target in targets))
            self._add_targets(reference, owner, module)
        return False

    def _reason_by_name(self, reference: Reference) -> str:
        """Return why only the name of a reference is known; "" if that identifies a symbol."""
        if reference.qualifier:
            return "" if is_distinctive(reference.name) else "receiver"
        if self._rules.bare_name_fallback:
            return "" if self._rules.trusts_bare_name(reference.name) else "undefined"
        return "variable"

    def _add_named(self, reference: Reference, owner: int, reason: str) -> bool:
        """Keep a reference of which only the name is known; return whether any symbol has it."""
        is_member, is_call = bool(reference.qualifier), reference.kind == "call"
        if not (is_member or is_call or self._rules.bare_name_fallback):
            return False
        other = 0
        position = (self._symbols[owner].row, reference.line, reference.column, EDGE_KINDS[reference.kind])
        key = self._rules.lookups.key_of_name(self._scope.family, is_member, reference.name)
        if key:
            self._links.named.append(NamedReference(*position, key, reason))
        if is_call:  # `x.f()` can call a function of a module x, and `f()` an inherited method
            other = self._rules.lookups.key_of_name(self._scope.family, not is_member, reference.name)
            if other and other != key:
                self._links.named.append(NamedReference(*position, other, reason or "receiver"))
        return bool(key or other)

    def _add_named_use(self, reference: Reference, owner: int, value: Value | None) -> None:
        """Keep a use of which only the name is known, if any name or property has it."""
        is_member = bool(reference.qualifier)
        reason = "receiver" if is_member else "undefined"
        if value is not None and value != TYPED_RESULT:
            reason = _reason_unresolved(value, is_member)
        elif not is_member and not self._rules.bare_name_fallback:
            return
        kind = "write" if reference.kind == "write" else "read"
        position = (self._symbols[owner].row, reference.line, reference.column, EDGE_KINDS[kind])
        family, lookups = self._scope.family, self._rules.lookups
        keys = lookups.keys_of_use(family, is_member, reference.name) if reason else []
        is_undefined = value is not None and value.module == "undefined"
        if is_undefined and not is_member and reference.name[:1].isupper():
            keys.append(lookups.key_of_name(family, is_member, reference.name))  # of a class
        for key in filter(None, keys):
            self._links.named.append(NamedReference(*position, key, reason))


def _first_parts(symbols: Sequence[FileSymbol]) -> list[int]:
    """Return, for each symbol, the index of the first part of its definition."""
    firsts: list[int] = []
    for index, symbol in enumerate(symbols):
        firsts.append(firsts[-1] if symbol.part and firsts else index)
    return firsts


def _reason_unresolved(value: Value, is_member: bool) -> str:
    """Return why a call may mean any symbol of its name; "" if it certainly means none."""
    if value.kind in ("instance", "super") or value is EXTERNAL or value == TYPED_RESULT:
        return ""  # the type of what is called is known
    reason = {"external": value.module, "module": "undefined"}.get(value.kind, "variable")
    return "receiver" if is_member and reason in ("variable", "undefined") else reason


def _is_named(value: Value, name: str) -> bool:
    """Whether a value is a symbol of that name: not what an alias or a member of an enum stands for."""
    return any(each.target and each.full_name.rpartition(".")[2] == name for each in value.candidates)


def _is_constructor(value: Value, name: str) -> bool:
    """Whether this is the constructor of a class of that name: it is not inherited, so the class is meant."""
    return value.kind == "function" and all(
        each.full_name.rpartition(".")[0].rpartition(".")[2] == name for each in value.candidates
    )
