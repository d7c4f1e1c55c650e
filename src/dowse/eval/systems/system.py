"""The interface of other tools, and the index whose files they may see."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from dowse.eval.types import SearchResult
from dowse.index import Index


@dataclass(frozen=True, slots=True, weakref_slot=True, eq=False)
class System:
    """A tool that is ready to search one tree."""

    name: str
    about: str  # version and manner, for reports
    search: Callable[[str, int], list[SearchResult]] = field(repr=False)

    def __call__(self, query: str, k: int) -> list[SearchResult]:
        """Return the best results, best first."""
        return self.search(query, k)


@contextmanager
def open_index(place: Index | str | Path, exclude: Iterable[str] = ()) -> Iterator[Index]:
    """Give an index as it is, or a temporary one of a folder."""
    if isinstance(place, Index):
        yield place
        return
    with tempfile.TemporaryDirectory(prefix="dowse-eval-") as folder:
        settings = {"exclude": tuple(exclude), "index_dir": folder, "encoder": "none", "refresh": "never"}
        with Index.open(place, **settings) as index:
            index.update()
            yield index
