"""The writer of a local index: makes the generation after the one that readers see."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from dowse.storage.local import layout
from dowse.storage.local.catalog import Catalog
from dowse.storage.local.graph_tables import GraphTables
from dowse.storage.local.integrity import COMMIT, Integrity, encode_commit, read_commit
from dowse.storage.local.page_sums import PageSums
from dowse.storage.local.text_sums import TEXT_SUMS, Sums, encode_sums, measure_text
from dowse.types import DeferredFile, FileFingerprint, FileRecord, GraphPart


class LocalWriter:
    """Implements `Writer`: nobody sees the generation before `commit`."""

    def __init__(
        self,
        folder: Path,
        catalog: Catalog,
        integrity: Integrity,
        *,
        start_over: bool = False,
        replace_text: bool = False,
    ) -> None:
        """Begin after the last generation, or without its content; damage is refused."""
        self._folder = folder
        self._start_over = start_over
        self._catalog = catalog
        self._base = catalog.generation()
        self._integrity = integrity
        self._text_sums: Sums = {}
        self._page_sums: PageSums | None = None
        catalog.keep_log()
        if self._base:
            self._page_sums = integrity.refuse_damage(catalog, self._base, ignore_text=replace_text)
            self._text_sums = {} if replace_text else integrity.text_sums(catalog)
        self._commit = self._summed = read_commit(catalog.meta()) or 0
        self._fulltext: Any = None
        self._has_changed_files = False
        self._buffer_bytes = 0
        # Of a killed writer:
        layout.remove_unfinished(folder)
        layout.remove_other_generations(folder, self._base)
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

    def limit_buffers(self, size: int) -> None:
        """Let the text indexes fill about so many bytes before they write them."""
        self._buffer_bytes = size

    def put(self, record: FileRecord) -> None:
        """Add a file, or replace the one with its key."""
        self._begin()
        self._has_changed_files = True
        before = self._catalog.delete_file(record.key, replacement=record)
        if before is not None:
            self._fulltext.delete(before.file_id)
        file_id, rows = self._catalog.put_file(record, before)
        self._fulltext.put(record, file_id, rows)

    def delete(self, key: str) -> None:
        """Remove a file."""
        self._begin()
        self._has_changed_files = True
        before = self._catalog.delete_file(key)
        if before is not None:
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
        self._fulltext.put_trigrams(file_id, text.decode())

    def touch(self, key: str, size: int, mtime_ns: int) -> None:
        """Record new size and time of a file with the same content."""
        self._begin_catalog()
        self._catalog.touch_file(key, size, mtime_ns)

    def set_skipped(self, skipped: Iterable[tuple[str, str]]) -> None:
        """Replace the list of skipped paths."""
        self._begin_catalog()
        self._catalog.set_skipped(skipped)

    def replace_text(self, files: Iterable[tuple[int, Sequence[int], FileRecord]]) -> None:
        """Write the text indexes anew, of files given as id, rows of the symbols, and record; and commit.

        For a writer that was made to do so: it has not looked at the text indexes that there are.
        """
        from dowse.storage.local.fulltext import FulltextWriter

        self._begin_catalog()
        folder = layout.clone_generation(self._folder, 0, self._base + 1)
        self._fulltext = FulltextWriter(folder, create=True, buffer_bytes=self._buffer_bytes)
        for file_id, rows, record in files:
            self._fulltext.put(record, file_id, rows)
        self.commit({})

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
            self._fulltext.commit()
            generation += 1
            layout.sync_generation(self._folder, generation)
            before = {} if self._start_over else self._text_sums
            self._text_sums = measure_text(layout.generation_path(self._folder, generation), before)
        sums = {COMMIT: encode_commit(self._commit + 1), TEXT_SUMS: encode_sums(self._text_sums)}
        self._catalog.commit(generation, {**meta, **sums}, self._save_sums)
        self._base, self._fulltext, self._has_changed_files = generation, None, False
        self._start_over = False
        layout.remove_other_generations(self._folder, generation)
        self._integrity.trust(generation, self._text_sums)
        return generation

    def _save_sums(self) -> None:
        self._commit = read_commit(self._catalog.meta()) or 0
        self._page_sums = self._integrity.save_sums(self._page_sums, self._commit)
        self._summed = self._commit

    def close(self) -> None:
        """Roll back what was not committed, whatever state a failure left it in."""
        fulltext, self._fulltext = self._fulltext, None
        try:
            # tantivy raises if a commit has failed; its files are removed below.
            with contextlib.suppress(RuntimeError, ValueError):
                if fulltext is not None:
                    fulltext.abort()
            self._catalog.rollback()
            # Interrupted between the commit and its checksums: closing has the log checkpointed.
            if (read_commit(self._catalog.meta()) or 0) != self._summed:
                self._save_sums()
            # Interrupted right after the commit, this writer may not know that the generation is in use.
            if self._catalog.generation() == self._base:
                layout.remove_generation(self._folder, self._base + 1)
        finally:
            self._catalog.close()

    def _begin(self) -> None:
        self._begin_catalog()
        if self._fulltext is None:
            from dowse.storage.local.fulltext import FulltextWriter

            base = 0 if self._start_over else self._base
            folder = layout.clone_generation(self._folder, base, self._base + 1)
            try:
                self._fulltext = FulltextWriter(folder, create=not base, buffer_bytes=self._buffer_bytes)
            except ValueError as error:  # what tantivy raises for anything it can't read
                raise layout.unavailable_error(self._folder, error) or layout.damage_error(
                    self._folder, error
                ) from error

    def _begin_catalog(self) -> None:
        if not self._catalog.in_transaction:
            self._catalog.begin()
