"""What the groups of methods of an index have in common: their index, and what is done about damage."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, cast

from dowse.errors import DowseError, IndexDamaged, IndexMissing, IndexUnavailable

if TYPE_CHECKING:
    from dowse.index.api import Index

Method = TypeVar("Method", bound=Callable[..., Any])


class IndexPart:
    """A group of methods of an index, e.g. `index.graph`."""

    def __init__(self, index: Index) -> None:
        self._index = index


def rebuilds(method: Method) -> Method:
    """Let a method that finds the index damaged have it built again, and run once more."""

    @functools.wraps(method)
    def run(self: Index | IndexPart, *arguments: Any, **options: Any) -> Any:  # noqa: ANN401 - as the method
        index = self._index if isinstance(self, IndexPart) else self
        try:
            return method(self, *arguments, **options)
        except (IndexDamaged, IndexMissing):  # missing while another thread builds it again
            index.backend.close()
        with index._rebuilding:
            try:
                return method(self, *arguments, **options)  # another thread or process may have built it
            except IndexDamaged as error:
                _rebuild(index, error)
        return method(self, *arguments, **options)

    return cast("Method", run)


def remove_damage(index: Index, error: IndexDamaged) -> bool:
    """Remove a damaged index, or its vectors if only they are damaged, unless another process has done so."""
    reason = str(error).partition("; run ")[0]
    index.internals.lanes.close()
    try:
        is_removed = index.backend.remove_damage()
    except (IndexUnavailable, OSError) as failure:
        text = f"{reason} and can't be built again there; name another folder with --index-dir"
        raise IndexDamaged(text) from failure
    if is_removed:
        index._on_rebuild(f"{reason}; building it again")
    return is_removed


def _rebuild(index: Index, error: IndexDamaged) -> None:
    """Build a damaged index again; of damaged vectors only those go, and are made again in time."""
    if index.is_shared:
        raise error
    built = index
    with contextlib.suppress(DowseError):  # of a damaged catalog nobody may know how it was built
        built = index.internals._as_built()
    if not remove_damage(index, error):
        return
    if index.exists:
        index._rebuilt = "vectors were damaged and are made again"
        return
    built._update_words(rebuild=True)
    index._rebuilt = "the index was damaged and has been built again"
