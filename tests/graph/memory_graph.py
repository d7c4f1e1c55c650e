"""A graph in memory: what walks need of an index, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase

from dowse.types import Edge, SymbolRanges, SymbolRow


def symbol(
    row: int,
    qualified_name: str = "",
    *,
    kind: str = "function",
    path: str = "src/app.py",
    role: str = "",
    language: str = "python",
    line: int = 0,
    signature: str = "",
) -> SymbolRow:
    """Return a symbol; its file is known by its path."""
    name = qualified_name or f"f{row}"
    start = line or row
    return SymbolRow(
        *(row, f"id-{row}", "acme/shop", path, language, role, kind, name.rpartition(".")[2], name),
        *(start, start, signature or f"def {name}()", file_number(path)),
    )


def file_number(path: str) -> int:
    return sum(ord(char) * 7**at for at, char in enumerate(path)) % 1_000_003


def edge(
    source: int,
    target: int,
    kind: str = "calls",
    confidence: str = "resolved",
    candidates: int = 1,
    line: int = 1,
) -> Edge:
    return Edge(kind, source, target, 1, line, 0, confidence, candidates)


class MemoryGraph:
    """Symbols and edges, with the methods of a `Reader` that the graph's functions call."""

    generation = 1
    is_complete = is_linked = True
    is_corpus = False

    def __init__(self, symbols: Iterable[SymbolRow], edges: Iterable[Edge]) -> None:
        self._symbols = {row.row: row for row in symbols}
        self._edges = [edge._replace(file_id=self._symbols[edge.source].file_id) for edge in edges]

    def edges(
        self, rows: Sequence[int], kinds: Sequence[str] = (), incoming: bool = False, limit: int = 10_000
    ) -> list[Edge]:
        wanted = set(rows)
        found = [
            edge
            for edge in self._edges
            if (edge.target if incoming else edge.source) in wanted and (not kinds or edge.kind in kinds)
        ]
        return found[:limit]

    def rows(self, rows: Sequence[int]) -> list[SymbolRow]:
        return [self._symbols[row] for row in rows if row in self._symbols]

    def rows_of_files(self, file_ids: Sequence[int]) -> list[SymbolRow]:
        rows = [row for row in self._symbols.values() if row.file_id in set(file_ids)]
        return sorted(rows, key=lambda row: (row.file_id, row.start_line))

    def names_of_files(self, file_ids: Sequence[int]) -> list[SymbolRow]:
        return []

    def file_rows(self, file_ids: Sequence[int]) -> list[SymbolRow]:
        first = {row.file_id: row for row in self._symbols.values()}
        return [first[number]._replace(row=0, kind="file") for number in file_ids]

    def files(self) -> list[SymbolRow]:
        return self.file_rows(sorted({row.file_id for row in self._symbols.values()}))

    def files_with_suffix(self, ending: str) -> list[SymbolRow]:
        return [row for row in self.files() if f"/{row.path}".endswith(f"/{ending}")]

    def lookup(
        self, pattern: str, limit: int, *, is_unqualified: bool = False, with_names: bool = False
    ) -> list[SymbolRow]:
        rows = [
            row
            for row in self._symbols.values()
            if fnmatchcase(row.name, pattern)
            or (not is_unqualified and fnmatchcase(row.qualified_name, pattern))
        ]
        return rows[:limit]

    def rows_named(self, names: Sequence[str], limit: int, *, with_names: bool = False) -> list[SymbolRow]:
        return [row for row in self._symbols.values() if row.name in names][:limit]

    # Files without text: no name is mentioned in them.

    def trigram_candidates(self, trigrams: object, limit: int | None = None) -> list[int]:
        return []

    def texts(self, file_ids: Sequence[int]) -> Iterator[tuple[int, bytes]]:
        return iter(())

    def skipped(self) -> list[tuple[str, str]]:
        return []

    def symbol_ranges(self, file_ids: Sequence[int]) -> Iterator[tuple[int, SymbolRanges]]:
        return iter(())
