"""One server with two indexes for all tests that only read."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dowse import Index
from interfaces.http.running import Running, running

from helpers import index_tree

INN = {
    "inn/rooms.py": '''"""Rooms of an inn."""


class Room:
    """A room that guests sleep in."""

    def clean(self) -> None:
        """Sweep the floor and change the sheets."""
        sweep(self)


def sweep(room: Room) -> None:
    """Sweep the floor of a room."""


def evening(rooms: list[Room]) -> None:
    """Clean every room before the night."""
    for room in rooms:
        room.clean()
''',
    "inn/bread.py": "def buy_bread(count):\n    return count\n",
    "logo.png": b"\x89PNG\x00\x00",
}


@pytest.fixture(scope="session")
def inn(tmp_path_factory: pytest.TempPathFactory) -> Index:
    """A small tree, searched by words alone."""
    return index_tree(tmp_path_factory.mktemp("inn") / "inn", INN, refresh="never")


@pytest.fixture(scope="session")
def server(bakery: Index, inn: Index) -> Iterator[Running]:
    """A server with both."""
    with running([bakery, inn]) as run:
        yield run
