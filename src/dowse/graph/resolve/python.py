"""Python: modules are files, packages re-export through `__init__.py`."""

from __future__ import annotations

import builtins

from dowse.graph.lookups import FileScope
from dowse.graph.resolve.rules import Rules
from dowse.graph.resolve.values import (
    ELEMENT,
    EXTERNAL,
    IMPORTED,
    ITERATION,
    OUTSIDE_RESULT,
    UNDEFINED,
    Value,
    last_in_file,
)
from dowse.types import Reference

# Folders that contain packages without being one.
_SOURCE_FOLDERS = ("", "src", "lib", "python")
_BUILTINS = frozenset(dir(builtins))


class PythonRules(Rules):
    """Imports, packages and classes of Python."""

    self_names = frozenset(["self", "cls"])
    constructor_names = ("__init__",)
    names_values = False
    calls_super = False

    def external_result(self, value: Value | None, name: str) -> Value | None:
        """Return the result of a function: even one from outside can return what it is given."""
        is_function = name[:1].islower() and name not in _BUILTINS
        return OUTSIDE_RESULT if value == EXTERNAL and is_function else value

    def resolve_import(self, file: FileScope, name: str, origin: str, enclosing: str) -> Value | None:
        """Return a module, or a name in one."""
        module = self.find_module(file.path, origin)
        if module is None:
            return self._outside_import(file, name, origin)
        return self.module_member(file, module, name) if name else Value("module", module=module)

    def _outside_import(self, file: FileScope, name: str, origin: str) -> Value:
        """Return what an unknown module contains: certainly external if its package is unknown too."""
        package = origin.partition(".")[0]
        if name or not package:
            return self.outside(file, name, IMPORTED)
        is_known = self.find_module(file.path, package) or self.lookups.package_files(
            "python package", package
        )
        return IMPORTED if is_known else EXTERNAL

    def resolve_free_name(self, file: FileScope, name: str, enclosing: str) -> Value | None:
        """Return a name from a wildcard import, or a built-in."""
        for _, _, origin in self.lookups.bindings(file.path, "stars"):
            module = self.find_module(file.path, origin)
            if module is not None:
                value = self.module_member(file, module, name)
                if value is not None and value.kind != "external":
                    return value
        return EXTERNAL if name in _BUILTINS else UNDEFINED

    def module_member(self, file: FileScope, module: str, name: str) -> Value | None:
        """Return a name that a module defines or imports, or a module of a package."""
        value: Value | None = UNDEFINED
        if module.endswith((".py", ".pyi")):
            module_file = self.lookups.file_scope(module)
            value = self.resolve_name(module_file, name) if module_file else UNDEFINED
            if value is not None and value.kind != "external":
                return value
        folder = module.removesuffix("__init__.py").removesuffix("/")
        if module.endswith("__init__.py") or not module.endswith(".py"):
            submodule = self._module_file(folder, name)
            if submodule is not None:
                return Value("module", module=submodule)
        return value

    def _find_module(self, path: str, origin: str) -> str | None:
        folder = path.rpartition("/")[0]
        if origin.startswith("."):
            name = origin.lstrip(".")
            for _ in range(len(origin) - len(name) - 1):
                folder = folder.rpartition("/")[0]
            return self._module_file(folder, *name.split("."))
        while True:
            if not self._is_package(folder):
                for source in _SOURCE_FOLDERS:
                    module = self._module_file(folder, source, origin.replace(".", "/"))
                    if module is not None:
                        return module
            if not folder:
                return self._find_in_packages(origin)
            folder = folder.rpartition("/")[0]

    def _find_in_packages(self, origin: str) -> str | None:
        """Return a module of the only top-level package in the tree with this name, in whatever folder."""
        package, _, name = origin.partition(".")
        folders = []
        for init in self.lookups.package_files("python package", package):
            folder = init.removesuffix("__init__.py").removesuffix("/")
            if not folder or not self._is_package(folder.rpartition("/")[0]):
                folders.append(folder)
        return self._module_file(folders[0], *name.split(".")) if len(folders) == 1 else None

    def _is_package(self, folder: str) -> bool:
        return self.lookups.language(f"{folder}/__init__.py" if folder else "__init__.py") is not None

    def _module_file(self, *parts: str) -> str | None:
        stem = "/".join([part for part in parts if part])
        if not stem:
            return "__init__.py" if self.lookups.language("__init__.py") else None
        for path in (f"{stem}/__init__.py", f"{stem}.py", f"{stem}.pyi"):
            if self.lookups.language(path) is not None:
                return path
        return None

    def element(self, file: FileScope, value: Value, name: str) -> Value | None:
        """Return an element; classes of the index say by `__getitem__` or `__iter__` of which type."""
        element = super().element(file, value, name)
        if element is None and value.kind == "instance" and name in (ELEMENT, ITERATION):
            method = self.class_member(file, value, "__getitem__" if name == ELEMENT else "__iter__")
            element = self.call_result(method) if method is not None and method.kind == "function" else None
            if element is not None and name == ITERATION:
                return super().element(file, element, name)
        return element

    def entered_value(self, file: FileScope, value: Value) -> Value | None:
        """Return the result of `__enter__` if its type is known; a generator yields its elements."""
        if value.kind == "external" and value.arguments:
            return value.arguments[0]
        if value.kind != "instance":
            return value
        for name in ("__enter__", "__aenter__"):
            method = self.class_member(file, value, name)
            if method is not None and method.kind == "function":
                return self.call_result(method) or value
        return value

    def call_operator(self, file: FileScope, value: Value) -> Value | None:
        """Return `__call__` of an object."""
        return self.class_member(file, value, "__call__")

    def sets_fields(self, file: FileScope, value: Value | None) -> bool:
        """Whether keywords are fields, as of a data class: not if the class has a constructor."""
        if value is None or value.kind != "instance":
            return False
        constructor = self.class_member(file, value, "__init__")
        return constructor is None or constructor.kind == "external"

    def select_overloads(self, value: Value, reference: Reference) -> Value:
        """Return the last of several definitions in one file; those before are its overloads."""
        return last_in_file(value)

    def resolve_import_statement(self, file: FileScope, name: str, qualifier: str) -> Value | None:
        """Return b for both `import a.b` and `from a import b`."""
        is_module = not qualifier or name == "*"
        return self.resolve_import(file, "" if is_module else name, qualifier or name, "")
