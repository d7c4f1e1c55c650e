"""The indexes of a server, each under a name."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from dowse.errors import DowseError
from dowse.index import Index
from dowse.security.terminal import escape_surrogates
from dowse.services.errors import NotFound
from dowse.services.symbol_names import NameCache

# Feedback counts that are read, most chosen first.
_MAX_COUNTS = 2_000


class PastQueries:
    """The queries of one index that have feedback, and how often a hit of theirs was chosen."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._counts: Sequence[tuple[str, int]] = ()

    def cached(self) -> Sequence[tuple[str, int]]:
        """Return what was read last."""
        return self._counts

    def refresh(self) -> None:
        """Read them again, after feedback was recorded or deleted."""
        counts: dict[str, int] = {}
        try:
            for count in self._index.feedback.counts(limit=_MAX_COUNTS):
                counts[count.query] = counts.get(count.query, 0) + count.chosen
        except DowseError:  # then there is nothing to suggest; requests for feedback itself report the error
            counts = {}
        self._counts = [(query, chosen) for query, chosen in counts.items() if chosen]


@dataclass(frozen=True, slots=True)
class ServedIndex:
    """One index, and what the server caches of it."""

    name: str
    index: Index
    names: NameCache
    past_queries: PastQueries

    @classmethod
    def create(cls, name: str, index: Index) -> ServedIndex:
        """Serve an index under a name."""
        return cls(name, index, NameCache(index.backend), PastQueries(index))


class ServedIndexes:
    """Indexes by name, in the order they were given."""

    def __init__(self, indexes: Iterable[ServedIndex]) -> None:
        self._by_name = {served.name: served for served in indexes}

    @classmethod
    def create(cls, indexes: Sequence[Index]) -> ServedIndexes:
        """Serve some indexes, each under the name of its folder."""
        names: list[str] = []
        for index in indexes:
            names.append(unique_name(_default_name(index), names))
        return cls(ServedIndex.create(name, index) for name, index in zip(names, indexes, strict=True))

    def __iter__(self) -> Iterator[ServedIndex]:
        return iter(self._by_name.values())

    def __len__(self) -> int:
        return len(self._by_name)

    def get(self, name: str) -> ServedIndex:
        """Return the index with a name."""
        served = self._by_name.get(name)
        if served is None:
            known = ", ".join(self._by_name)
            raise NotFound(f"there is no index {name!r} here; there are {known}")
        return served

    def select(self, name: str | None) -> list[ServedIndex]:
        """Return the index with a name, or all without one."""
        return [self.get(name)] if name else list(self)

    def close(self) -> None:
        """Close files, and end the processes of lanes."""
        for served in self:
            served.index.close()


def _default_name(index: Index) -> str:
    """Return the name of the folder, or of a shared index."""
    if index.is_shared:
        return index.settings.backend.partition("?")[0].rpartition("/")[2]
    return escape_surrogates(index.root.name) or "root"


def unique_name(wanted: str, taken: Collection[str]) -> str:
    """Return a name, with a number appended if it is taken."""
    name, number = wanted, 2
    while name in taken:
        name, number = f"{wanted}-{number}", number + 1
    return name
