"""Java, Kotlin and Scala: packages contain classes, classes all else; C# is similar."""

from __future__ import annotations

from collections.abc import Sequence

from dowse.graph.keys import join_names
from dowse.graph.lookups import FileScope
from dowse.graph.resolve.rules import Rules
from dowse.graph.resolve.signatures import accepts_argument_count as takes
from dowse.graph.resolve.signatures import lambda_types, parameter_types, type_parameters
from dowse.graph.resolve.values import (
    EXTERNAL,
    IMPORTED,
    INHERITED,
    ITERATION,
    TYPED_RESULT,
    UNDEFINED,
    Candidate,
    PathStep,
    Value,
    is_own_member,
    only_types,
    union_of,
)
from dowse.graph.symbol_table import EXTENSIONS, GLOBAL_IMPORTS
from dowse.parsing.declared_types import parse_declared_type
from dowse.parsing.kotlin_values import PARAMETERS, RECEIVER
from dowse.parsing.type_expressions import split_arguments
from dowse.storage.protocol import Target
from dowse.types import Reference

_STANDARD_PACKAGES = ("java.", "javax.", "kotlin.", "scala.", "android.", "System.")


# Functions of Kotlin's standard library: what they return, and what the names in their lambdas are.
_RETURNS_RECEIVER = frozenset(["apply", "also", "takeIf", "takeUnless", "onEach", "requireNotNull"])
_ON_RECEIVER = {
    RECEIVER: frozenset(["apply", "run"]),
    **dict.fromkeys(PARAMETERS, frozenset(["also", "let", "takeIf", "takeUnless", "use"])),
}
_ON_ELEMENTS = frozenset(
    "forEach map filter any all none find first last firstOrNull lastOrNull single singleOrNull filterNot"
    " mapNotNull flatMap associate associateBy associateWith groupBy sortedBy sortedByDescending sumOf sumBy"
    " joinToString onEach count partition maxByOrNull minByOrNull maxBy minBy takeWhile dropWhile removeIf"
    " removeAll indexOfFirst indexOfLast distinctBy findLast mapTo filterTo forEachIndexed zip".split()
)
# Interfaces of Java that a lambda can stand for; the first type argument is that of its parameter.
_FUNCTIONAL = frozenset(["Consumer", "Function", "Predicate", "UnaryOperator", "BiConsumer", "BiFunction"])


def _named(value: Value, name: str) -> Value:
    """Return a value from outside with the name of its type."""
    return value._replace(candidates=(Candidate(None, "", name),)) if value.kind == "external" else value


def _at(types: tuple[str, ...], index: int) -> str:
    return types[index] if index < len(types) else ""


def _is_visible(file: FileScope, target: Target) -> bool:
    """Whether a file sees a symbol of its package: a private function of Kotlin is one of its file."""
    is_private = target.language == "kotlin" and target.signature.startswith("private fun ")
    return not is_private or target.path == file.path or "." in target.qualified_name


