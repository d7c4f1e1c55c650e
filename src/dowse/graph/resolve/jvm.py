"""Java, Kotlin and Scala: packages hold classes, classes all else; C# and PHP are much the same."""

from __future__ import annotations

from collections.abc import Iterator

from dowse.graph.lookups import Place
from dowse.graph.resolve.expressions import OUTSIDE, Value
from dowse.graph.resolve.namespaces import joined
from dowse.graph.resolve.rules import Rules


class JvmRules(Rules):
    """Packages, imports and nested classes."""

    looks_around = True
    implicit_self = True
    constructors = ("init", "constructor")

    def outers(self, place: Place, within: str) -> Iterator[str]:
        """Members of the classes around, from the inside out."""
        while within:
            yield within
            within = within.rpartition(".")[0]
        yield ""

    def imported(self, place: Place, kind: str, value: str, origin: str, within: str) -> Value | None:
        """A class of a package, a class in a class, or a static member."""
        return self._in_package(place, origin, value) or OUTSIDE

    def _in_package(self, place: Place, origin: str, name: str) -> Value | None:
        """A name after a path of which nobody says where the package ends and the classes start."""
        path, inside = origin, name
        while True:
            value = self.symbol(place, path, inside)
            if value is not None:
                return value
            if inside.count(".") >= 2 or not path:
                return self._inherited(place, origin, name)
            path, _, last = path.rpartition(".")
            inside = joined(last, inside)

    def _inherited(self, place: Place, origin: str, name: str) -> Value | None:
        """A static member that the class named has from another."""
        package, _, last = origin.rpartition(".")
        owner = self.symbol(place, package, last) if last else None
        if owner is None or owner.kind != "class":
            return None
        found = self.class_member(place, owner, name)
        return found if found is not None and found.kind != "outside" else None

    def elsewhere(self, place: Place, name: str, within: str) -> Value | None:
        """What the wildcard imports bring in, else something of the language's own packages."""
        for _, _, origin in self.lookups.face(place.path, "stars"):
            value = self._in_package(place, origin, name)
            if value is not None:
                return value
        return OUTSIDE

    def module_member(self, place: Place, module: str, name: str) -> Value | None:
        """A class of a package that is written out."""
        return self.symbol(place, module, name) or OUTSIDE


class CsharpRules(JvmRules):
    """C#: namespaces see those around them."""

    selves = frozenset(["this"])
    supers = frozenset(["base"])

    def elsewhere(self, place: Place, name: str, within: str) -> Value | None:
        """The namespaces around, then the ones in use."""
        around = place.scope
        while around:
            around = around.rpartition(".")[0]
            value = self.symbol(place, around, name)
            if value is not None:
                return value
        return super().elsewhere(place, name, within)


class PhpRules(Rules):
    """PHP: names belong to the namespace of the file unless they are imported."""

    selves = frozenset(["this", "self", "static"])
    supers = frozenset(["parent"])
    constructors = ("__construct",)

    def imported(self, place: Place, kind: str, value: str, origin: str, within: str) -> Value | None:
        """A class or a function of a namespace."""
        return self.symbol(place, origin, value) or Value("module", module=joined(origin, value))

    def elsewhere(self, place: Place, name: str, within: str) -> Value | None:
        """A function of the global namespace, or the start of a path."""
        value = self.symbol(place, "", name)
        if value is not None:
            return value if value.kind == "function" or not place.scope else OUTSIDE
        return Value("module", module=joined(place.scope, name))

    def module_member(self, place: Place, module: str, name: str) -> Value | None:
        """A name of a namespace."""
        value = self.symbol(place, module, name)
        if value is not None:
            return value
        return Value("module", module=joined(module, name)) if name[:1].isupper() else OUTSIDE
