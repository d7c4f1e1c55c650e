"""Bring the graph up to date: link the files that changed, and those whose questions got other answers."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator

from dowse.graph.lookups import Lookups
from dowse.graph.resolve.languages import Families
from dowse.graph.resolve.resolver import resolve_file
from dowse.storage.protocol import GraphStore


def link(store: GraphStore) -> int:
    """Link what must be linked, one file at a time; return how many files that were."""
    waiting = store.files_to_link()
    with _without_collector():
        lookups = Lookups(store)
        families = Families(lookups)
        for file_id in waiting:
            file = store.file_to_link(file_id)
            if file is None:
                continue
            lookups.begin()
            links = resolve_file(file, lookups, families)
            store.put_links(file_id, links.linked, links.named, lookups.asked)
    store.mark_all_linked()
    return len(waiting)


@contextlib.contextmanager
def _without_collector() -> Iterator[None]:
    """Linking makes tuples by the million and no cycles: looking for some took a tenth of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