class JvmRules(Rules):
    """Packages, imports and nested classes."""

    nested_scopes = True
    implicit_self = True
    imports_hide_package = True
    self_names = frozenset(["this"])
    constructor_names = ("init", "constructor")

    def symbol(self, file: FileScope, scope: str, full_name: str) -> Value | None:
        """Return a symbol that a file can see."""
        value = self.lookups.value(file.family, scope, full_name)
        if value is None:
            return None
        for candidate in value.candidates:  # a loop: this runs millions of times
            target = candidate.target
            if target is not None and target.language == "kotlin" and not _is_visible(file, target):
                break
        else:
            return value
        visible = tuple(c for c in value.candidates if not c.target or _is_visible(file, c.target))
        return value._replace(candidates=visible) if visible else None

    def resolve_import(self, file: FileScope, name: str, origin: str, enclosing: str) -> Value | None:
        """Return a class of a package, a nested class, or a static member."""
        value = self._package_member(file, origin, name)
        if value is None and file.language == "scala":
            value = self._relative_member(file, origin, name)
        if value is None and origin.startswith(_STANDARD_PACKAGES):
            return _named(EXTERNAL, name)
        return value or _named(self.outside(file, name, IMPORTED), name)

    def _package_member(self, file: FileScope, origin: str, name: str) -> Value | None:
        """Return a name after a path in which packages and classes look the same: try every boundary."""
        package, inner = origin, name
        while True:
            value = self.symbol(file, package, inner)
            if value is not None:
                return value
            if inner.count(".") >= 2 or not package:
                return self._inherited_static(file, origin, name)
            package, _, last = package.rpartition(".")
            inner = join_names(last, inner)

    def _relative_member(self, file: FileScope, origin: str, name: str) -> Value | None:
        """Return a name after a path that starts in one of the packages around, as in Scala."""
        package = file.scope
        while package:
            value = self._package_member(file, join_names(package, origin), name)
            if value is not None:
                return value
            package = package.rpartition(".")[0]
        return None

    def resolve_path(self, file: FileScope, path: str, enclosing: str = "") -> Value | None:
        """Return the value of a member path, which can start with a package of Scala."""
        value = super().resolve_path(file, path, enclosing)
        is_unknown = value is None or value.kind == "external"
        if is_unknown and file.language == "scala" and "." in path and "(" not in path and "[" not in path:
            origin, _, name = path.rpartition(".")
            return self._relative_member(file, origin, name) or value
        return value

    def _inherited_static(self, file: FileScope, origin: str, name: str) -> Value | None:
        """Return a static member that the named class inherits."""
        package, _, last = origin.rpartition(".")
        owner = self.symbol(file, package, last) if last else None
        if owner is None or owner.kind != "class":
            return None
        member = self.class_member(file, owner, name)
        return member if member is not None and member.kind != "external" else None

    def resolve_free_name(self, file: FileScope, name: str, enclosing: str) -> Value | None:
        """Return a name from a wildcard import, or of the standard packages."""
        for origin in self.wildcard_imports(file):
            value = self._package_member(file, origin, name)
            if value is None and file.language == "scala":
                value = self._relative_member(file, origin, name)
            if value is not None:
                return value
        if file.language == "scala":
            package = file.scope
            while package := package.rpartition(".")[0]:
                value = self.symbol(file, package, name)
                if value is not None:
                    return value
        return _named(self.outside(file, name), name) if name[:1].isupper() else UNDEFINED

    def instance_of(self, file: FileScope, type_name: str, enclosing: str) -> Value | None:
        """Return an instance of a type; one from outside keeps its name for extension methods."""
        value = super().instance_of(file, type_name, enclosing)
        if value is None or value.kind != "external" or value.candidates:
            return value
        return _named(value, type_name.partition("[")[0].rpartition(".")[2])

    def external_member(self, value: Value, name: str) -> Value | None:
        """Return a member of something from outside: its type has another name."""
        member = super().external_member(value, name)
        return member._replace(candidates=()) if member is not None and member.candidates else member

    def super_constructor(self, file: FileScope, value: Value | None) -> Value | None:
        """Return the base class, whose name its constructors have."""
        bases = [base for each in value.candidates for base in self.base_classes(each)] if value else []
        return next((base for base in bases if base is not None and base.kind == "class"), INHERITED)

    def member(self, file: FileScope, value: Value | None, name: str) -> Value | None:
        """Return a member; `Outer.this` and `Base.super` are instances, `Foo::class` is one of KClass."""
        if value is not None and value.kind == "class" and name in ("this", "super"):
            return Value("instance", value.candidates)
        if name == "class":  # `Foo::class`, on which there can be extension functions
            return _named(EXTERNAL, "KClass" if file.language == "kotlin" else "Class")
        if name == "java" and value is not None and value.candidates[:1] == (Candidate(None, "", "KClass"),):
            return _named(EXTERNAL, "Class")
        member = super().member(file, value, name)
        is_found = member is not None and member.kind != "external"
        if is_found or value is None or value.kind not in ("instance", "external"):
            return member
        return self._extension_method(file, value, name, member)

    def implicit_member(self, file: FileScope, value: Value, name: str) -> Value | None:
        """Return a member of an object that needs no name; extension functions need none either."""
        return (
            self.member(file, value, name)
            if file.language == "kotlin"
            else self.class_member(file, value, name)
        )

    def resolve_head(self, file: FileScope, name: str, enclosing: str) -> Value | None:
        """Return the value of the first name of a path, which can be a member of what is around."""
        outer = enclosing if not name[:1].isupper() else ""
        while outer:
            around = self.scope_symbol(file, outer)
            receiver = self._receiver_of(file, around) if around else None
            member = self.member(file, receiver, name) if receiver else None
            if receiver and is_own_member(receiver, member):
                return member
            outer = outer.rpartition(".")[0]
        return self.resolve_name(file, name, enclosing)

    def _receiver_of(self, file: FileScope, around: Value) -> Value | None:
        """Return what `this` is in a class or an extension function."""
        if around.kind == "class":
            return Value("instance", around.candidates)
        target = around.candidates[0].target if around.kind == "function" else None
        if target is None or file.language != "kotlin":
            return None
        match = EXTENSIONS["kotlin"].search(target.signature)
        return self._instance_in(target, parse_declared_type(match[1])) if match else None

    def _instance_in(self, target: Target, type_name: str) -> Value | None:
        """Return an instance of a type that the signature of a symbol names."""
        file = self.lookups.file_scope(target.path)
        return self.instance_of(file, type_name, target.qualified_name) if file and type_name else None

    def follow(self, file: FileScope, value: Value | None, steps: Sequence[PathStep]) -> Value | None:
        """Follow the members of a path, into the lambdas that its functions are given."""
        receiver, called = None, ""
        for step in steps:
            if step.name in _ON_RECEIVER:
                value = self._name_in_lambda(file, receiver, called, value, step.name)
                continue
            receiver, called = value, step.name
            value = self.member(file, value, called)
            if step.is_call:
                is_known = value is not None and value.kind in ("function", "class")
                if called in _RETURNS_RECEIVER and not is_known:
                    value = receiver
                else:
                    value = self.external_result(self.call_result(value), called)
        return value

    def _name_in_lambda(
        self, file: FileScope, receiver: Value | None, called: str, function: Value | None, name: str
    ) -> Value | None:
        """Return the receiver or the parameter of a lambda, by the function that it is given to."""
        if function is not None and function.kind in ("function", "class"):
            targets = [each.target for each in function.candidates if each.target]
            return union_of(self._declared_in_lambda(target, receiver, name) for target in targets)
        if receiver is None or called in _ON_RECEIVER[name]:
            return receiver
        is_element = name == PARAMETERS[0] and called in _ON_ELEMENTS
        return self.element(file, receiver, ITERATION) if is_element else None

    def _declared_in_lambda(self, target: Target, receiver: Value | None, name: str) -> Value | None:
        """Return the receiver or the parameter of the lambda that a function takes last."""
        of_receiver, taken, declared = lambda_types(target.signature)
        if name == RECEIVER or not declared:
            written = of_receiver if name == RECEIVER else _at(taken, PARAMETERS.index(name))
            is_generic = written in type_parameters(target.signature)
            return receiver if is_generic else self._instance_in(target, written)
        interface, arguments = split_arguments(declared)
        written = _at(arguments, PARAMETERS.index(name))
        if interface.rpartition(".")[2] in _FUNCTIONAL:
            return self._instance_in(target, written)
        value = self._instance_in(target, interface)
        for each in value.candidates if value is not None and value.kind == "instance" else ():
            bound = self.lookups.bindings(each.target.path, f"lambda {each.full_name}") if each.target else ()
            for _, signature, method in bound:
                if each.target is None:
                    continue
                of_method = _at(parameter_types(signature), PARAMETERS.index(name))
                names = list(type_parameters(each.target.signature))
                if of_method in names:
                    return self._instance_in(target, _at(arguments, names.index(of_method)))
                return self._instance_in(each.target._replace(qualified_name=method), of_method)
        return None

    def _extension_method(
        self, file: FileScope, receiver: Value, name: str, member: Value | None
    ) -> Value | None:
        """Return the visible extension methods for a receiver; unknown if there are only others."""
        paths = self.lookups.package_files("extension", file.family, name)
        candidates: list[Candidate] = []
        for path in paths:
            scope = self.lookups.file_scope(path)
            if scope is None or not self._sees(file, scope.scope, name):
                continue
            for _, full_name, extended in self.lookups.bindings(path, f"extension {name}"):
                if self._is_extended(receiver, extended.partition("[")[0].rpartition(".")[2]):
                    value = self.symbol(file, scope.scope, full_name)
                    candidates += (
                        [c for c in value.candidates if c.target and c.target.path == path] if value else ()
                    )
        if candidates:
            return Value("function", tuple(dict.fromkeys(candidates)))
        return None if paths else member

    def _sees(self, file: FileScope, package: str, name: str) -> bool:
        """Whether a file is in a package, or imports it or this name of it."""
        if package == file.scope or (file.language == "csharp" and file.scope.startswith(package + ".")):
            return True
        imports = [origin for _, _, origin in self.lookups.bindings(file.path, f"import {name}")]
        return package in imports or package in self.wildcard_imports(file)

    def wildcard_imports(self, file: FileScope) -> Sequence[str]:
        """Return the packages and classes all of whose names a file imports."""
        return [origin for _, _, origin in self.lookups.bindings(file.path, "stars")]

    def _is_extended(self, receiver: Value, extended: str) -> bool:
        """Whether a receiver is of the extended type; from outside, a class may implement its interface."""
        level, seen = list(receiver.candidates), set[str]()
        while level:
            names = {each.full_name.rpartition(".")[2] for each in level}
            if extended in names or extended.removeprefix("I") in names:
                return True
            seen |= {each.full_name for each in level}
            bases = [base for each in level for base in self.base_classes(each) if base is not None]
            level = [each for base in bases for each in base.candidates if each.full_name not in seen]
        return False

    def inherited_overloads(self, file: FileScope, value: Value, reference: Reference) -> Value:
        """Return the methods of base classes, extensions and imports if none of the class takes so many."""
        if reference.arguments < 0 or value.kind != "function" or not value.candidates:
            return value
        scope, owner = value.candidates[0].scope, value.candidates[0].full_name.rpartition(".")[0]
        fitting = [
            c for c in value.candidates if not c.target or takes(c.target.signature, reference.arguments)
        ]
        own = self.symbol(file, scope, owner) if owner and not fitting else None
        if own is None or own.kind != "class":
            return value
        inherited = self.class_member(file, Value("super", own.candidates), reference.name)
        if inherited is None or inherited.kind != "function":
            inherited = self._extension_method(file, Value("instance", own.candidates), reference.name, None)
        if inherited is None and not reference.qualifier:
            for _, imported, origin in self.lookups.bindings(file.path, f"import {reference.name}"):
                inherited = self.resolve_import(file, imported, origin, "")
        return inherited if inherited is not None and inherited.kind == "function" else value

    def module_member(self, file: FileScope, module: str, name: str) -> Value | None:
        """Return a class of a package that is written out."""
        return self.symbol(file, module, name) or self.outside(file, name)


