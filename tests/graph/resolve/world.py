"""A catalog without the rest of an index: files go in as text, edges come out by name."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path

from dowse.graph.link import link
from dowse.indexing.records import Source, make_record
from dowse.parsing.languages import detect_language
from dowse.storage.local.catalog import Catalog
from dowse.types import Edge

# kind, source, target, line, column, confidence, candidates; symbols as "path:qualified.name"
NamedEdge = tuple[str, str, str, int, int, str, int]


class World:
    """Some files and the graph between them."""

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog

    def put(self, path: str, text: str) -> None:
        """Add a file or replace it."""
        language = detect_language(path, text.encode()) or "text"
        source = Source(path, "acme/shop", path, language, "", len(text), 1, text, "utf-8", text)
        record = make_record(source, strip_docs=False)
        before = self.catalog.delete_file(path, replacement=record)
        self.catalog.put_file(record, before)

    def delete(self, path: str) -> None:
        """Remove a file."""
        self.catalog.delete_file(path)

    def link(self) -> int:
        """Bring the graph up to date; return how many files that took."""
        return link(self.catalog.graph)

    def rows(self) -> dict[int, str]:
        """The names of all symbols."""
        query = (
            "SELECT s.id, f.path, iif(s.qualified_name = '', s.name, s.qualified_name), s.key"
            " FROM symbols s JOIN files f ON f.id = s.file_id"
        )
        found = self.catalog._db.execute(query).fetchall()
        self.keys = {row: key for row, _, _, key in found}
        return {row: f"{path}:{name}" for row, path, name, _ in found}

    def edges(self, incoming: bool = False) -> list[Edge]:
        """Every edge, as the reader gives them."""
        return self.catalog.graph.edges(list(self.rows()), (), incoming, 1 << 30)

    def named_edges(self, kind: str = "") -> list[NamedEdge]:
        """Every edge by names, in order."""
        names = self.rows()
        return [
            (e.kind, names[e.source], names[e.target], e.line, e.column, e.confidence, e.candidates)
            for e in self.edges()
            if not kind or e.kind == kind
        ]

    def by_key(self, incoming: bool = False) -> list[tuple[object, ...]]:
        """Every edge by the keys of its symbols: what must not depend on history."""
        edges = self.edges(incoming)
        return sorted(
            (self.keys[e.source], self.keys[e.target], e.kind, e.line, e.column, e.confidence, e.candidates)
            for e in edges
        )

    def calls(self) -> set[str]:
        """The calls, as "source -> target", with the confidence unless resolved."""
        marks = {
            "resolved": "",
            "unique": " (unique)",
            "possible": " (possible)",
            "ambiguous": " (ambiguous)",
        }
        return {f"{edge[1]} -> {edge[2]}{marks[edge[5]]}" for edge in self.named_edges("calls")}


@contextlib.contextmanager
def world(folder: Path, files: Mapping[str, str] | None = None) -> Iterator[World]:
    """Open an empty world, or one with these files, linked."""
    catalog = Catalog.open_for_writing(folder / "catalog.sqlite")
    try:
        catalog.begin()
        made = World(catalog)
        for path, text in (files or {}).items():
            made.put(path, text)
        made.link()
        yield made
    finally:
        catalog.rollback()
        catalog.close()
