"""`index.graph`: who calls, uses or implements what, and what a change touches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dowse.deadline import time_limit
from dowse.index.part import IndexPart, rebuilds

if TYPE_CHECKING:
    from dowse.graph.model import GraphAnswer


class Graph(IndexPart):
    """The call graph; symbols are named `pkg.Class.method`, `Class.method`, `name` or `file.py:42`."""

    def callers(self, symbol: str, depth: int | None = None, k: int | None = None) -> GraphAnswer:
        """Return who calls a symbol.

        Args:
            symbol: Its name; one that several symbols have raises `AmbiguousName` with the candidates.
            depth: Hops to follow; None takes the default of the relation, here 1.
            k: How many to return, nearest first; 0 returns all, None 50 (of `impact` 200).
        """
        return self._query("callers", symbol, depth, k)

    def callees(self, symbol: str, depth: int | None = None, k: int | None = None) -> GraphAnswer:
        """Return what a symbol calls; for a class, what its methods call."""
        return self._query("callees", symbol, depth, k)

    def uses(self, symbol: str, depth: int | None = None, k: int | None = None) -> GraphAnswer:
        """Return what refers to a symbol in any way: calls, types, decorators, subclasses, imports."""
        return self._query("uses", symbol, depth, k)

    def implementers(self, symbol: str, depth: int | None = None, k: int | None = None) -> GraphAnswer:
        """Return what implements an interface, or the methods that implement or override a method."""
        return self._query("implementers", symbol, depth, k)

    def subclasses(self, symbol: str, depth: int | None = None, k: int | None = None) -> GraphAnswer:
        """Return the classes that extend a class, and those that extend them."""
        return self._query("subclasses", symbol, depth, k)

    def impact(self, symbol: str, depth: int | None = None, k: int | None = None) -> GraphAnswer:
        """Return what a change of a symbol would touch; `tests` of the answer are those to run."""
        return self._query("impact", symbol, depth, k)

    @rebuilds
    def path(self, start: str, end: str, depth: int | None = None) -> GraphAnswer:
        """Return the shortest chain of calls and uses from one symbol to another."""
        from dowse.graph.queries import find_path

        start, end = (name.removeprefix(f"{self._index.root}/") for name in (start, end))
        with self._index.backend.reader() as reader:
            return find_path(reader, start, end, depth)

    @property
    @rebuilds
    def is_linked(self) -> bool:
        """Whether the call graph is built, which comes after the words."""
        with self._index.backend.reader() as reader:
            return reader.is_linked

    @rebuilds
    def link(self, wait: float | None = None) -> None:
        """Build the call graph, if `update` has left that for later.

        Args:
            wait: Seconds to wait for another writer; None waits as long as it takes.
        """
        if self.is_linked:
            return
        from dowse.indexing.update import link_deferred

        link_deferred(self._index.backend, self._index.settings, wait)

    @rebuilds
    def _query(self, relation: str, symbol: str, depth: int | None, k: int | None) -> GraphAnswer:
        from dowse.graph.queries import query_relation

        index = self._index
        with time_limit(index.settings.query_seconds), index.backend.reader() as reader:
            return query_relation(reader, relation, symbol.removeprefix(f"{index.root}/"), depth, k)
