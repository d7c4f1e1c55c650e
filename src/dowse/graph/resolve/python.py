"""Python: modules are files, packages re-export through `__init__.py`."""

from __future__ import annotations

from dowse.graph.lookups import Place
from dowse.graph.resolve.expressions import OUTSIDE, Value, last_in_file
from dowse.graph.resolve.rules import Rules
from dowse.storage.local.graph_tables import LinkedFile
from dowse.types import Reference

# Folders that hold packages without being one.
_SOURCE_FOLDERS = ("", "src", "lib", "python")


class PythonRules(Rules):
    """Imports, packages and classes of Python."""

    selves = frozenset(["self", "cls"])
    constructors = ("__init__",)

    def imported(self, place: Place, kind: str, value: str, origin: str, within: str) -> Value | None:
        """A module, or a name in one."""
        module = self._module(place.path, origin)
        if module is None:
            return OUTSIDE
        return module if not value else self.module_member(place, module.module, value)

    def elsewhere(self, place: Place, name: str, within: str) -> Value | None:
        """What a wildcard import brings in; what none does is built in."""
        for _, _, origin in self.lookups.face(place.path, "stars"):
            module = self._module(place.path, origin)
            if module is not None:
                value = self.module_member(place, module.module, name)
                if value is not None and value.kind != "outside":
                    return value
        return OUTSIDE

    def module_member(self, place: Place, module: str, name: str) -> Value | None:
        """A name that a module defines or imports, or a module of a package."""
        value: Value | None = OUTSIDE
        if module.endswith(".py") or module.endswith(".pyi"):
            home = self.lookups.place(module)
            value = self.top(home, name) if home else OUTSIDE
            if value is not None and value.kind != "outside":
                return value
        folder = module.removesuffix("__init__.py").removesuffix("/")
        if module.endswith("__init__.py") or not module.endswith(".py"):
            inner = self._file(f"{folder}/{name}" if folder else name)
            if inner is not None:
                return inner
        return value

    def begin(self) -> None:
        """Start on another file."""
        super().begin()
        self._modules: dict[tuple[str, str], Value | None] = {}

    def _module(self, path: str, origin: str) -> Value | None:
        """The module that an import in a file names, None if it is not of this index."""
        memo = (path, origin)
        if memo not in self._modules:
            self._modules[memo] = self._find_module(path, origin)
        return self._modules[memo]

    def _find_module(self, path: str, origin: str) -> Value | None:
        folder = path.rpartition("/")[0]
        if origin.startswith("."):
            bare = origin.lstrip(".")
            for _ in range(len(origin) - len(bare) - 1):
                folder = folder.rpartition("/")[0]
            return self._file("/".join([part for part in (folder, *bare.split(".")) if part]))
        inside = origin.replace(".", "/")
        while True:
            if self.lookups.language(f"{folder}/__init__.py" if folder else "__init__.py") is None:
                for source in _SOURCE_FOLDERS:
                    found = self._file("/".join([part for part in (folder, source, inside) if part]))
                    if found is not None:
                        return found
            if not folder:
                break
            folder = folder.rpartition("/")[0]
        return self._by_package(origin)

    def _by_package(self, origin: str) -> Value | None:
        """A module of the one package in the tree with this name, wherever it lies."""
        head, _, rest = origin.partition(".")
        homes = []
        for init in self.lookups.marked("python package", head):
            folder = init.removesuffix("__init__.py").removesuffix("/")
            above = folder.rpartition("/")[0]
            if (
                not folder
                or self.lookups.language(f"{above}/__init__.py" if above else "__init__.py") is None
            ):
                homes.append(folder)
        if len(homes) != 1:
            return None
        return self._file("/".join([part for part in (homes[0], *rest.split(".")) if part]))

    def _file(self, stem: str) -> Value | None:
        if not stem:
            return Value("module", module="__init__.py") if self.lookups.language("__init__.py") else None
        for path in (f"{stem}/__init__.py", f"{stem}.py", f"{stem}.pyi"):
            if self.lookups.language(path) is not None:
                return Value("module", module=path)
        return None

    def called_instance(self, place: Place, value: Value) -> Value | None:
        """Objects with `__call__` can be called."""
        return self.class_member(place, value, "__call__")

    def narrowed(self, place: Place, value: Value, file: LinkedFile, reference: Reference) -> Value:
        """Of several definitions in one file the last one holds; those before are overloads of it."""
        return last_in_file(value)

    def import_reference(self, place: Place, name: str, qualifier: str) -> Value | None:
        """`import a.b` and `from a import b` both name b."""
        if not qualifier:
            return self._module(place.path, name) or OUTSIDE
        if name == "*":
            return self._module(place.path, qualifier) or OUTSIDE
        return self.imported(place, "import", name, qualifier, "")
