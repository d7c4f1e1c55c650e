"""Lookups of linking in other files, with dependency tracking.

A file is relinked when the answer to one of its lookups changes. This holds by construction, since reference
resolution can see other files only through this module.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from dowse.graph import keys
from dowse.graph.keys import family_of, prefix_of, scope_of
from dowse.graph.resolve.values import Value, value_of
from dowse.graph.symbol_table import PROPERTY, Bindings, decode_symbol_table
from dowse.lazy_classes import NamedTuple
from dowse.storage.protocol import GraphStore, Target

Answer = TypeVar("Answer")
# Cached answers; the bound is for trees of a hundred thousand files.
_MAX_CACHED = 400_000
_MAX_CACHED_FILES = 3_000
# Symbols with one full name. Overloads and partial classes are few; with more, every reference to the name
# would be compared with all of them.
MAX_SAME_NAME = 48


class FileScope(NamedTuple):
    """The file whose names are resolved: what decides their meaning."""

    path: str
    language: str
    family: str
    scope: str
    prefix: str


class _SameName(NamedTuple):
    """The symbols with one full name."""

    listed: tuple[Target, ...]  # not all if they are too many
    by_path: dict[str, tuple[Target, ...]]  # all, in this case


class _Cache(dict[tuple[Any, ...], tuple[int, Answer]]):
    """Question → dependency id and answer: most lookups are repeated."""

    def __init__(self, key: Callable[..., int], answer: Callable[..., Answer]) -> None:
        super().__init__()
        self._key, self._answer = key, answer

    def __missing__(self, question: tuple[Any, ...]) -> tuple[int, Answer]:
        key = self._key(*question)
        entry = self[question] = keys.dependency_id(key), self._answer(key, *question)
        return entry


class Lookups:
    """Answers lookups from the store and records the dependencies of the file that is being linked."""

    def __init__(self, store: GraphStore) -> None:
        self._store = store
        self._symbols = _Cache(keys.scope_key, lambda key, *_: _limit(store.symbols_in_scope(key)))
        self._fields = _Cache(
            keys.scope_key, lambda key, *_: _limit(store.symbols_in_scope(keys.key_of_names(key)))
        )
        self._values = _Cache(keys.scope_key, self._find_value)
        self._remainders = _Cache(keys.remainder_key, lambda key, _: tuple(store.symbols_in_scope(key)))
        self._names = _Cache(keys.name_key, lambda key, *_: key if store.has_symbol_named(key) else 0)
        self._used_names = _Cache(keys.name_key, self._find_used_name)
        self._languages = _Cache(keys.file_key, lambda _, path: store.language_of_path(path))
        self._packages = _Cache(keys.package_key, lambda key, *_: tuple(store.paths_with_mark(key)))
        self._bindings = _Cache(keys.binding_key, self._find_bindings)
        self._files: dict[str, Bindings] = {}
        self._scopes: dict[str, tuple[tuple[int, ...], FileScope | None]] = {}  # with their dependencies
        self.dependencies: set[int] = set()

    def start_file(self) -> None:
        """Start to record the dependencies of another file."""
        self.dependencies = set()
        caches = (self._symbols, self._fields, self._values, self._remainders, self._names, self._used_names)
        for cache in (*caches, self._languages, self._packages, self._bindings):
            if len(cache) > _MAX_CACHED:
                cache.clear()

    def symbols(self, family: str, scope: str, full_name: str, path: str) -> tuple[Target, ...]:
        """Return the symbols with a full name in a scope; those of one file even if there are too many."""
        dependency, found = self._symbols[family, scope, full_name]
        self.dependencies.add(dependency)
        own = found.by_path.get(path, ())
        return (*own, *(target for target in found.listed if target.path != path)) if own else found.listed

    def value(self, family: str, scope: str, full_name: str) -> Value | None:
        """Return the value of the symbols with a full name."""
        dependency, value = self._values[family, scope, full_name]
        self.dependencies.add(dependency)
        return value

    def names(self, family: str, scope: str, full_name: str, path: str = "") -> tuple[Target, ...]:
        """Return the names with a full name in a scope; those of one file even if there are too many."""
        dependency, found = self._fields[family, scope, full_name]
        self.dependencies.add(dependency)
        return (*found.by_path.get(path, ()), *found.listed) if found.by_path else found.listed

    def remainder(self, path: str) -> tuple[Target, ...]:
        """Return the symbol for the code outside the definitions of a file."""
        dependency, targets = self._remainders[path,]
        self.dependencies.add(dependency)
        return targets

    def key_of_name(self, family: str, is_member: bool, name: str) -> int:
        """Return the key of a bare name if any symbol has it, else 0."""
        dependency, key = self._names[family, is_member, name]
        self.dependencies.add(dependency)
        return key or (self.key_of_name(keys.COPIES, is_member, name) if family == "c" else 0)

    def keys_of_use(self, family: str, is_member: bool, name: str) -> list[int]:
        """Return the keys of a bare name under which names, and symbols that are read like them, have it."""
        dependency, key = self._used_names[family, is_member, name]
        self.dependencies.add(dependency)
        found = [key] if key else []
        if is_member and self.package_files(PROPERTY, family, name):
            found.append(keys.name_key(family, is_member, name))
        return found

    def is_defined(self, family: str, name: str) -> bool:
        """Whether any symbol or name is called so."""
        for is_member in (True, False):
            dependency, key = self._used_names[family, is_member, name]
            self.dependencies.add(dependency)
            if key or self.key_of_name(family, is_member, name):
                return True
        return False

    def language(self, path: str) -> str | None:
        """Return the language of a file, None if there is no such file."""
        dependency, language = self._languages[path,]
        self.dependencies.add(dependency)
        return language

    def package_files(self, *parts: str) -> tuple[str, ...]:
        """Return the files that make up or describe a package."""
        dependency, paths = self._packages[parts]
        self.dependencies.add(dependency)
        return paths

    def bindings(self, path: str, slot: str) -> list[list[str]]:
        """Return the bindings of a name in a file, as (kind, value, origin)."""
        dependency, bindings = self._bindings[path, slot]
        self.dependencies.add(dependency)
        return bindings

    def _find_used_name(self, key: int, *_: object) -> int:
        of_names = keys.key_of_names(key)
        return of_names if self._store.has_symbol_named(of_names) else 0

    def _find_value(self, _: int, family: str, scope: str, full_name: str) -> Value | None:
        return value_of(self._symbols[family, scope, full_name][1].listed, scope, full_name)

    def _find_bindings(self, _: int, path: str, slot: str) -> list[list[str]]:
        bindings = self._files.get(path)
        if bindings is None:
            if len(self._files) > _MAX_CACHED_FILES:
                self._files.clear()
            bindings = self._files[path] = decode_symbol_table(self._store.facts_of_path(path)).bindings
        return bindings.get(slot, [])

    def file_scope(self, path: str) -> FileScope | None:
        """Return the scope of a file, None if there is no such file."""
        if path not in self._scopes:
            if len(self._scopes) > _MAX_CACHED:
                self._scopes.clear()
            self._scopes[path] = self._find_scope(path)
        dependencies, scope = self._scopes[path]
        self.dependencies.update(dependencies)
        return scope

    def _find_scope(self, path: str) -> tuple[tuple[int, ...], FileScope | None]:
        by_path, language = self._languages[path,]
        if language is None:
            return (by_path,), None
        by_package, package = self._bindings[path, "package"]
        scope = scope_of(language, path, package[0][1] if package else "")
        found = FileScope(path, language, family_of(language), scope, prefix_of(language, path))
        return (by_path, by_package), found


def _limit(targets: Sequence[Target]) -> _SameName:
    """Return the targets, or the first and the last of too many: in one file, the last definition counts.

    Headers of C come first: other files include them.
    """
    if len(targets) <= MAX_SAME_NAME:
        return _SameName(tuple(targets), {})
    ranked = sorted(targets, key=_is_c_source)
    by_path: dict[str, tuple[Target, ...]] = {}
    for target in targets:
        by_path[target.path] = (*by_path.get(target.path, ())[: MAX_SAME_NAME - 1], target)
    return _SameName((*ranked[: MAX_SAME_NAME - 1], ranked[-1]), by_path)


def _is_c_source(target: Target) -> bool:
    return target.language in ("c", "cpp") and not keys.is_header(target.path)
