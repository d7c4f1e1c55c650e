"""Languages whose names are global: C and C++, Ruby, Elixir, and those of which little more is known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dowse.graph.lookups import Place
from dowse.graph.resolve.common_methods import says_whose
from dowse.graph.resolve.expressions import OUTSIDE, Step, Value, value_of
from dowse.graph.resolve.namespaces import joined
from dowse.graph.resolve.rules import Rules
from dowse.storage.local.graph_tables import Target


class PlainRules(Rules):
    """Languages without rules of their own: names of the same file, then names that only one symbol has."""

    looks_around = True
    implicit_self = True
    bare_by_name = True
    # Whether a full name means the same in all files.
    is_global = False

    def outers(self, place: Place, within: str) -> Iterator[str]:
        """Names of the definitions around, from the inside out."""
        while within:
            yield within
            within = within.rpartition(".")[0]
        yield ""

    def elsewhere(self, place: Place, name: str, within: str) -> Value | None:
        """Anything of the index may be meant."""
        return None

    def named(self, place: Place, full: str) -> Value | None:
        """A function of another file is only one of that name."""
        value = super().named(place, full)
        if value is None or value.kind != "function" or self.is_global:
            return value
        own = tuple(each for each in value.found if each.target and each.target.path == place.path)
        return value._replace(found=own) if own else None

    def imported(self, place: Place, kind: str, value: str, origin: str, within: str) -> Value | None:
        """Not known."""
        return None

    def import_reference(self, place: Place, name: str, qualifier: str) -> Value | None:
        """Not known."""
        return OUTSIDE


# Namespaces of the standard library.
_SYSTEM = frozenset(["std", "boost", "testing"])
_HEADERS = (".h", ".hpp", ".hh", ".hxx", ".inl", ".ipp", ".cuh")


def _is_static(target: Target) -> bool:
    return target.signature.startswith("static ") and not target.path.endswith(_HEADERS)


class CRules(PlainRules):
    """C and C++: one name space for all files, but for what is static, and namespaces."""

    selves = frozenset(["this"])
    supers = frozenset[str]()
    bare_by_name = False
    is_global = True

    def elsewhere(self, place: Place, name: str, within: str) -> Value | None:
        """A namespace, as far as anybody can tell; as a function it comes from the system."""
        return OUTSIDE if name in _SYSTEM or place.language == "c" else Value("module", module=name)

    def module_member(self, place: Place, module: str, name: str) -> Value | None:
        """A name of a namespace; macros can hide that a file is in one."""
        full = joined(module, name)
        while full:
            value = self.symbol(place, place.scope, full)
            if value is not None:
                return value
            full = full.partition(".")[2]
        return Value("module", module=joined(module, name))

    def symbol(self, place: Place, scope: str, full: str) -> Value | None:
        """A symbol that this file can see: static functions only in their own file."""
        targets = self.lookups.symbols(place.family, scope, full)
        if len(targets) < 2 and not (targets and _is_static(targets[0])):
            return value_of(targets, scope, full)
        own = tuple(target for target in targets if target.path == place.path)
        if own:
            return value_of(own, scope, full)
        seen = tuple(target for target in targets if not _is_static(target))
        # Variants for other systems lie in other folders.
        folder = place.path.rpartition("/")[0]
        near = tuple(target for target in seen if target.path.rpartition("/")[0] == folder)
        return value_of(near or seen, scope, full)

    def import_reference(self, place: Place, name: str, qualifier: str) -> Value | None:
        """A header beside the file, or further up."""
        folder = place.path.rpartition("/")[0]
        while True:
            for inner in ("", "include/", "src/"):
                path = f"{folder}/{inner}{qualifier}" if folder else inner + qualifier
                if self.lookups.language(path) is not None:
                    return Value("module", module=path)
            if not folder:
                return OUTSIDE
            folder = folder.rpartition("/")[0]


class RubyRules(PlainRules):
    """Ruby: constants are looked for from the inside out, methods in the class and its mixins."""

    selves = frozenset(["self"])
    constructors = ("initialize",)

    def member(self, place: Place, value: Value | None, name: str) -> Value | None:
        """`Foo.new` makes a Foo."""
        if value is not None and value.kind == "class" and name == "new":
            return value
        return super().member(place, value, name)

    def follow(self, place: Place, value: Value | None, steps: Sequence[Step]) -> Value | None:
        """Methods are called without brackets, too."""
        for step in steps:
            made = step.name == "new"
            value = self.member(place, value, step.name)
            if made or step.called:
                value = self.called(value)
        return value

    def elsewhere(self, place: Place, name: str, within: str) -> Value | None:
        """A constant that nobody here defines is a library's; a method may be anybody's."""
        return OUTSIDE if name[:1].isupper() else None

    def sure_bare(self, name: str) -> bool:
        """A method without a receiver is often one of the language's own."""
        return says_whose(name)


class ElixirRules(PlainRules):
    """Elixir: modules by their full names or aliases, functions in them."""

    selves = frozenset[str]()
    supers = frozenset[str]()
    implicit_self = False
    bare_by_name = False
    is_global = True

    def imported(self, place: Place, kind: str, value: str, origin: str, within: str) -> Value | None:
        """A module under a short name."""
        return (
            self.symbol(place, "", joined(origin, value) if value not in ("", "*", "use") else origin)
            or OUTSIDE
        )

    def elsewhere(self, place: Place, name: str, within: str) -> Value | None:
        """What imported modules hold."""
        for _, _, origin in self._stars(place, within):
            value = self.symbol(place, "", joined(origin, name))
            if value is not None:
                return value
        return OUTSIDE if not name[:1].isupper() else Value("module", module=name)

    def _stars(self, place: Place, within: str) -> list[list[str]]:
        stars = list(self.lookups.face(place.path, "stars"))
        while within:
            stars += self.lookups.face(place.path, f"field {within} *")
            within = within.rpartition(".")[0]
        return stars

    def module_member(self, place: Place, module: str, name: str) -> Value | None:
        """A module inside a module, or a function."""
        full = joined(module, name)
        value = self.symbol(place, "", full)
        if value is not None:
            return value
        return Value("module", module=full) if name[:1].isupper() else OUTSIDE

    def import_reference(self, place: Place, name: str, qualifier: str) -> Value | None:
        """A module."""
        return self.symbol(place, "", joined(qualifier.replace("::", "."), name)) or OUTSIDE
