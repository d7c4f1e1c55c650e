"""Lookups of linking in other files, with dependency tracking.

A file is relinked when the answer to one of its lookups changes. This holds by construction, since reference
resolution can see other files only through this module.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from dowse.graph import keys
from dowse.graph.resolve.values import Value, value_of
from dowse.graph.scopes import family_of, prefix_of, scope_of
from dowse.graph.symbol_table import Bindings, decode_symbol_table
from dowse.storage.protocol import GraphStore, Target

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


class Lookups:
    """Answers lookups from the store and records the dependencies of the file that is being linked.

    Every answer is cached with its dependency id, since most lookups are repeated.
    """

    def __init__(self, store: GraphStore) -> None:
        self._store = store
        self._symbols: dict[tuple[str, ...], tuple[int, tuple[Target, ...]]] = {}
        self._values: dict[tuple[str, str, str], tuple[int, Value | None]] = {}
        self._languages: dict[str, tuple[int, str | None]] = {}
        self._packages: dict[tuple[str, ...], tuple[int, tuple[str, ...]]] = {}
        self._names: dict[tuple[str, bool, str], tuple[int, int]] = {}
        self._bindings: dict[tuple[str, str], tuple[int, list[list[str]]]] = {}
        self._files: dict[str, Bindings] = {}
        self.dependencies: set[int] = set()

    def start_file(self) -> None:
        """Start to record the dependencies of another file."""
        self.dependencies = set()
        caches = (self._symbols, self._values, self._languages, self._packages, self._names, self._bindings)
        for cache in caches:
            if len(cache) > _MAX_CACHED:
                cache.clear()

    def symbols(self, family: str, scope: str, full_name: str) -> tuple[Target, ...]:
        """Return the symbols with a full name in a scope."""
        question = (family, scope, full_name)
        cached = self._symbols.get(question)
        if cached is None:
            key = keys.scope_key(*question)
            cached = self._symbols[question] = (
                keys.dependency_id(key),
                _limit(self._store.symbols_in_scope(key)),
            )
        self.dependencies.add(cached[0])
        return cached[1]

    def value(self, family: str, scope: str, full_name: str) -> Value | None:
        """Return the value of the symbols with a full name."""
        question = (family, scope, full_name)
        cached = self._values.get(question)
        if cached is None:
            targets = self.symbols(*question)
            dependency = self._symbols[question][0]
            cached = self._values[question] = (dependency, value_of(targets, scope, full_name))
        self.dependencies.add(cached[0])
        return cached[1]

    def remainder(self, path: str) -> tuple[Target, ...]:
        """Return the symbol for the code outside the definitions of a file."""
        cached = self._symbols.get((path,))
        if cached is None:
            key = keys.remainder_key(path)
            cached = self._symbols[path,] = (
                keys.dependency_id(key),
                tuple(self._store.symbols_in_scope(key)),
            )
        self.dependencies.add(cached[0])
        return cached[1]

    def key_of_name(self, family: str, is_member: bool, name: str) -> int:
        """Return the key of a bare name if any symbol has it, else 0."""
        question = (family, is_member, name)
        cached = self._names.get(question)
        if cached is None:
            key = keys.name_key(*question)
            cached = self._names[question] = (
                keys.dependency_id(key),
                key if self._store.has_symbol_named(key) else 0,
            )
        self.dependencies.add(cached[0])
        return cached[1]

    def language(self, path: str) -> str | None:
        """Return the language of a file, None if there is no such file."""
        cached = self._languages.get(path)
        if cached is None:
            dependency = keys.dependency_id(keys.file_key(path))
            cached = self._languages[path] = (dependency, self._store.language_of_path(path))
        self.dependencies.add(cached[0])
        return cached[1]

    def package_files(self, *parts: str) -> tuple[str, ...]:
        """Return the files that make up or describe a package."""
        cached = self._packages.get(parts)
        if cached is None:
            key = keys.package_key(*parts)
            cached = self._packages[parts] = (
                keys.dependency_id(key),
                tuple(self._store.paths_with_mark(key)),
            )
        self.dependencies.add(cached[0])
        return cached[1]

    def bindings(self, path: str, slot: str) -> list[list[str]]:
        """Return the bindings of a name in a file, as (kind, value, origin)."""
        question = (path, slot)
        cached = self._bindings.get(question)
        if cached is None:
            dependency = keys.dependency_id(keys.binding_key(path, slot))
            cached = self._bindings[question] = (dependency, self._file_bindings(path).get(slot, []))
        self.dependencies.add(cached[0])
        return cached[1]

    def _file_bindings(self, path: str) -> Bindings:
        bindings = self._files.get(path)
        if bindings is None:
            if len(self._files) > _MAX_CACHED_FILES:
                self._files.clear()
            bindings = self._files[path] = decode_symbol_table(self._store.facts_of_path(path)).bindings
        return bindings

    def file_scope(self, path: str) -> FileScope | None:
        """Return the scope of a file, None if there is no such file."""
        language = self.language(path)
        if language is None:
            return None
        package = self.bindings(path, "package")
        scope = scope_of(language, path, package[0][1] if package else "")
        return FileScope(path, language, family_of(language), scope, prefix_of(language, path))


def _limit(targets: Sequence[Target]) -> tuple[Target, ...]:
    """Return the targets, or the first and the last of too many: in one file, the last definition counts."""
    if len(targets) <= MAX_SAME_NAME:
        return tuple(targets)
    return (*targets[: MAX_SAME_NAME - 1], targets[-1])
