"""The indexes that a server answers from, each under a name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dowse.index import Index
from dowse.interfaces.http.problems import NotFound
from dowse.security.terminal import escape_surrogates
from dowse.services.past_queries import Questions
from dowse.services.symbol_names import NameBook


@dataclass(frozen=True, slots=True)
class Place:
    """One index and what the server remembers about it."""

    name: str
    index: Index
    names: NameBook
    questions: Questions


class Places:
    """All indexes of a server, in the order they were named."""

    def __init__(self, indexes: Sequence[Index]) -> None:
        names = _unique_names([_usual_name(index) for index in indexes])
        self._places = {
            name: Place(name, index, NameBook(index.backend), Questions(index))
            for name, index in zip(names, indexes, strict=True)
        }

    def __iter__(self) -> Iterator[Place]:
        return iter(self._places.values())

    def __len__(self) -> int:
        return len(self._places)

    def get(self, name: str) -> Place:
        """Return the index of a name."""
        place = self._places.get(name)
        if place is None:
            known = ", ".join(self._places)
            raise NotFound(f"there is no index {name!r} here; there are {known}")
        return place

    def chosen(self, name: str | None) -> list[Place]:
        """Return the index of a name, or all if none is named."""
        return [self.get(name)] if name else list(self)

    def close(self) -> None:
        """Let go of files, and end the processes of lanes."""
        for place in self:
            place.index.close()


def _usual_name(index: Index) -> str:
    """Return the name of the folder, or of an index that many share."""
    if index.is_shared:
        return index.settings.backend.partition("?")[0].rpartition("/")[2]
    return escape_surrogates(index.root.name) or "root"


def _unique_names(wanted: Sequence[str]) -> list[str]:
    """Return the names with a number behind those that were taken."""
    taken: dict[str, None] = {}
    for name in wanted:
        number, free = 2, name
        while free in taken:
            free, number = f"{name}-{number}", number + 1
        taken[free] = None
    return list(taken)
