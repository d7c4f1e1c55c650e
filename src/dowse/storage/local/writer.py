"""The writer of a local index: makes the generation after the one that readers see."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from dowse.damage import translate_errors
from dowse.storage.local import layout
from dowse.storage.local.catalog import Catalog
from dowse.storage.local.graph_tables import GraphTables
from dowse.types import DeferredFile, FileFingerprint, FileRecord, GraphPart

# What tantivy raises for anything that it can't read or write.
_TEXT_ERRORS = (RuntimeError, ValueError)


class LocalWriter:
    """Implements `Writer`: nobody sees the generation before `commit`."""

    def __init__(self, folder: Path, catalog: Catalog, *, start_over: bool = False) -> None:
        """Begin after the last generation, or without its content."""
        self._folder = folder
        self._start_over = start_over
        self._catalog = catalog
        self._base = catalog.generation()
        self._fulltext: Any = None
        self._has_changed_files = False
        self._is_committing = False
        if layout.has_generations(folder, self._base):
            catalog.empty_log()  # see `close`
        layout.remove_other_generations(folder, self._base)  # of a killed writer
        if start_over:
            self._begin_catalog()
            catalog.empty()

    def fingerprints(self) -> dict[str, FileFingerprint]:
        """Return size, time and content hash of every file of the last generation."""
        return self._catalog.fingerprints()

    def skipped(self) -> list[tuple[str, str]]:
        """Return what the last generation skips."""
        return self._catalog.skipped()

    def meta(self) -> dict[str, str]:
        """Return the description of the last generation."""
        return self._catalog.meta()

    def put(self, record: FileRecord) -> None:
        """Add a file, or replace the one with its key."""
        self._begin()
        self._has_changed_files = True
        before = self._catalog.delete_file(record.key, replacement=record)
        file_id, rows = self._catalog.put_file(record, before)
        with self._text_errors():
            if before is not None:
                self._fulltext.delete(before.file_id)
            self._fulltext.put(record, file_id, rows)

    def delete(self, key: str) -> None:
        """Remove a file."""
        self._begin()
        self._has_changed_files = True
        before = self._catalog.delete_file(key)
        if before is not None:
            with self._text_errors():
                self._fulltext.delete(before.file_id)

    def graph(self) -> GraphTables:
        """Return what linking reads and writes."""
        self._begin_catalog()
        return self._catalog.graph

    def share_graph(self) -> str:
        """Return the path of the catalog once the files of this generation are committed."""
        return "" if self._has_changed_files else str(self._catalog.path.absolute())

    def deferred_files(self, limit: int) -> list[DeferredFile]:
        """Return some of the files whose references and trigrams are not stored yet."""
        return self._catalog.graph.deferred_files(limit)

    def complete_file(self, file_id: int, part: GraphPart) -> None:
        """Store the graph part and the trigrams of a deferred file."""
        self._begin()
        self._has_changed_files = True
        self._catalog.graph.complete_file(file_id, part)
        ((_, text),) = self._catalog.texts([file_id])
        with self._text_errors():
            self._fulltext.put_trigrams(file_id, text.decode())

    def touch(self, key: str, size: int, mtime_ns: int) -> None:
        """Record new size and time of a file with the same content."""
        self._begin_catalog()
        self._catalog.touch_file(key, size, mtime_ns)

    def set_skipped(self, skipped: Iterable[tuple[str, str]]) -> None:
        """Replace the list of skipped paths."""
        self._begin_catalog()
        self._catalog.set_skipped(skipped)

    def begin_generation(self) -> None:
        """Let the next commit be a new generation although no file changed."""
        self._begin()

    def commit(self, meta: Mapping[str, str]) -> int:
        """Make everything visible in one atomic commit.

        The text indexes are on disk, names included, before the catalog's transaction ends, so a reader that
        sees the new generation finds its folder, also after a power cut. `touch` and `set_skipped` alone keep
        the generation.
        """
        if self._start_over and meta.get("complete") == "0":
            return self._base  # a part does not replace the whole
        if not self._base or self._start_over:
            self._begin()  # an empty index is valid
        self._begin_catalog()
        generation = self._base
        if self._fulltext is not None:
            with self._text_errors():
                self._fulltext.commit()
            generation += 1
            layout.sync_generation(self._folder, generation)
        self._is_committing = True
        self._catalog.commit(generation, meta)
        self._is_committing = False
        self._base, self._fulltext, self._has_changed_files = generation, None, False
        self._start_over = False
        layout.remove_other_generations(self._folder, generation)
        return generation

    def close(self) -> None:
        """Roll back what was not committed, whatever state a failure left it in."""
        fulltext, self._fulltext = self._fulltext, None
        try:
            # tantivy raises if a commit has failed; its files are removed below.
            with contextlib.suppress(*_TEXT_ERRORS):
                if fulltext is not None:
                    fulltext.abort()
            self._catalog.rollback()
            # Interrupted right after the commit, this writer may not know that the generation is in use. A
            # commit whose sync failed is in the log, and the next process may find it there.
            is_logged = self._is_committing and not self._catalog.empty_log()
            if not is_logged and self._catalog.generation() == self._base:
                layout.remove_generation(self._folder, self._base + 1)
        finally:
            self._catalog.close()

    def _begin(self) -> None:
        self._begin_catalog()
        if self._fulltext is None:
            from dowse.storage.local.fulltext import FulltextWriter

            base = 0 if self._start_over else self._base
            folder = layout.clone_generation(self._folder, base, self._base + 1)
            with self._text_errors():
                self._fulltext = FulltextWriter(folder, create=not base)

    def _text_errors(self) -> AbstractContextManager[None]:
        """Return a context in which errors of tantivy become errors of dowse."""
        return translate_errors(self._folder, *_TEXT_ERRORS)

    def _begin_catalog(self) -> None:
        if not self._catalog.in_transaction:
            self._catalog.begin()