class CsharpRules(JvmRules):
    """C#: a namespace sees the names of those around it."""

    super_names = frozenset(["base"])

    def external_result(self, value: Value | None, name: str) -> Value | None:
        """Return the result of a function: even one from outside can return what it is given."""
        return TYPED_RESULT if value == EXTERNAL else value

    def resolve_type(
        self, file: FileScope, around: Value | None, name: str, enclosing: str, is_attribute: bool
    ) -> Value | None:
        """Return the class that a name means in the position of a type: a property may have that name too.

        The name of an attribute is that of its class, mostly without the last word.
        """
        for full_name in (f"{name}Attribute", name) if is_attribute else (name,):
            value = self.member(file, around, full_name) if around else self._type(file, full_name, enclosing)
            if value is not None and value.kind == "class":
                return only_types(value)
        return value

    def _type(self, file: FileScope, name: str, enclosing: str) -> Value | None:
        memo = (file.path, f"<{name}>", enclosing)
        if memo not in self._names:
            self._names[memo] = self._find_type(file, name, enclosing)
        return self._names[memo]

    def _find_type(self, file: FileScope, name: str, enclosing: str) -> Value | None:
        """Return a class of the classes around, their base classes, and the namespaces that are visible."""
        for outer in self.enclosing_scopes(file, enclosing):
            own = self.scope_symbol(file, outer) if outer else None
            if own is not None and own.kind == "class":
                if outer.rpartition(".")[2] == name:
                    return own
                inner = self.class_member(file, Value("class", own.candidates), name)
            else:
                inner = self.scope_symbol(file, join_names(outer, name))
            if inner is not None and inner.kind == "class":
                return inner
        for _, imported, origin in self.lookups.bindings(file.path, f"import {name}"):
            return self.resolve_import(file, imported, origin, enclosing)
        return self.resolve_free_name(file, name, enclosing)

    def wildcard_imports(self, file: FileScope) -> Sequence[str]:
        """Return the namespaces that a file imports, and those that a file imports for its whole project."""
        own = [origin for _, _, origin in self.lookups.bindings(file.path, "stars")]
        folder = file.path
        while folder:
            folder = folder.rpartition("/")[0]
            for path in self.lookups.package_files(GLOBAL_IMPORTS, folder):
                bindings = self.lookups.bindings(path, "stars")
                own += [origin for kind, _, origin in bindings if kind == "export"]
        return own

    def resolve_free_name(self, file: FileScope, name: str, enclosing: str) -> Value | None:
        """Return a name of the namespaces around, then of those that are imported."""
        namespace = file.scope
        while namespace:
            namespace = namespace.rpartition(".")[0]
            value = self.symbol(file, namespace, name)
            if value is not None and value.kind == "class":  # functions are there by errors of the parser
                return value
        return super().resolve_free_name(file, name, enclosing)
