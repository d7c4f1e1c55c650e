"""Resolve what a request names to a symbol: by id, location or name, in one index or in all."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

from dowse.errors import DowseError, IndexMissing
from dowse.graph.model import GraphAnswer
from dowse.graph.queries import query_relation_of
from dowse.json_form import json_form
from dowse.lazy_classes import NamedTuple, dataclass
from dowse.search.related import Related
from dowse.search.related import related as find_related
from dowse.services.errors import AmbiguousTarget
from dowse.services.indexes import ServedIndex, ServedIndexes
from dowse.storage.protocol import Reader
from dowse.symbol_lookup import AmbiguousName, UnknownName, resolve, resolve_all
from dowse.types import SymbolRow


class Target(NamedTuple):
    """A symbol, and the index that holds it, open for reading."""

    served: ServedIndex
    reader: Reader
    row: SymbolRow


@json_form(inline=("related",))
@dataclass(frozen=True, slots=True)
class RelatedPage:
    """The symbols nearest to one by embedding."""

    index: str
    related: Related


@json_form(inline=("answer",))
@dataclass(frozen=True, slots=True)
class GraphWalk:
    """The steps of a graph traversal, nearest first."""

    index: str
    answer: GraphAnswer


@contextlib.contextmanager
def open_target(
    indexes: ServedIndexes, index: str | None, target: str, *, names_at_lines: bool = False
) -> Iterator[Target]:
    """Give the one symbol that a request names; raise if there is none, or more than one.

    With `names_at_lines`, the location of a name means it, and not the symbol around it.
    """
    served = _index_of(indexes, index, target)
    with served.index.backend.reader() as reader:
        yield Target(served, reader, _resolve(served, reader, target, names_at_lines=names_at_lines))


def resolve_overloads(served: ServedIndex, reader: Reader, target: str) -> Sequence[SymbolRow]:
    """Return a symbol with its overloads, and the later parts of a long one."""
    known = served.names.find_symbol(reader, target)
    if known is None:
        with _naming_index(served):
            return resolve_all(reader, target)
    check_symbol(known)
    if known.row < 0:
        return [known]
    same = (known.qualified_name, known.signature)
    rows = reader.rows_of_files([known.file_id])
    return [row for row in rows if (row.qualified_name, row.signature) == same]


def walk(target: Target, relation: str, depth: int | None = None, k: int | None = None) -> GraphAnswer:
    """Walk a relation of the call graph from a symbol and its overloads."""
    seeds = resolve_overloads(target.served, target.reader, target.row.key)
    return query_relation_of(target.reader, relation, seeds, depth, k)


def related_to(target: Target, encoder_id: str, k: int) -> Related:
    """Return the symbols nearest to one by embedding, and its cluster."""
    check_symbol(target.row)
    method = target.served.index.settings.vectors
    return find_related(target.reader, encoder_id, target.row, k, method)


def check_symbol(row: SymbolRow) -> None:
    """Reject a whole file where a symbol is needed."""
    if not row.row:
        raise UnknownName("this is a file as a whole; name a symbol in it")


def _resolve(served: ServedIndex, reader: Reader, target: str, *, names_at_lines: bool = False) -> SymbolRow:
    known = served.names.find_symbol(reader, target)
    if known is not None:
        return known
    with _naming_index(served):
        return resolve(reader, target, names_at_lines=names_at_lines)


def _index_of(indexes: ServedIndexes, name: str | None, target: str) -> ServedIndex:
    """Return the index that holds what is named; raise if several do."""
    selected = indexes.select(name)
    if len(selected) == 1:
        return selected[0]
    candidates: list[tuple[str, SymbolRow]] = []
    problem: DowseError = UnknownName(f"no symbol is called {target}; search for similar names")
    for served in selected:
        try:
            with served.index.backend.reader() as reader:
                candidates.append((served.name, _resolve(served, reader, target)))
        except AmbiguousTarget as error:
            candidates.append(error.candidates[0])
        except (UnknownName, IndexMissing) as error:
            problem = error
    if not candidates:
        raise problem
    if len(candidates) > 1:
        names = ", ".join(name for name, _ in candidates)
        raise AmbiguousTarget(f"{target} is in {names}; name one with `index`", candidates)
    return indexes.get(candidates[0][0])


@contextlib.contextmanager
def _naming_index(served: ServedIndex) -> Iterator[None]:
    """Have an ambiguous name say which index its candidates are in."""
    try:
        yield
    except AmbiguousName as error:
        raise AmbiguousTarget(str(error), [(served.name, row) for row in error.candidates]) from error
