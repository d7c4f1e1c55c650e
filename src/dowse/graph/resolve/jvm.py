"""Java, Kotlin and Scala: packages contain classes, classes all else; C# and PHP are similar."""

from __future__ import annotations

from dowse.graph.keys import join_names
from dowse.graph.lookups import FileScope
from dowse.graph.resolve.rules import Rules
from dowse.graph.resolve.values import EXTERNAL, IMPORTED, INHERITED, UNDEFINED, Value

_STANDARD_PACKAGES = ("java.", "javax.", "kotlin.", "scala.", "android.", "System.")


class JvmRules(Rules):
    """Packages, imports and nested classes."""

    nested_scopes = True
    implicit_self = True
    self_names = frozenset(["this"])
    constructor_names = ("init", "constructor")

    def resolve_import(self, file: FileScope, name: str, origin: str, enclosing: str) -> Value | None:
        """Return a class of a package, a nested class, or a static member."""
        value = self._package_member(file, origin, name)
        if value is None and origin.startswith(_STANDARD_PACKAGES):
            return EXTERNAL
        return value or self.outside(file, name, IMPORTED)

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
        for _, _, origin in self.lookups.bindings(file.path, "stars"):
            value = self._package_member(file, origin, name)
            if value is not None:
                return value
        return self.outside(file, name) if name[:1].isupper() else UNDEFINED

    def super_constructor(self, file: FileScope, value: Value | None) -> Value | None:
        """Return the base class, whose name its constructors have."""
        bases = [base for each in value.candidates for base in self.base_classes(each)] if value else []
        return next((base for base in bases if base is not None and base.kind == "class"), INHERITED)

    def member(self, file: FileScope, value: Value | None, name: str) -> Value | None:
        """Return a member; `Outer.this` and `Base.super` are instances."""
        if value is not None and value.kind == "class" and name in ("this", "super"):
            return Value("instance", value.candidates)
        return super().member(file, value, name)

    def module_member(self, file: FileScope, module: str, name: str) -> Value | None:
        """Return a class of a package that is written out."""
        return self.symbol(file, module, name) or self.outside(file, name)


class CsharpRules(JvmRules):
    """C#: a namespace sees the names of those around it."""

    super_names = frozenset(["base"])

    def resolve_free_name(self, file: FileScope, name: str, enclosing: str) -> Value | None:
        """Return a name of the namespaces around, then of those that are imported."""
        namespace = file.scope
        while namespace:
            namespace = namespace.rpartition(".")[0]
            value = self.symbol(file, namespace, name)
            if value is not None:
                return value
        return super().resolve_free_name(file, name, enclosing)


class PhpRules(Rules):
    """PHP: names belong to the namespace of the file unless they are imported."""

    self_names = frozenset(["this", "self", "static"])
    super_names = frozenset(["parent"])
    constructor_names = ("__construct",)

    def resolve_import(self, file: FileScope, name: str, origin: str, enclosing: str) -> Value | None:
        """Return a class or a function of a namespace, or a namespace."""
        return self.symbol(file, origin, name) or Value("module", module=join_names(origin, name))

    def resolve_free_name(self, file: FileScope, name: str, enclosing: str) -> Value | None:
        """Return a function of the global namespace, or the namespace that a path starts with."""
        value = self.symbol(file, "", name)
        if value is not None:
            return value if value.kind == "function" or not file.scope else EXTERNAL
        return Value("module", module=join_names(file.scope, name))

    def module_member(self, file: FileScope, module: str, name: str) -> Value | None:
        """Return a name of a namespace."""
        value = self.symbol(file, module, name)
        if value is not None:
            return value
        return Value("module", module=join_names(module, name)) if name[:1].isupper() else UNDEFINED
