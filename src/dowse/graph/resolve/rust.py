"""Rust: crates of modules, `use` and its re-exports, impl blocks."""

from __future__ import annotations

from collections.abc import Iterator

from dowse.graph.lookups import Place
from dowse.graph.resolve.expressions import OUTSIDE, Value
from dowse.graph.resolve.namespaces import joined, rust_module
from dowse.graph.resolve.rules import Rules

_SEPARATOR = "|"


class RustRules(Rules):
    """Crates, modules and types. A module is called "crate|module path"."""

    looks_around = True
    selves = frozenset(["self", "Self"])
    supers = frozenset[str]()

    def outers(self, place: Place, within: str) -> Iterator[str]:
        """The inline modules around, the innermost alone: Rust looks no further out."""
        yield self._inline(place, within)

    def _inline(self, place: Place, within: str) -> str:
        """The part of a qualified name that is inline modules."""
        parts = within.split(".")[:-1] if within else []
        while parts and self.named(place, ".".join(parts)) is not None:
            parts.pop()
        return ".".join(parts)

    def _top(self, place: Place, name: str, within: str) -> Value | None:
        module = joined(place.prefix, self._inline(place, within))
        if name == "crate":
            return _module(place.scope, "")
        if name == "self":
            return _module(place.scope, module)
        if name == "super":
            return _module(place.scope, module.rpartition(".")[0])
        return super()._top(place, name, within)

    def imported(self, place: Place, kind: str, value: str, origin: str, within: str) -> Value | None:
        """A module, or a name in one."""
        if not origin:
            return self._crate(value) if value else OUTSIDE
        head, *rest = origin.split("::")
        start = self._start(place, head, within)
        for name in [*rest, value] if value else rest:
            start = self.member(place, start, name)
        return start

    def _start(self, place: Place, head: str, within: str) -> Value | None:
        """The first segment of a path: this crate, a module here, another crate."""
        if head in ("crate", "self", "super"):
            return self._top(place, head, within)
        crate = self._crate(head)
        if crate.kind != "outside":
            return crate
        value = self._child(place.scope, place.prefix, head)
        if value is not None:
            return value
        return self.top(place, head, within) or OUTSIDE

    def _crate(self, name: str) -> Value:
        for manifest in self.lookups.marked("crate", name):
            folder = manifest.removesuffix("Cargo.toml")
            for root in ("src/lib.rs", "src/main.rs"):
                if self.lookups.language(folder + root) is not None:
                    return _module(rust_module(folder + root)[0], "")
        return OUTSIDE

    def elsewhere(self, place: Place, name: str, within: str) -> Value | None:
        """A module below, what wildcards bring in, a crate, or the prelude."""
        child = self._child(place.scope, joined(place.prefix, self._inline(place, within)), name)
        if child is not None:
            return child
        for kind, _, origin in self.lookups.face(place.path, "stars"):
            value = self._in_star(place, kind, origin, name, within)
            if value is not None:
                return value
        return self._crate(name)

    def _in_star(self, place: Place, kind: str, origin: str, name: str, within: str) -> Value | None:
        key = (place.path, "star", origin, name)
        if key in self._active:
            return None
        self._active.add(key)
        try:
            module = self.imported(place, kind, "", origin, within)
            value = self.member(place, module, name) if module is not None else None
        finally:
            self._active.discard(key)
        return value if value is not None and value.kind != "outside" else None

    def module_member(self, place: Place, module: str, name: str) -> Value | None:
        """A name that a module defines, passes on or holds as a module."""
        crate, _, path = module.partition(_SEPARATOR)
        if name == "super":
            return _module(crate, path.rpartition(".")[0])
        if name == "self":
            return _module(crate, path)
        value = self.symbol(place, crate, joined(path, name))
        if value is not None:
            return value
        for file in self._files(crate, path):
            home = self.lookups.place(file)
            if home is not None:
                found = self.top(home, name)
                if found is not None and found.kind != "outside":
                    return found
        return self._child(crate, path, name) or OUTSIDE

    def class_member(self, place: Place, value: Value, name: str) -> Value | None:
        """A variant of an enum stands for the enum; what a foreign type has is not known."""
        found = super().class_member(place, value, name)
        kinds = {each.target.kind for each in value.found if each.target}
        if (found is None or found is OUTSIDE) and kinds == {"enum"} and name[:1].isupper():
            return value._replace(kind="class")
        return None if kinds == {"impl"} else found

    def _child(self, crate: str, path: str, name: str) -> Value | None:
        """A module below another; those of a test or an example lie beside it."""
        above = path.rpartition(".")[0]
        beside = [above] if above.rpartition(".")[2] in ("tests", "examples", "benches") else []
        for home in (path, *beside):
            inner = joined(home, name)
            if any(self._files(crate, inner)):
                return _module(crate, inner)
        return None

    def _files(self, crate: str, path: str) -> Iterator[str]:
        """The file of a module, if it has one."""
        inside = path.replace(".", "/")
        tries = (f"{inside}.rs", f"{inside}/mod.rs") if inside else ("lib.rs", "main.rs", "mod.rs")
        for each in tries:
            file = f"{crate}/{each}" if crate else each
            if self.lookups.language(file) is not None:
                yield file
        if not inside and self.lookups.language(f"{crate}.rs") is not None:
            yield f"{crate}.rs"


def _module(crate: str, path: str) -> Value:
    return Value("module", module=f"{crate}{_SEPARATOR}{path}")
