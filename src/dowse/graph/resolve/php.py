"""PHP: names belong to the namespace of the file unless they are imported; traits are copied into classes."""

from __future__ import annotations

from collections.abc import Iterator

from dowse.graph.keys import join_names
from dowse.graph.lookups import FileScope
from dowse.graph.resolve.rules import SELF_TYPES, Rules
from dowse.graph.resolve.values import (
    ELEMENT,
    EXTERNAL,
    ITERATION,
    OUTSIDE_RESULT,
    UNDEFINED,
    Candidate,
    Value,
)
from dowse.parsing.type_expressions import LITERAL

_SCALARS = frozenset("int integer string bool boolean float double false true callable resource".split())
# Types of which the last argument is that of an element; without arguments they say nothing.
_COLLECTIONS = frozenset(
    "array iterable list Array Generator Traversable Iterator IteratorAggregate Closure".split()
)


class PhpRules(Rules):
    """Namespaces, imports, traits and the types of PHP."""

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
        """Return a name of a namespace; a path does not tell whether it started with a separator."""
        value = self.symbol(file, module, name)
        if value is None and file.scope and module.startswith(file.scope + "."):
            value = self.symbol(file, module.removeprefix(file.scope + "."), name)
        if value is not None:
            return value
        return Value("module", module=join_names(module, name)) if name[:1].isupper() else UNDEFINED

    def member(self, file: FileScope, value: Value | None, name: str) -> Value | None:
        """Return a member; `Foo::class` stands for Foo."""
        return value if name == "class" else super().member(file, value, name)

    def instance_of(self, file: FileScope, type_name: str, enclosing: str) -> Value | None:
        """Return an instance of a type, which can be one that the language has built in."""
        name = type_name.partition("[")[0]
        if name in _SCALARS:
            return EXTERNAL
        if name in _COLLECTIONS and "|" not in type_name:
            is_typed = "[" in type_name
            return self._instance_of_expression(file, LITERAL + type_name, enclosing) if is_typed else None
        value = super().instance_of(file, type_name, enclosing)
        found = self.resolve_path(file, type_name, enclosing) if value is None else None
        if found is not None and found.kind == "module":
            # Classes of the index can implement what a library declares; without a namespace it is built in.
            return None if "." in found.module.removeprefix(file.scope + ".") else OUTSIDE_RESULT
        return value

    def element(self, file: FileScope, value: Value, name: str) -> Value | None:
        """Return an element of a collection; a loop yields values, not keys."""
        return super().element(file, value, ELEMENT if name == ITERATION else name)

    def known_types(self, file: FileScope, receiver: Value, enclosing: str) -> dict[str, Value | None]:
        """Return what types in a method stand for: `static` is the class that a method is called on."""
        known = super().known_types(file, receiver, enclosing)
        if receiver.kind == "class":
            known |= dict.fromkeys(SELF_TYPES, Value("instance", receiver.candidates))
        return known

    def ancestor_levels(self, value: Value) -> Iterator[list[Candidate] | None]:
        """Yield a class, its traits, then the same of its base class and so on; interfaces have no bodies."""
        return self.mixin_order(value, "trait")
