"""Rust: crates of modules, `use` and its re-exports, impl blocks."""

from __future__ import annotations

from collections.abc import Iterator

from dowse.graph.keys import join_names, rust_module
from dowse.graph.lookups import FileScope
from dowse.graph.resolve.rules import Rules
from dowse.graph.resolve.values import EXTERNAL, IMPORTED, UNDEFINED, Value

_SEPARATOR = "|"
# Every file in these folders is a crate.
_CRATE_FOLDERS = frozenset(["tests", "examples", "benches", "bin"])
_STANDARD_CRATES = frozenset(["std", "core", "alloc"])


class RustRules(Rules):
    """Crates, modules and types. The name of a module is "crate|module path"."""

    nested_scopes = True
    self_names = frozenset(["self", "Self"])
    super_names = frozenset[str]()

    def enclosing_scopes(self, file: FileScope, enclosing: str) -> Iterator[str]:
        """Yield only the innermost inline module: Rust does not search the modules around it."""
        yield self._inline_module(file, enclosing)

    def _inline_module(self, file: FileScope, enclosing: str) -> str:
        """Return the part of a qualified name that consists of inline modules."""
        parts = enclosing.split(".")[:-1] if enclosing else []
        while parts and self.scope_symbol(file, ".".join(parts)) is not None:
            parts.pop()
        return ".".join(parts)

    def _resolve_name(self, file: FileScope, name: str, enclosing: str) -> Value | None:
        module = join_names(file.prefix, self._inline_module(file, enclosing))
        if name == "crate":
            return self._own_crate(file)
        if name == "self":
            return _module(file.scope, module)
        if name == "super":
            return self._parent_module(file.scope, module)
        return super()._resolve_name(file, name, enclosing)

    def resolve_import(self, file: FileScope, name: str, origin: str, enclosing: str) -> Value | None:
        """Return a module, or a name in one."""
        if not origin:
            return self._crate(name, file.path) if name else EXTERNAL
        head, *segments = origin.split("::")
        value = self._path_head(file, head, enclosing)
        for segment in [*segments, name] if name else segments:
            value = self.member(file, value, segment)
        if value is EXTERNAL and head not in _STANDARD_CRATES:
            return self.outside(file, name or (segments or [head])[-1], IMPORTED)
        return value

    def _path_head(self, file: FileScope, head: str, enclosing: str) -> Value | None:
        """Return the first segment of a path: this crate, another crate, or a module of this file."""
        if head in ("crate", "self", "super"):
            return self._resolve_name(file, head, enclosing)
        crate = self._crate(head, file.path)
        if crate.kind != "external":
            return crate
        submodule = self._submodule(file.scope, file.prefix, head)
        return submodule or self.resolve_name(file, head, enclosing) or EXTERNAL

    def _crate(self, name: str, path: str) -> Value:
        """Return a crate by the name that a file knows it by."""
        for manifest in self.lookups.package_files("crate-alias", name):
            if path.startswith(manifest.removesuffix("Cargo.toml")):
                name = self.lookups.bindings(manifest, f"crate-alias {name}")[0][1]
                break
        for manifest in self.lookups.package_files("crate", name):
            folder = manifest.removesuffix("Cargo.toml")
            declared = [root for _, root, _ in self.lookups.bindings(manifest, f"crate {name}") if root]
            for root in (*declared, f"{folder}src/lib.rs", f"{folder}src/main.rs"):
                if self.lookups.language(root) is not None:
                    return _module(*rust_module(root))
        return EXTERNAL

    def _own_crate(self, file: FileScope) -> Value:
        """Return the crate of a file: the declared root in a folder above, or what Cargo takes by default."""
        if not file.scope and file.prefix.split(".")[-2:-1] and file.prefix.split(".")[-2] in _CRATE_FOLDERS:
            return _module("", file.prefix)
        folder = file.path
        while folder:
            folder = folder.rpartition("/")[0]
            root = self._root_in(folder)
            if root:
                return _module(*rust_module(root))
        return _module(file.scope, "")

    def _root_in(self, folder: str) -> str:
        """Return the file that a crate starts in, if it is declared or the folder is a crate."""
        for manifest in self.lookups.package_files("crate-roots", folder):
            for _, root, _ in self.lookups.bindings(manifest, f"crate-roots {folder}"):
                if self.lookups.language(root) is not None:
                    return root
        main = f"{folder}/main.rs"
        is_crate = folder.rpartition("/")[0].rpartition("/")[2] in _CRATE_FOLDERS
        return main if is_crate and self.lookups.language(main) is not None else ""

    def _parent_module(self, crate: str, path: str) -> Value:
        """Return the module around another: the file of a crate's root need not be called by its folder."""
        parent = path.rpartition(".")[0]
        if not any(self._module_files(crate, parent)):
            folder = "/".join(part for part in (crate, *parent.split(".")) if part)
            root = self._root_in(folder)
            if root:
                return _module(*rust_module(root))
        return _module(crate, parent)

    def resolve_free_name(self, file: FileScope, name: str, enclosing: str) -> Value | None:
        """Return a submodule, a name from a wildcard import, or a crate; any other is in the prelude."""
        module = join_names(file.prefix, self._inline_module(file, enclosing))
        submodule = self._submodule(file.scope, module, name)
        if submodule is not None:
            return submodule
        for _, _, origin in self.lookups.bindings(file.path, "stars"):
            value = self._wildcard_member(file, origin, name, enclosing)
            if value is not None:
                return value
        crate = self._crate(name, file.path)
        return self.outside(file, name) if crate.kind == "external" else crate

    def _wildcard_member(self, file: FileScope, origin: str, name: str, enclosing: str) -> Value | None:
        key = (file.path, "star", origin, name)
        if key in self._active:
            return None
        self._active.add(key)
        try:
            module = self.resolve_import(file, "", origin, enclosing)
            value = self.member(file, module, name) if module is not None else None
        finally:
            self._active.discard(key)
        return value if value is not None and value.kind != "external" else None

    def module_member(self, file: FileScope, module: str, name: str) -> Value | None:
        """Return a name that a module defines or re-exports, or a submodule."""
        crate, _, path = module.partition(_SEPARATOR)
        if name == "super":
            return self._parent_module(crate, path)
        if name == "self":
            return _module(crate, path)
        value = self.symbol(file, crate, join_names(path, name))
        if value is not None:
            return value
        for module_path in self._module_files(crate, path):
            module_file = self.lookups.file_scope(module_path)
            if module_file is not None:
                value = self.resolve_name(module_file, name)
                if value is not None and value.kind != "external":
                    return value
        return self._submodule(crate, path, name) or UNDEFINED

    def class_member(self, file: FileScope, value: Value, name: str) -> Value | None:
        """Return a member; a variant of an enum stands for the enum, and foreign types are unknown."""
        member = super().class_member(file, value, name)
        kinds = {each.target.kind for each in value.candidates if each.target}
        if (member is None or member.kind == "external") and kinds == {"enum"} and name[:1].isupper():
            return value._replace(kind="class")
        return None if kinds == {"impl"} else member

    def _submodule(self, crate: str, path: str, name: str) -> Value | None:
        """Return a module in another; the submodules of a crate's root are its siblings."""
        outers = [path]
        parent = path.rpartition(".")[0]
        is_crate = not crate and parent.rpartition(".")[2] in _CRATE_FOLDERS
        if is_crate or self._is_declared_root(crate, path):
            outers.append(parent)
        for outer in outers:
            module = join_names(outer, name)
            if any(self._module_files(crate, module)):
                return _module(crate, module)
        return None

    def _is_declared_root(self, crate: str, path: str) -> bool:
        return bool(path) and any(
            self._root_in(file.rpartition("/")[0]) == file for file in self._module_files(crate, path)
        )

    def _module_files(self, crate: str, path: str) -> Iterator[str]:
        """Yield the files that can define a module, as far as they exist."""
        stem = path.replace(".", "/")
        names = (f"{stem}.rs", f"{stem}/mod.rs") if stem else ("lib.rs", "main.rs", "mod.rs")
        for name in names:
            file = f"{crate}/{name}" if crate else name
            if self.lookups.language(file) is not None:
                yield file
        if not stem and self.lookups.language(f"{crate}.rs") is not None:
            yield f"{crate}.rs"


def _module(crate: str, path: str) -> Value:
    return Value("module", module=f"{crate}{_SEPARATOR}{path}")
