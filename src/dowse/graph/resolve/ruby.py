"""Ruby: constants are searched from the inside out, methods in the class, its mixins and its base classes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dowse.graph.keys import join_names
from dowse.graph.lookups import FileScope
from dowse.graph.resolve.common_methods import is_distinctive
from dowse.graph.resolve.global_names import PlainRules
from dowse.graph.resolve.values import ELEMENT, Candidate, PathStep, Value
from dowse.parsing.ruby_values import ROOT_NAMESPACE
from dowse.storage.protocol import FileSymbol

# A module with the methods that a mixin adds to classes themselves, by convention.
_CLASS_METHODS = "ClassMethods"
_SINGLETON = "def self."


class RubyRules(PlainRules):
    """Constants, mixins, attributes, and calls without brackets."""

    self_names = frozenset(["self"])
    constructor_names = ("initialize",)
    sees_outer_members = False
    sigil = ""
    bases_are_inside = True

    def member(self, file: FileScope, value: Value | None, name: str) -> Value | None:
        """Return a member; `Foo.new` stands for Foo, as calling it makes one, unless Foo defines it."""
        if value is not None and value.kind in ("class", "instance") and name == "new":
            defined = self.class_member(file, value._replace(kind="class"), name)
            if defined is not None and defined.kind == "function":
                return defined
            return None if _is_module(value) else Value("class", value.candidates)
        if value is not None and value.kind == "instance" and name == "class":
            return Value("class", value.candidates)
        return super().member(file, value, name)

    def implicit_member(self, file: FileScope, value: Value, name: str) -> Value | None:
        """Return a member of the current object, which is a class where `new` is called alone."""
        return self.member(file, value, name)

    def union(self, values: Sequence[Value | None]) -> Value | None:
        """Return what a name stands for; where one value is a literal and another unknown, it is unknown."""
        value = super().union(values)
        return None if value is not None and value.kind == "external" and None in values else value

    def kind_of_self(self, symbol: FileSymbol) -> str:
        """Return what the current object is: a class in its own methods, and outside of methods."""
        is_class = symbol.kind in ("class", "module") or symbol.signature.startswith(_SINGLETON)
        return "class" if is_class else "instance"

    def visible_member(self, owner: Value, member: Value | None) -> Value | None:
        """Return methods of the class itself for a class; in `class << self` they look like others."""
        if member is None or member.kind != "function":
            return member
        own = [c for c in member.candidates if c.target and c.target.signature.startswith(_SINGLETON)]
        if owner.kind != "class":
            candidates = tuple(each for each in member.candidates if each not in own)
            return member._replace(candidates=candidates) if candidates else None
        return member._replace(candidates=tuple(own)) if own else member

    def element(self, file: FileScope, value: Value, name: str) -> Value | None:
        """Return an element; classes define what that is, and `Foo[…]` of a collection makes one."""
        if name == ELEMENT and value.kind in ("class", "instance"):
            defined = self.class_member(file, value, name)
            if defined is not None and defined.kind == "function":
                return self.call_result(defined)
            return Value("instance", value.candidates) if value.kind == "class" else None
        return super().element(file, value, name)

    def ancestor_levels(self, value: Value) -> Iterator[list[Candidate] | None]:
        """Yield a class, its mixins (the last one first), then the same of its base class and so on."""
        for level in self.mixin_order(value, "module"):
            yield level
            for each in level if level is not None and value.kind == "class" else ():
                if each.target is None or each.target.kind != "module":
                    continue
                added = self.lookups.value("ruby", each.scope, join_names(each.full_name, _CLASS_METHODS))
                if added is not None:
                    yield list(added.candidates)

    def super_call(self, file: FileScope, value: Value | None, enclosing: str) -> Value | None:
        """Return the method that the one around overrides."""
        return self.member(file, value, enclosing.rpartition(".")[2])

    def follow(self, file: FileScope, value: Value | None, steps: Sequence[PathStep]) -> Value | None:
        """Follow the members of a path; `new` and `class` are calls even without brackets."""
        for step in steps:
            is_class = step.name == "class" and value is not None and value.kind == "instance"
            value = self.member(file, value, step.name)
            if (step.name == "new" or step.is_call) and not is_class:
                value = self.call_result(value)
        return value

    def resolve_head(self, file: FileScope, name: str, enclosing: str) -> Value | None:
        """Return the value of the first name of a path, which can be a member of the class around."""
        own = self.enclosing_class(file, enclosing) if not name[:1].isupper() else None
        if own is not None:
            member = self.implicit_member(file, Value("instance", own.candidates), name)
            if member is not None:
                return member
        return self.resolve_name(file, name, enclosing)

    def _resolve_name(self, file: FileScope, name: str, enclosing: str) -> Value | None:
        """Return the value of a name; only constants are searched in the classes around."""
        if name == ROOT_NAMESPACE:
            return Value("module")
        return super()._resolve_name(file, name, enclosing if name[:1].isupper() else "")

    def module_member(self, file: FileScope, module: str, name: str) -> Value | None:
        """Return a constant that is written with `::` before it."""
        return self.symbol(file, "", name) or self.outside(file, name)

    def resolve_free_name(self, file: FileScope, name: str, enclosing: str) -> Value | None:
        """Return a constant of an ancestor of a class around; a method can be any of that name.

        The constants of modules around are found before, and few modules have ancestors.
        """
        if not name[:1].isupper():
            return None
        while enclosing:
            around = self.scope_symbol(file, enclosing)
            if around is not None and around.kind == "class" and not _is_module(around):
                member = self.class_member(file, around, name)
                if member is not None and member.kind not in ("external", "field"):
                    return member
            enclosing = enclosing.rpartition(".")[0]
        return self.outside(file, name)

    def trusts_bare_name(self, name: str) -> bool:
        """Whether the name is distinctive: a method without a receiver is often built in."""
        return is_distinctive(name)


def _is_module(value: Value) -> bool:
    return all(each.target and each.target.kind == "module" for each in value.candidates)
