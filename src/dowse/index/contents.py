"""`index.contents`: files and symbols of an index, and how they differ from the tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dowse.index.part import IndexPart, rebuilds
from dowse.types import StoredFile, Symbol, SymbolRow

if TYPE_CHECKING:
    from dowse.indexing.diff import Difference


class Contents(IndexPart):
    """What an index holds."""

    def files(self) -> list[StoredFile]:
        """Return every file of the index."""
        with self._index.backend.reader() as reader:
            return reader.files()

    @property
    @rebuilds
    def is_complete(self) -> bool:
        """Whether all files were read: of a large tree, a first search leaves most to the background."""
        with self._index.backend.reader() as reader:
            return reader.is_complete

    @rebuilds
    def file_count(self) -> int:
        """Return how many files the index holds."""
        with self._index.backend.reader() as reader:
            return reader.counts()["files"]

    def files_with_problems(self) -> list[StoredFile]:
        """Return the files that have a problem, such as no syntax tree."""
        with self._index.backend.reader() as reader:
            return reader.files_with_problems()

    def skipped(self) -> list[tuple[str, str]]:
        """Return the files that are left out, and why."""
        with self._index.backend.reader() as reader:
            return reader.skipped()

    def symbol(self, row: SymbolRow) -> Symbol:
        """Return a symbol with its text."""
        with self._index.backend.reader() as reader:
            return reader.symbols([row])[0]

    def lines(self, symbol: Symbol) -> dict[int, str]:
        """Return the lines of the file that holds a symbol, by number; of a corpus, those of the symbol."""
        with self._index.backend.reader() as reader:
            files = () if reader.is_corpus else reader.files_with_suffix(symbol.path)
            same = [file for file in files if (file.repo, file.path) == (symbol.repo, symbol.path)]
            if not same:
                return dict(symbol.numbered_lines)
            text = reader.text(same[0].file_id)
        lines = text.decode("utf-8", "replace").split("\n")
        return {number: line.rstrip("\r") for number, line in enumerate(lines, 1)}

    @rebuilds
    def changes(self, *, exact: bool = False) -> Difference:
        """Compare the files with the index without changing it.

        Args:
            exact: Read the files whose time alone is new or can't be trusted, and leave out those whose
                content is the same.
        """
        from dowse.indexing.diff import Difference, difference, drop_unchanged
        from dowse.source.corpus import is_corpus

        index = self._index
        if is_corpus(index.root):
            return Difference()  # a corpus is compared by content, which only an update reads
        with index.backend.reader() as reader:
            if index.is_shared and "root" not in reader.meta():
                return Difference()  # this folder is not in the shared index
            changes = difference(index.root, reader, index.settings)
        return drop_unchanged(changes) if exact else changes
