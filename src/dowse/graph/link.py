"""Incremental linking: resolve the references of changed files, and of files whose dependencies changed."""

from __future__ import annotations

import contextlib
import gc
import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from dowse.lazy_classes import NamedTuple
from dowse.storage.protocol import GraphStore, NamedReference, ResolvedReference

if TYPE_CHECKING:
    from dowse.graph.resolve.rules import Rules

_log = logging.getLogger("dowse.graph")


class FileLinks(NamedTuple):
    """The references of one file, and the lookup keys that they depend on."""

    file_id: int
    resolved: list[ResolvedReference]
    named: list[NamedReference]
    dependencies: set[int]


ResolveFiles = Callable[[Sequence[int]], Iterable[FileLinks]]


def link(store: GraphStore, resolve: ResolveFiles | None = None) -> int:
    """Link every file that needs it; return how many there were.

    `resolve` gives the references of files, if not a `Linker` of this process.
    """
    waiting = store.files_to_link()
    with _paused_garbage_collection():
        for links in (resolve or Linker(store).resolve)(waiting) if waiting else ():
            store.put_links(*links)
    store.mark_all_linked()
    return len(waiting)


class Linker:
    """Resolves the references of files one at a time; keeps what it looked up for the next files."""

    def __init__(self, store: GraphStore) -> None:
        from dowse.graph.lookups import Lookups

        self._store, self._lookups = store, Lookups(store)
        self._rules: dict[str, Rules] = {}

    def resolve(self, file_ids: Sequence[int]) -> Iterator[FileLinks]:
        """Yield the references of files; nothing for a file that is not there."""
        # Loaded late: an update that changes nothing, or links in other processes, has no use for the rules.
        from dowse.graph.resolve.resolver import resolve_file

        store, lookups = self._store, self._lookups
        for file_id in file_ids:
            file = store.file_to_link(file_id)
            if file is None:
                continue
            lookups.start_file()
            try:
                links = resolve_file(file, lookups, self._rules)
            except (LookupError, ValueError, TypeError, AttributeError, RecursionError) as error:
                # A bug of the rules: the file is left without calls, and the index is made all the same.
                reason = f"{type(error).__name__}: {error}"
                _log.warning("the calls in %s can't be resolved (%s); please report it", file.path, reason)
                yield FileLinks(file_id, [], [], lookups.dependencies)
                continue
            yield FileLinks(file_id, links.resolved, links.named, lookups.dependencies)


@contextlib.contextmanager
def _paused_garbage_collection() -> Iterator[None]:
    """Pause the cyclic garbage collector: linking makes millions of tuples and no cycles.

    Searching them for cycles took a tenth of the time.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
