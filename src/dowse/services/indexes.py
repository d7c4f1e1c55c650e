"""The indexes of a server, each under a name."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from dowse.index import Index
from dowse.security.terminal import escape_surrogates
from dowse.services.errors import NotFound
from dowse.services.past_queries import PastQueries
from dowse.services.symbol_names import NameCache


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
