"""Languages with global names: C and C++, Elixir, and the fallback for languages without rules."""

from __future__ import annotations

from collections.abc import Sequence
from posixpath import normpath

from dowse.graph.keys import is_amalgamation, is_header, join_names
from dowse.graph.lookups import FileScope, Lookups
from dowse.graph.platforms import platforms_of_path
from dowse.graph.resolve.common_methods import is_distinctive
from dowse.graph.resolve.rules import Rules
from dowse.graph.resolve.values import (
    ELEMENT,
    EXTERNAL,
    ITERATION,
    UNDEFINED,
    Candidate,
    Value,
    union_of,
    value_of,
)
from dowse.storage.protocol import Target
from dowse.types import TYPE_KINDS, Reference


class PlainRules(Rules):
    """Languages without rules of their own: names of the same file, then names that only one symbol has."""

    nested_scopes = True
    implicit_self = True
    bare_name_fallback = True
    # Whether a full name means the same in all files.
    is_global = False

    def resolve_free_name(self, file: FileScope, name: str, enclosing: str) -> Value | None:
        """Return None: any symbol of the index may be meant."""
        return None

    def scope_symbol(self, file: FileScope, full_name: str) -> Value | None:
        """Return a symbol; functions only of the same file, since others merely have that name."""
        value = super().scope_symbol(file, full_name)
        if value is None or value.kind not in ("function", "name") or self.is_global:
            return value
        own = tuple(each for each in value.candidates if each.target and each.target.path == file.path)
        return value._replace(candidates=own) if own else None

    def resolve_import(self, file: FileScope, name: str, origin: str, enclosing: str) -> Value | None:
        """Return None: imports are not analysed."""
        return None

    def resolve_import_statement(self, file: FileScope, name: str, qualifier: str) -> Value | None:
        """Return EXTERNAL: imports are not analysed."""
        return EXTERNAL


_BUILTIN_TYPES = frozenset(
    "bool char short int long float double void unsigned signed size_t wchar_t char8_t char16_t char32_t"
    " int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t".split()
)
# Namespaces of the standard library.
_SYSTEM = frozenset(["std"])
# Methods of containers that return an iterator.
_ITERATORS = frozenset(
    "begin end cbegin cend rbegin rend find lower_bound upper_bound insert emplace erase".split()
)
# Aliases of aliases that are followed.
_MAX_ALIASES = 8
# Files that one file includes, directly or not; with more, all are taken as included.
_MAX_INCLUDED = 2_000
# Symbols that can differ by platform; types are on all of them.
_ON_PLATFORMS = frozenset(["function", "method", "macro"])


def _is_static(target: Target) -> bool:
    return target.signature.startswith("static ") and not is_header(target.path)


def _is_linked(target: Target) -> bool:
    """Whether this is a function of a source, which any file can declare; types must be included."""
    return target.kind not in TYPE_KINDS and not is_header(target.path)


def _without_copies(path: str, targets: tuple[Target, ...]) -> tuple[Target, ...]:
    """Return the symbols of sources if there are any; an amalgamation has its own."""
    if len(targets) < 2:
        return targets
    if is_amalgamation(path):
        kept = tuple(target for target in targets if target.path == path)
    else:
        kept = tuple(target for target in targets if not is_amalgamation(target.path))
    return kept or targets


