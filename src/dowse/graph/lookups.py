"""The one way by which linking asks about other files: every question is answered and remembered.

A file is linked again when one of its questions gets another answer. That holds by construction, since
nothing that resolves references can see other files but through here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from dowse.graph.describe import unpack_facts
from dowse.graph.keys import asked, face_key, family_of, file_key, mark_key, name_key, rest_key, scope_key
from dowse.graph.resolve.expressions import Value, value_of
from dowse.graph.resolve.namespaces import prefix_of, scope_of
from dowse.storage.local.graph_tables import Target
from dowse.storage.protocol import GraphStore

# Answers kept in memory; the bound is for trees of a hundred thousand files.
_KEPT = 400_000
_FACES_KEPT = 3_000
# Symbols that have one full name. Overloads and partial classes are few; with all of many, every reference to
# the name would be compared.
_MAX_SAME_NAME = 48


class Place(NamedTuple):
    """Where a piece of code stands: what decides the meaning of its names."""

    path: str
    language: str
    family: str
    scope: str
    prefix: str


class Lookups:
    """Answers questions from the store, and remembers for each file what it asked.

    Every answer is kept with the number under which its question is remembered: most are asked again.
    """

    def __init__(self, store: GraphStore) -> None:
        self._store = store
        self._symbols: dict[tuple[str, ...], tuple[int, tuple[Target, ...]]] = {}
        self._values: dict[tuple[str, str, str], tuple[int, Value | None]] = {}
        self._languages: dict[str, tuple[int, str | None]] = {}
        self._marked: dict[tuple[str, ...], tuple[int, tuple[str, ...]]] = {}
        self._named: dict[tuple[str, bool, str], tuple[int, int]] = {}
        self._said: dict[tuple[str, str], tuple[int, list[list[str]]]] = {}
        self._faces: dict[str, dict[str, list[list[str]]]] = {}
        self.asked: set[int] = set()

    def begin(self) -> None:
        """Start to remember the questions of another file."""
        self.asked = set()
        for kept in (self._symbols, self._values, self._languages, self._marked, self._named, self._said):
            if len(kept) > _KEPT:
                kept.clear()

    def symbols(self, family: str, scope: str, full_name: str) -> tuple[Target, ...]:
        """The symbols with a full name in a scope."""
        question = (family, scope, full_name)
        known = self._symbols.get(question)
        if known is None:
            key = scope_key(*question)
            known = self._symbols[question] = (asked(key), _some_of(self._store.symbols_in_scope(key)))
        self.asked.add(known[0])
        return known[1]

    def value(self, family: str, scope: str, full_name: str) -> Value | None:
        """What the symbols with a full name stand for."""
        question = (family, scope, full_name)
        known = self._values.get(question)
        if known is None:
            targets = self.symbols(*question)
            half = self._symbols[question][0]
            known = self._values[question] = (half, value_of(targets, scope, full_name))
        self.asked.add(known[0])
        return known[1]

    def rest(self, path: str) -> tuple[Target, ...]:
        """The symbol for what stands outside the definitions of a file."""
        known = self._symbols.get((path,))
        if known is None:
            key = rest_key(path)
            known = self._symbols[path,] = (asked(key), tuple(self._store.symbols_in_scope(key)))
        self.asked.add(known[0])
        return known[1]

    def is_named(self, family: str, is_member: bool, name: str) -> int:
        """The key of a bare name if any symbol has it, else 0."""
        question = (family, is_member, name)
        known = self._named.get(question)
        if known is None:
            key = name_key(*question)
            known = self._named[question] = (asked(key), key if self._store.has_symbol_named(key) else 0)
        self.asked.add(known[0])
        return known[1]

    def language(self, path: str) -> str | None:
        """The language of a file, None if there is no such file."""
        known = self._languages.get(path)
        if known is None:
            known = self._languages[path] = (asked(file_key(path)), self._store.language_of_path(path))
        self.asked.add(known[0])
        return known[1]

    def marked(self, *parts: str) -> tuple[str, ...]:
        """The files with a mark."""
        known = self._marked.get(parts)
        if known is None:
            key = mark_key(*parts)
            known = self._marked[parts] = (asked(key), tuple(self._store.paths_with_mark(key)))
        self.asked.add(known[0])
        return known[1]

    def face(self, path: str, what: str) -> list[list[str]]:
        """What a file says of one of its names, as (kind, value, origin)."""
        question = (path, what)
        known = self._said.get(question)
        if known is None:
            known = self._said[question] = (asked(face_key(path, what)), self._face(path).get(what, []))
        self.asked.add(known[0])
        return known[1]

    def _face(self, path: str) -> dict[str, list[list[str]]]:
        face = self._faces.get(path)
        if face is None:
            if len(self._faces) > _FACES_KEPT:
                self._faces.clear()
            face = self._faces[path] = unpack_facts(self._store.facts_of_path(path)).face
        return face

    def place(self, path: str) -> Place | None:
        """Where the top level of a file stands, None if there is no such file."""
        language = self.language(path)
        if language is None:
            return None
        package = self.face(path, "package")
        scope = scope_of(language, path, package[0][1] if package else "")
        return Place(path, language, family_of(language), scope, prefix_of(language, path))


def _some_of(targets: Sequence[Target]) -> tuple[Target, ...]:
    """The targets, or the first and the last of too many: of definitions in one file, the last counts."""
    if len(targets) <= _MAX_SAME_NAME:
        return tuple(targets)
    return (*targets[: _MAX_SAME_NAME - 1], targets[-1])
