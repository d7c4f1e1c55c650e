"""Rust: crates of modules, `use` and its re-exports, impl blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dowse.graph.keys import join_names, rust_module
from dowse.graph.lookups import FileScope
from dowse.graph.resolve.rules import Rules
from dowse.graph.resolve.rust_std import (
    COPYING,
    POINTERS,
    STANDARD,
    held_value,
    method_result,
    standard_name,
    standard_value,
)
from dowse.graph.resolve.values import COLLECTION, EXTERNAL, IMPORTED, UNDEFINED, UNWRAPPED, PathStep, Value
from dowse.parsing.static_types import TUPLE
from dowse.parsing.type_expressions import LITERAL, split_arguments

_SEPARATOR = "|"
# Every file in these folders is a crate.
_CRATE_FOLDERS = frozenset(["tests", "examples", "benches", "bin"])
# Impl blocks of one type name in other files than the type's.
_MAX_IMPLS = 50
# A method of a type from outside the index: a trait of the index may be implemented for the type.
UNKNOWN_MEMBER = Value("external", module="receiver")
_FUTURE_METHODS = ("into_future", "poll")
_ANYWHERE = FileScope("", "rust", "rust", "", "")
_STANDARD_CRATES = frozenset(["std", "core", "alloc"])


class RustRules(Rules):
    """Crates, modules and types. The name of a module is "crate|module path"."""

    nested_scopes = True
    self_names = frozenset(["self", "Self"])
    super_names = frozenset[str]()
    shadows = True
    names_values = False

    def enclosing_scopes(self, file: FileScope, enclosing: str) -> Iterator[str]:
        """Yield only the innermost inline module: Rust does not search the modules around it."""
        yield self._inline_module(file, enclosing)

    def _inline_module(self, file: FileScope, enclosing: str) -> str:
        """Return the part of a qualified name that consists of inline modules."""
        parts = enclosing.split(".")[:-1] if enclosing else []
        while parts and not self._is_module(self.scope_symbol(file, ".".join(parts))):
            parts.pop()
        return ".".join(parts)

    def _is_module(self, value: Value | None) -> bool:
        """Whether a name is that of an inline module: only those with documentation are symbols."""
        return value is None or all(each.target and each.target.kind == "module" for each in value.candidates)

    def _resolve_name(self, file: FileScope, name: str, enclosing: str) -> Value | None:
        module = join_names(file.prefix, self._inline_module(file, enclosing))
        if name == "crate":
            return self._own_crate(file)
        if name == "self":
            return _module(file.scope, module)
        if name == "super":
            return self._parent_module(file.scope, module)
        inline = self._inline_module(file, enclosing)
        slot = f"import {_path(inline)}::{name}" if inline else f"import {name}"
        imports = self.lookups.bindings(file.path, slot)
        if not inline and len(imports) < 2:
            return super()._resolve_name(file, name, enclosing)
        value = self.scope_symbol(file, join_names(inline, name))
        # A trait and the macro that derives it have one name.
        for _, imported, origin in imports:
            if value is None or value.kind == "external":
                value = self.resolve_import(file, imported, origin, enclosing)
        return value if value is not None or imports else self.resolve_free_name(file, name, enclosing)

    def resolve_import(self, file: FileScope, name: str, origin: str, enclosing: str) -> Value | None:
        """Return a module, or a name in one."""
        if not origin:
            return self._crate(name, file.path) if name else EXTERNAL
        head, *segments = origin.split("::")
        value = self._path_head(file, head, enclosing)
        for segment in [*segments, name] if name else segments:
            value = self.member(file, value, segment)
        if value in (EXTERNAL, UNDEFINED) and head not in _STANDARD_CRATES:
            return self.outside(file, name or (segments or [head])[-1], IMPORTED)
        return value

    def resolve_nested_import(
        self, file: FileScope, name: str, qualifier: str, enclosing: str
    ) -> Value | None:
        """Return a name of a nested list by the whole path, which its binding has."""
        for _, imported, origin in self.lookups.bindings(file.path, f"import {name}"):
            if origin.endswith(f"::{qualifier}"):
                return self.resolve_import(file, imported, origin, enclosing)
        return None

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
        inline = self._inline_module(file, enclosing)
        submodule = self._submodule(file.scope, join_names(file.prefix, inline), name)
        if submodule is not None:
            return submodule
        for _, _, origin in self.lookups.bindings(file.path, f"stars {_path(inline)}" if inline else "stars"):
            value = self._wildcard_member(file, origin, name, enclosing)
            if value is not None:
                return value
        crate = self._crate(name, file.path)
        if crate.kind != "external" or name in _STANDARD_CRATES:
            return crate
        if self.lookups.package_files("crate-dependency", name):
            return EXTERNAL
        # A lower-case name that nothing binds is bound by a macro.
        return self.outside(file, name) if name[:1].isupper() else UNDEFINED

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

    def instance_of(self, file: FileScope, type_name: str, enclosing: str) -> Value | None:
        """Return an instance of a type, of the standard library as well."""
        if type_name[:4] == "Self" and type_name[4:5] in ("", "["):
            own = self.enclosing_class(file, enclosing)
            return Value("instance", own.candidates) if own else None
        name, written = split_arguments(type_name) if "|" not in type_name else ("", ())
        last = name.rpartition(".")[2]
        if last not in STANDARD and last[:1] != LITERAL:
            return super().instance_of(file, type_name, enclosing)
        value = super().instance_of(file, name, enclosing) if last in STANDARD else None
        # `type Result<T> = std::result::Result<T, Error>` is one of these by another path.
        is_alias = value is not None and all(c.target and c.target.kind == "type" for c in value.candidates)
        if value is not None and value.kind == "instance" and not is_alias:
            return super().instance_of(file, type_name, enclosing)
        arguments = tuple(self.instance_of(file, each, enclosing) if each else None for each in written)
        return standard_value(last, arguments) if last != LITERAL else EXTERNAL

    def member(self, file: FileScope, value: Value | None, name: str) -> Value | None:
        """Return a member; `await` and copies of a value stand for it."""
        if value is None:
            return None
        if value.kind == "function":
            module = self._module_of_function(value) if name[:1] != "[" else None
            # A trait may be implemented for functions.
            return self.module_member(file, module.module, name) if module else UNKNOWN_MEMBER
        if name == "await":
            return self._awaited(file, value)
        member = super().member(file, value, name)
        if name in COPYING and value.kind == "instance" and (member is None or member.kind == "external"):
            return Value("callable", arguments=(value,), module="" if member is None else member.module)
        return member

    def _module_of_function(self, value: Value) -> Value | None:
        """Return the module that a function is in and shares its name with: a path goes through that."""
        outer, _, name = value.candidates[0].full_name.rpartition(".")
        return _module(value.candidates[0].scope, outer) if outer.rpartition(".")[2] == name else None

    def _awaited(self, file: FileScope, value: Value) -> Value | None:
        """Return the output of a future; an async function declares it as its result."""
        if value.kind == "instance" and any(self.class_member(file, value, m) for m in _FUTURE_METHODS):
            return None
        return value

    def follow(self, file: FileScope, value: Value | None, steps: Sequence[PathStep]) -> Value | None:
        """Follow the members of a path; what is not called is a field, even if a method has its name."""
        for step in steps:
            field = None if step.is_call or value is None else self._field(value, step.name)
            value = field or self.member(file, value, step.name)
            value = self.call_result(value) if step.is_call else value
        return value

    def _field(self, value: Value, name: str) -> Value | None:
        target = value.candidates[0].target if len(value.candidates) == 1 else None
        if value.kind != "instance" or target is None:
            return None
        bindings = self.lookups.bindings(target.path, f"field {target.qualified_name} {name}")
        file = self.lookups.file_scope(target.path) if bindings else None
        return self.bound_value(file, bindings, target.qualified_name) if file else None

    def external_member(self, value: Value, name: str) -> Value | None:
        """Return a member of a value from outside: methods of the standard library pass on what it holds."""
        if name.isdigit() and standard_name(value) == TUPLE:
            return self.element(_ANYWHERE, value, f"[{name}]")
        if not standard_name(value):
            return value
        result = method_result(value, name)
        if result is not None:
            return Value("callable", arguments=(result,))
        held = held_value(value)
        if standard_name(value) in POINTERS and held is not None:
            return self.member(_ANYWHERE, held, name)
        # A trait of this index may be implemented for it.
        return UNKNOWN_MEMBER

    def element(self, file: FileScope, value: Value, name: str) -> Value | None:
        """Return an element of a collection, what an Option holds, one of several results, or a pointer."""
        if name == COLLECTION:
            return standard_value("Box", (value,))
        while standard_name(value) in POINTERS and (held := held_value(value)) is not None:
            value = held
        if name == UNWRAPPED:
            return held_value(value) if standard_name(value) else None
        if name[1:-1].isdigit():
            index = int(name[1:-1])
            is_known = standard_name(value) == TUPLE and index < len(value.arguments)
            return value.arguments[index] if is_known else None
        if standard_name(value):
            return held_value(value)
        return super().element(file, value, name)

    def call_result(self, value: Value | None) -> Value | None:
        """Return the value of calling something; what a library returns is unknown."""
        if value is UNKNOWN_MEMBER:
            return None
        return super().call_result(value)

    def class_member(self, file: FileScope, value: Value, name: str) -> Value | None:
        """Return a member; a variant of an enum stands for the enum, and foreign types are unknown."""
        member = super().class_member(file, value, name)
        kinds = {each.target.kind for each in value.candidates if each.target}
        if (member is None or member.kind == "external") and kinds == {"enum"} and name[:1].isupper():
            return value._replace(kind="class")
        if member is not None and member.kind != "external":
            return member
        if kinds == {"impl"}:
            return self._member_of_type(file, value, name)
        return self._member_elsewhere(value, name) or member

    def _member_of_type(self, file: FileScope, value: Value, name: str) -> Value | None:
        """Return a member of the type of an impl block, which is in another file."""
        for each in value.candidates:
            impl_file = self.lookups.file_scope(each.target.path) if each.target else None
            bare = each.full_name.rpartition(".")[2]
            owner = self._imported_type(impl_file, bare) if impl_file else None
            if owner is not None and value.candidates != owner.candidates:
                return self.class_member(file, Value(value.kind, owner.candidates), name)
        return None

    def _member_elsewhere(self, value: Value, name: str) -> Value | None:
        """Return a member from an impl block in another file than that of the type."""
        for each in value.candidates:
            bare = each.full_name.rpartition(".")[2]
            for path in self.lookups.package_files("rust impl", bare)[:_MAX_IMPLS]:
                impl_file = self.lookups.file_scope(path)
                member = self.scope_symbol(impl_file, join_names(bare, name)) if impl_file else None
                if impl_file is not None and member is not None:
                    owner = self._imported_type(impl_file, bare)
                    if owner is not None and each.full_name in {c.full_name for c in owner.candidates}:
                        return member
        return None

    def _imported_type(self, file: FileScope, name: str) -> Value | None:
        """Return a type that a file has impl blocks of, but does not define."""
        for _, imported, origin in self.lookups.bindings(file.path, f"import {name}"):
            value = self.resolve_import(file, imported, origin, "")
            break
        else:
            value = self.resolve_free_name(file, name, "")
        return value if value is not None and value.kind == "class" else None

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
        inline = join_names(path, name)
        return _module(crate, inline) if self.lookups.package_files("rust module", crate, inline) else None

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


def _path(module: str) -> str:
    return module.replace(".", "::")


def _module(crate: str, path: str) -> Value:
    return Value("module", module=f"{crate}{_SEPARATOR}{path}")