class CRules(PlainRules):
    """C and C++: one namespace for all files, except for static functions and C++ namespaces."""

    self_names = frozenset(["this"])
    super_names = frozenset[str]()
    bare_name_fallback = False
    keeps_unknown = True
    is_global = True

    def __init__(self, lookups: Lookups) -> None:
        super().__init__(lookups)
        # What each file includes, and the lookups that this depends on: valid for all files of one linking.
        self._headers: dict[str, tuple[tuple[str, ...], frozenset[int]]] = {}
        self._included: dict[str, frozenset[str]] = {}

    def reset(self) -> None:
        """Start on another file."""
        super().reset()
        self._included.clear()

    def _resolve_name(self, file: FileScope, name: str, enclosing: str) -> Value | None:
        if name in _SYSTEM:
            return EXTERNAL
        value = super()._resolve_name(file, name, enclosing)
        if value is None or file.language == "c" or self._is_included(file, value):
            return value
        # Of a file that this one does not include: its own declarations take precedence.
        for _, imported, origin in self.lookups.bindings(file.path, f"import {name}"):
            return self.resolve_import(file, imported, origin, enclosing) or value
        return self._used_symbol(file, name, enclosing) or value

    def resolve_free_name(self, file: FileScope, name: str, enclosing: str) -> Value | None:
        """Return a name from a `using namespace`, or a namespace, since nothing tells otherwise."""
        if file.language == "c":
            return self._aliased_struct(file, name) or UNDEFINED
        value = self._used_symbol(file, name, enclosing)
        # The namespace is one of those around, or a global one.
        return value or Value("module", (Candidate(None, file.scope, enclosing),), name)

    def _aliased_struct(self, file: FileScope, name: str) -> Value | None:
        """Return the struct that a typedef of C stands for."""
        for target in self.lookups.names(file.family, file.scope, name):
            for kind, struct, _ in self.lookups.bindings(target.path, f"var {name}"):
                value = self.resolve_name(file, struct) if kind == "same" else None
                if value is not None and value.kind == "class":
                    return value
        return None

    def _used_symbol(self, file: FileScope, name: str, enclosing: str) -> Value | None:
        """Return a name of a namespace that a `using namespace` of the file opens."""
        for _, kind, namespace in self.lookups.bindings(file.path, "stars"):
            if kind == "namespace":
                value = self._symbol_around(file, join_names(namespace, name), enclosing)
                if value is not None:
                    return value
        return None

    def _symbol_around(self, file: FileScope, path: str, enclosing: str) -> Value | None:
        """Return a symbol by a path from one of the namespaces around."""
        for outer in self.enclosing_scopes(file, enclosing):
            value = self.symbol(file, file.scope, join_names(outer, path))
            if value is not None:
                return value
        return None

    def resolve_import(self, file: FileScope, name: str, origin: str, enclosing: str) -> Value | None:
        """Return what a using-declaration or an alias of a namespace stands for."""
        value = self.resolve_path(file, join_names(origin, name), enclosing)
        # Beside `using std::swap`, a function of that name is found by the types of its arguments.
        return UNDEFINED if name and value is EXTERNAL else value

    def instance_of(self, file: FileScope, type_name: str, enclosing: str) -> Value | None:
        """Return an instance of a type."""
        return EXTERNAL if type_name in _BUILTIN_TYPES else super().instance_of(file, type_name, enclosing)

    def member(self, file: FileScope, value: Value | None, name: str) -> Value | None:
        """Return a member; a namespace with documentation is a symbol as well."""
        if value is not None and value.kind == "class":
            kinds = {each.target.kind for each in value.candidates if each.target}
            if kinds == {"module"}:
                return self.module_member(file, value.candidates[0].full_name, name)
        if value is not None and value.kind == "external" and value.arguments and name[:1] != "[":
            return self._element_member(file, value, name)
        if value is not None and value.kind == "module" and value.candidates:
            path, enclosing = join_names(value.module, name), value.candidates[0].full_name
            found = self._symbol_around(file, path, enclosing) or self._used_symbol(file, path, enclosing)
            if found is not None and self._is_included(file, found):
                return found
            inner = self.module_member(file, value.module, name)
            if found is not None:  # in another header, perhaps a copy of one that is included
                return inner if inner and inner.candidates and self._is_included(file, inner) else found
            return inner._replace(candidates=value.candidates) if inner and inner.kind == "module" else inner
        return super().member(file, value, name)

    def element(self, file: FileScope, value: Value, name: str) -> Value | None:
        """Return an element: that of a map is a pair, which has the arguments of the map."""
        if file.language == "c":
            return value  # the type of an array is known by that of its elements
        if value.kind == "instance" and name == ELEMENT and not value.arguments:
            return self.call_result(self.class_member(file, value, "operator[]"))
        return value if name == ITERATION and len(value.arguments) > 1 else super().element(file, value, name)

    def _element_member(self, file: FileScope, value: Value, name: str) -> Value | None:
        """Return a member of a container of the standard library, of an iterator, or of what it points to."""
        if name in ("first", "second"):
            return value.arguments[0 if name == "first" else -1]
        if name in _ITERATORS:
            return Value("callable", arguments=(value,))
        if not is_distinctive(name):
            return self.external_member(value, name)
        held = value.arguments[-1]
        return (self.member(file, held, name) or self.external_member(value, name)) if held else None

    def module_member(self, file: FileScope, module: str, name: str) -> Value | None:
        """Return a name of a namespace; macros can hide that a file is in one."""
        full_name, first = join_names(module, name), None
        while full_name:
            value = self.symbol(file, file.scope, full_name)
            if value is not None and self._is_included(file, value):
                return value
            first = first or value
            full_name = full_name.partition(".")[2]
        return first or Value("module", module=join_names(module, name))

    def _is_included(self, file: FileScope, value: Value) -> bool:
        """Whether a file can see one of the symbols."""
        targets = [each.target for each in value.candidates if each.target]
        if not targets or any(target.path == file.path or _is_linked(target) for target in targets):
            return True
        return not self._included_files(file.path).isdisjoint(target.path for target in targets)

    def symbol(self, file: FileScope, scope: str, full_name: str) -> Value | None:
        """Return a symbol that this file can see: static functions only in their own file."""
        targets = _without_copies(file.path, self.lookups.symbols(file.family, scope, full_name, file.path))
        if len(targets) < 2 and not (targets and self._is_limited(targets[0])):
            return value_of(targets, scope, full_name)
        own = tuple(target for target in targets if target.path == file.path)
        # In C++, the function can be overloaded in headers.
        is_overloaded = file.language == "cpp" and any(is_header(t.path) for t in targets)
        if own and not is_overloaded:
            return value_of(own, scope, full_name)
        visible = tuple(t for t in targets if not _is_static(t) or t.path in self._headers_of(file.path))
        if not any(self._is_built_with(file.path, target) for target in visible):
            return None  # the system has it on other platforms
        if is_overloaded:
            return value_of(self._included_targets(file, visible), scope, full_name)
        # Variants for other platforms are in other folders.
        folder = file.path.rpartition("/")[0]
        near = tuple(target for target in visible if target.path.rpartition("/")[0] == folder)
        return value_of(near or visible, scope, full_name)

    def visible_names(self, file: FileScope, names: tuple[Target, ...]) -> tuple[Target, ...]:
        """Return the names of the file, else of what it includes, else all but static ones."""
        if len(names) < 2 and not (names and _is_static(names[0])):
            return names
        own = tuple(name for name in names if name.path == file.path)
        if own:
            return own
        included = self._included_files(file.path)
        seen = tuple(name for name in names if name.path in included)
        return seen or tuple(name for name in names if not _is_static(name))

    def sees(self, file: FileScope, target: Target) -> bool:
        """Whether a file has or includes a definition."""
        return target.path == file.path or target.path in self._included_files(file.path)

    def _is_limited(self, target: Target) -> bool:
        """Whether only some files can see a symbol, or some platforms have it.

        A macro often replaces a function of the system there.
        """
        is_replacement = target.kind == "macro" and bool(self._platforms(target))
        return is_replacement or _is_static(target) or bool(platforms_of_path(target.path))

    def _platforms(self, target: Target) -> frozenset[str]:
        """Return the platforms that a function is for, by its path and the conditions around it."""
        if target.kind not in _ON_PLATFORMS:
            return frozenset()
        named = platforms_of_path(target.path)
        built = self.lookups.bindings(target.path, f"build {target.qualified_name}")
        return named.union(*(platforms.split() for _, platforms, _ in built)) if built else named

    def _is_built_with(self, path: str, target: Target) -> bool:
        """Whether a symbol is on the platform of a file."""
        platforms = self._platforms(target)
        return not platforms or bool(platforms & platforms_of_path(path))

    def _included_targets(self, file: FileScope, targets: tuple[Target, ...]) -> tuple[Target, ...]:
        """Return the symbols that the file includes, and functions of sources; all if it includes none."""
        if len({target.path for target in targets}) < 2:
            return targets
        included = self._included_files(file.path)
        if not any(target.path in included for target in targets):
            return targets
        return tuple(target for target in targets if target.path in included or _is_linked(target))

    def _included_files(self, path: str) -> frozenset[str]:
        """Return a file and the files that it includes, directly or not."""
        if path not in self._included:
            found, waiting = {path}, [path]
            while waiting and len(found) < _MAX_INCLUDED:
                new = set(self._headers_of(waiting.pop())) - found
                found |= new
                waiting += sorted(new)
            self._included[path] = frozenset(found)
        return self._included[path]

    def _headers_of(self, path: str) -> tuple[str, ...]:
        """Return the files that a file includes directly."""
        if path not in self._headers:
            others, self.lookups.dependencies = self.lookups.dependencies, set()
            stars = self.lookups.bindings(path, "stars")
            found = (self._find_header(path, written) for _, kind, written in stars if kind == "*")
            headers = tuple(header for header in found if header)
            self._headers[path] = headers, frozenset(self.lookups.dependencies)
            self.lookups.dependencies = others
        headers, dependencies = self._headers[path]
        self.lookups.dependencies |= dependencies
        return headers

    def _find_header(self, path: str, written: str) -> str:
        """Return the header that an include means: in the folder of the file or in one above it."""
        folder = path.rpartition("/")[0]
        while True:
            for inner in ("", "include/", "src/"):
                header = normpath(f"{folder}/{inner}{written}" if folder else inner + written)
                if self.lookups.language(header) is not None:
                    return header
            if not folder:
                return ""
            folder = folder.rpartition("/")[0]

    def inherited_overloads(self, file: FileScope, value: Value, reference: Reference) -> Value:
        """Return the class that an alias stands for, which may be outside the index."""
        return self._aliased_class(value)

    def _aliased_class(self, value: Value) -> Value:
        for _ in range(_MAX_ALIASES):
            if {each.target.kind for each in value.candidates if each.target} != {"type"}:
                return value
            bases = (base for each in value.candidates for base in self.base_classes(each))
            value = union_of(base for base in bases if base and base.kind == "class") or EXTERNAL
        return value

    def overload_result(self, results: list[Value | None]) -> Value | None:
        """Return the class that all results are of: `reference` and `const_reference` are aliases of one."""
        classes = {
            self._aliased_class(Value("class", each.candidates))
            for each in results
            if each is not None and each.kind == "instance"
        }
        is_same = len(classes) == 1 and all(each and each.kind == "instance" for each in results)
        return classes.pop()._replace(kind="instance") if is_same and EXTERNAL not in classes else None

    def preferred(self, file: FileScope, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
        """Return those for the platform of the file, functions before macros that replace them elsewhere."""
        built = [each for each in candidates if each.target and self._is_built_with(file.path, each.target)]
        own = platforms_of_path(file.path)
        if own:
            built = [each for each in built if each.target and own & self._platforms(each.target)] or built
        functions = [each for each in built if each.target and each.target.kind != "macro"]
        return functions or built or candidates

    def resolve_import_statement(self, file: FileScope, name: str, qualifier: str) -> Value | None:
        """Return a header."""
        header = self._find_header(file.path, qualifier)
        return Value("module", module=header) if header else EXTERNAL


class ElixirRules(PlainRules):
    """Elixir: modules by their full names or aliases, functions in them."""

    self_names = frozenset[str]()
    super_names = frozenset[str]()
    implicit_self = False
    bare_name_fallback = False
    is_global = True

    def resolve_import(self, file: FileScope, name: str, origin: str, enclosing: str) -> Value | None:
        """Return a module by its alias."""
        full_name = origin if name in ("", "*", "use") else join_names(origin, name)
        return self.symbol(file, "", full_name) or EXTERNAL

    def resolve_free_name(self, file: FileScope, name: str, enclosing: str) -> Value | None:
        """Return a function of an imported module, or a module by its full name."""
        for _, _, origin in self._wildcard_imports(file, enclosing):
            value = self.symbol(file, "", join_names(origin, name))
            if value is not None:
                return value
        return UNDEFINED if not name[:1].isupper() else Value("module", module=name)

    def _wildcard_imports(self, file: FileScope, enclosing: str) -> list[list[str]]:
        imports = list(self.lookups.bindings(file.path, "stars"))
        while enclosing:
            imports += self.lookups.bindings(file.path, f"field {enclosing} *")
            enclosing = enclosing.rpartition(".")[0]
        return imports

    def module_member(self, file: FileScope, module: str, name: str) -> Value | None:
        """Return a function or a nested module."""
        full_name = join_names(module, name)
        value = self.symbol(file, "", full_name)
        if value is not None:
            return value
        return Value("module", module=full_name) if name[:1].isupper() else UNDEFINED

    def resolve_import_statement(self, file: FileScope, name: str, qualifier: str) -> Value | None:
        """Return a module."""
        return self.symbol(file, "", join_names(qualifier.replace("::", "."), name)) or EXTERNAL
