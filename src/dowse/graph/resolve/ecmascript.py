"""JavaScript and TypeScript: modules are files, found by relative paths or by the names of packages."""

from __future__ import annotations

import posixpath

from dowse.graph.lookups import Place
from dowse.graph.resolve.expressions import OUTSIDE, Found, Value, last_in_file
from dowse.graph.resolve.rules import Rules
from dowse.storage.local.graph_tables import LinkedFile
from dowse.types import Reference

_SUFFIXES = (".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts", ".d.ts")
# What compiled files are called, and what they are made from.
_COMPILED = {
    ".js": (".ts", ".tsx", ".js", ".jsx"),
    ".mjs": (".mts", ".mjs"),
    ".cjs": (".cts", ".cjs"),
    ".jsx": (".tsx", ".jsx"),
}


class EcmascriptRules(Rules):
    """Imports, exports and classes of JavaScript and TypeScript."""

    selves = frozenset(["this"])
    constructors = ("constructor",)
    functions_are_classes = True

    def imported(self, place: Place, kind: str, value: str, origin: str, within: str) -> Value | None:
        """A module, its default export, or one of its names."""
        path = self._resolve(place.path, origin)
        if path is None:
            return OUTSIDE
        if not value:
            return Value("module", module=path)
        if value == "default":
            return self._default(path) or Value("module", module=path)
        return self.module_member(place, path, value)

    def elsewhere(self, place: Place, name: str, within: str) -> Value | None:
        """Names that are neither defined nor imported are the engine's."""
        return OUTSIDE

    def module_member(self, place: Place, module: str, name: str) -> Value | None:
        """A name that a module exports: its own, or one that it passes on."""
        home = self.lookups.place(module)
        if home is None:
            return OUTSIDE
        if name == "default":
            return self._default(module)
        value = self.top(home, name)
        if value is not None and value.kind != "outside":
            return value
        key = (module, "star", name)
        if key in self._active:
            return OUTSIDE
        self._active.add(key)
        try:
            for kind, _, origin in self.lookups.face(module, "stars"):
                path = self._resolve(module, origin) if kind == "export" else None
                inner = self.module_member(place, path, name) if path else None
                if inner is not None and inner.kind != "outside":
                    return inner
        finally:
            self._active.discard(key)
        for said in self.lookups.face(module, f"var exports.{name}"):
            return self.said(home, [said])
        return value

    def _at_level(self, place: Place, level: list[Found], name: str) -> Value | None:
        """A method can be put on an object under a second name: `a.x = a.y = function`."""
        value = super()._at_level(place, level, name)
        if value is None:
            for each in level:
                said = self.lookups.face(place.path, f"var {each.full}.{name}")
                if said and each.scope == place.path:
                    return self.said(place, said)
        return value

    def called(self, value: Value | None) -> Value | None:
        """Calling a module calls what it exports as a whole."""
        if value is not None and value.kind == "module":
            return super().called(self._default(value.module))
        return super().called(value)

    def whole(self, value: Value | None) -> Value | None:
        """What a module stands for when it is used like a function or a class."""
        return self._default(value.module) if value is not None and value.kind == "module" else value

    def _default(self, path: str) -> Value | None:
        """What a module exports as a whole."""
        home = self.lookups.place(path)
        if home is None:
            return None
        for slot in ("var export default", "var module.exports", "var exports"):
            for kind, value, origin in self.lookups.face(path, slot):
                if kind == "import":
                    return self.imported(home, kind, value, origin, "")
                found = self.said(home, [[kind, value, origin]])
                if found is not None:
                    return found
        return None

    def begin(self) -> None:
        """Start on another file."""
        super().begin()
        self._files: dict[tuple[str, str], str | None] = {}

    def _resolve(self, path: str, origin: str) -> str | None:
        """The file that a module's name means, None if it is not of this index."""
        memo = (path, origin)
        if memo not in self._files:
            self._files[memo] = self._find_file(path, origin)
        return self._files[memo]

    def _find_file(self, path: str, origin: str) -> str | None:
        if origin.startswith("."):
            return self._file(posixpath.normpath(posixpath.join(posixpath.dirname(path), origin)))
        if origin.startswith(("@/", "~/")):
            return self._from_above(path, origin[2:])
        parts = origin.split("/")
        count = 2 if origin.startswith("@") else 1
        for manifest in self.lookups.marked("npm", "/".join(parts[:count])):
            folder, rest = posixpath.dirname(manifest), "/".join(parts[count:])
            for inner in ("src/" + rest, rest, "lib/" + rest, "src/index", "index", "lib/index"):
                if not rest and inner.endswith("/"):
                    inner += "index"
                found = self._file(posixpath.normpath(posixpath.join(folder, inner or "index")))
                if found is not None:
                    return found
        return None

    def _from_above(self, path: str, rest: str) -> str | None:
        """A path from the folder of sources above a file."""
        folder = posixpath.dirname(path)
        while True:
            for inner in (f"{folder}/src/{rest}", f"{folder}/{rest}"):
                found = self._file(inner.lstrip("/"))
                if found is not None:
                    return found
            if not folder:
                return None
            folder = posixpath.dirname(folder)

    def _file(self, stem: str) -> str | None:
        base, suffix = posixpath.splitext(stem)
        tries = [base + other for other in _COMPILED.get(suffix, ())]
        tries += [stem] if suffix in _SUFFIXES else []
        tries += [stem + each for each in _SUFFIXES]
        tries += [f"{stem}/index{each}" for each in _SUFFIXES]
        for path in tries:
            if path and not path.startswith("..") and self.lookups.language(path) is not None:
                return path
        return None

    def narrowed(self, place: Place, value: Value, file: LinkedFile, reference: Reference) -> Value:
        """Of several definitions in one file the last one holds; those before are overloads of it."""
        return last_in_file(value)

    def import_reference(self, place: Place, name: str, qualifier: str) -> Value | None:
        """A name that a module exports; what has another name there is the module or its default."""
        path = self._resolve(place.path, qualifier)
        if path is None:
            return OUTSIDE
        value = self.module_member(place, path, name)
        if value is not None and value.kind != "outside":
            return value
        return self._default(path) or Value("module", module=path)
