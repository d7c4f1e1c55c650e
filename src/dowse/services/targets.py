"""From what a request names to the symbol: by id, by place or by name, in one index or in all."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from dowse.errors import DowseError, IndexMissing
from dowse.formats.json_format import symbol_to_json
from dowse.interfaces.http.problems import AmbiguousAcross
from dowse.services.indexes import Place, Places
from dowse.storage.protocol import Reader
from dowse.symbol_lookup import AmbiguousName, UnknownName, resolve, resolve_all
from dowse.types import SymbolRow


class Found(NamedTuple):
    """A symbol, and the index that holds it, open for reading."""

    place: Place
    reader: Reader
    row: SymbolRow


@contextlib.contextmanager
def found(places: Places, index: str | None, target: str) -> Iterator[Found]:
    """Give the one symbol that a request names; raise if there is none, or more than one."""
    place = _home(places, index, target)
    with place.index.backend.reader() as reader:
        yield Found(place, reader, row_of(place, reader, target))


def row_of(place: Place, reader: Reader, target: str) -> SymbolRow:
    """Return the symbol of one index that a text names."""
    known = place.names.row_of(reader, target)
    if known is not None:
        return known
    with _naming_index(place):
        return resolve(reader, target)


def rows_of(place: Place, reader: Reader, target: str) -> Sequence[SymbolRow]:
    """Return the same with its overloads, and the later parts of a long one."""
    known = place.names.row_of(reader, target)
    if known is None:
        with _naming_index(place):
            return resolve_all(reader, target)
    check_symbol(known)
    same = (known.qualified_name, known.signature)
    here = reader.rows_of_files([known.file_id])
    return [row for row in here if (row.qualified_name, row.signature) == same]


def check_symbol(row: SymbolRow) -> None:
    """Refuse a file as a whole where a symbol is asked about."""
    if not row.row:
        raise UnknownName("this is a file as a whole; name a symbol in it")


def _home(places: Places, index: str | None, target: str) -> Place:
    """Return the index that holds what is named; raise if several do."""
    chosen = places.chosen(index)
    if len(chosen) == 1:
        return chosen[0]
    homes: list[tuple[Place, SymbolRow]] = []
    problem: DowseError = UnknownName(f"no symbol is called {target}; search for what comes nearest")
    for place in chosen:
        try:
            with place.index.backend.reader() as reader:
                homes.append((place, row_of(place, reader, target)))
        except AmbiguousName as error:
            homes.append((place, error.candidates[0]))
        except (UnknownName, IndexMissing) as error:
            problem = error
    if not homes:
        raise problem
    if len(homes) > 1:
        names = ", ".join(place.name for place, _ in homes)
        candidates = [{**symbol_to_json(row), "index": place.name} for place, row in homes]
        raise AmbiguousAcross(f"{target} is in {names}; name one with `index`", candidates)
    return homes[0][0]


@contextlib.contextmanager
def _naming_index(place: Place) -> Iterator[None]:
    """Let an error about a name say which index it is about."""
    try:
        yield
    except AmbiguousName as error:
        error.index = place.name  # type: ignore[attr-defined]
        raise
