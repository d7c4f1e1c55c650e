"""The index in a local folder: SQLite catalog, tantivy and vectors; the catalog names the generation."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dowse.errors import DowseError, IndexDamaged, IndexMissing, IndexOutdated, IndexUnavailable
from dowse.storage.local import layout
from dowse.storage.local.catalog import Catalog
from dowse.storage.local.damage import catalog_damage, derived_damage, vector_damage
from dowse.storage.local.integrity import Doubts, Integrity
from dowse.storage.local.reader import LocalReader
from dowse.storage.local.vectors import EMBEDDED, GenerationVectors, LocalVectors, LocalVectorWriter
from dowse.storage.local.writer import LocalWriter
from dowse.storage.protocol import BrokenBlock, Damage, KnownVectors, OnWait
from dowse.vectors.embedding_progress import end_processes
from dowse.write_lock import lock_holder, write_lock

if TYPE_CHECKING:
    from dowse.storage.local.fulltext import FulltextReader
    from dowse.storage.local.text_sums import Sums
    from dowse.vectors.adapter import AdapterFacts, AdapterFile

# A reader may open a generation while it is replaced; each try sees a newer one.
_OPEN_TRIES = 20


class LocalBackend:
    """A folder that holds one index."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        # A snapshot belongs to one connection, so concurrent readers have one each. This is the pool.
        self._idle: list[Catalog] = []
        self._lock = threading.Lock()
        self._fulltext: tuple[object, FulltextReader, Sums] | None = None
        self._vectors = LocalVectors(folder)
        self._integrity = Integrity(folder)
        self._cleared = False  # then the folder was that of an index, whatever else is in it
        self._start_over = False  # whether the next writer begins without the content of the last generation

    @property
    def address(self) -> str:
        """Its absolute folder, whatever the working directory becomes."""
        return str(self.folder.absolute())

    def exists(self) -> bool:
        """Whether there is anything that `clear` would remove."""
        return self.folder.is_dir()

    def has_generation(self) -> bool:
        """Whether there is an index to read; also if it is damaged, but not while the first is being made.

        One of an older format is as good as none: the next update rebuilds it.
        """
        if not layout.catalog_path(self.folder).exists():
            return False
        try:
            with self._catalog() as catalog:
                return catalog.generation() > 0
        except (IndexMissing, IndexOutdated):
            return False
        except DowseError:
            return self.writer_process() is None

    @contextlib.contextmanager
    def reader(self) -> Iterator[LocalReader]:
        """Open the newest generation for reading."""
        doubts: Doubts = []
        for attempt in range(_OPEN_TRIES):
            with self._catalog() as catalog, catalog.snapshot() as generation:
                if not generation:
                    raise IndexMissing(f"the index in {self.folder} is empty; run `dowse index` first")
                is_last = attempt == _OPEN_TRIES - 1
                state = self._integrity.check_catalog(catalog, doubts)
                if state is not None and state.problem:
                    raise layout.damage_error(self.folder, state.problem)
                fulltext = self._open_fulltext(catalog, generation, doubts, is_last) if state else None
                if state is None or fulltext is None:
                    continue
                yield LocalReader(self.folder, generation, catalog, fulltext, self._vectors, state)
                return
        raise IndexUnavailable("the index changes faster than it can be read; try again")

    @contextlib.contextmanager
    def writer(
        self, wait: float | None = None, on_wait: OnWait = None, *, replace_text: bool = False
    ) -> Iterator[LocalWriter]:
        """Hold the write lock and start the next generation."""
        if not self._cleared:
            layout.refuse_foreign_folder(self.folder)
        with (
            self._translate_write_errors(),
            write_lock(self.folder, wait, on_wait or (lambda _: None)),
            self._translate_errors(),
        ):
            layout.refuse_links(self.folder)
            layout.tag_new_index(self.folder)
            is_new = not layout.catalog_path(self.folder).exists()
            catalog = Catalog.open_for_writing(layout.catalog_path(self.folder))
            start_over, self._start_over = self._start_over, False
            writer = self._make_writer(catalog, start_over, replace_text)
            try:
                yield writer
                if start_over:
                    self._remove_derived(wait, on_wait)
            finally:
                with contextlib.suppress(sqlite3.Error):
                    is_new = is_new and not catalog.generation()
                writer.close()
                if is_new:  # nothing was committed: leave nothing behind but vectors of an earlier index
                    layout.remove_index(self.folder, [folder.name for folder in self._vectors.folders()])

    def _make_writer(self, catalog: Catalog, start_over: bool, replace_text: bool) -> LocalWriter:
        try:
            return LocalWriter(
                *(self.folder, catalog, self._integrity), start_over=start_over, replace_text=replace_text
            )
        except BaseException:
            catalog.close()
            raise

    def set_known_vectors(self, known: KnownVectors | None) -> None:
        """Do nothing: vectors are not part of what a writer writes."""

    def check_vectors(self, encoder: str, dimension: int) -> None:
        """Raise DowseError if vectors of another size are there, or damaged ones."""
        from dowse.vectors.matrix import Matrix

        layout.refuse_links(self.folder)
        Matrix.open(self._vectors.folder(encoder), dimension)

    @contextlib.contextmanager
    def vector_writer(
        self, encoder: str, dimension: int, wait: float | None = None, on_wait: OnWait = None
    ) -> Iterator[LocalVectorWriter]:
        """Hold the write lock of the vectors of an encoder."""
        from dowse.vectors.writer import matrix_writer

        @contextlib.contextmanager
        def read() -> Iterator[tuple[int, GenerationVectors]]:
            with self._catalog() as catalog, catalog.snapshot() as generation:
                yield generation, self._vectors.load(encoder, generation, catalog)

        folder = self._vectors.folder(encoder)
        layout.refuse_links(self.folder)
        with matrix_writer(folder, dimension, wait, on_wait or (lambda _: None)) as writer:
            vectors = LocalVectorWriter(writer, read)
            try:
                yield vectors
            finally:
                vectors.save_counts()

    def adapter_store(self, encoder: str) -> AdapterFile:
        """Return the file of the query adapter."""
        from dowse.vectors.adapter import AdapterFile

        return AdapterFile(layout.derived_folder(self.folder), encoder)

    def adapter_facts(self, encoder: str) -> dict[str, AdapterFacts | None]:
        """Return nothing: a folder has one source."""
        return {}

    def start_over(self, wait: float | None = None, on_wait: OnWait = None) -> None:
        """Let the next writer replace the index; one that is damaged or of another format is removed."""
        if not self.folder.exists():
            return
        self.close()  # what is open may be from before another version wrote here
        try:
            self._start_over = not self._base_damage() and self._is_sound()
        except DowseError:
            self._start_over = False
        if not self._start_over:  # vectors belong to no generation: those that are intact stay
            wrong = {each.name for each in vector_damage(self.folder) if each.part == "vectors"}
            kept = {folder.name for folder in self._vectors.folders()} - wrong
            self.clear(wait, on_wait, keep_vectors=kept)

    def _remove_derived(self, wait: float | None, on_wait: OnWait) -> None:
        """Remove vectors and caches, damaged or not: most vectors come back from the cache of all indexes."""
        import shutil

        self._vectors.close()
        end_processes(layout.derived_folder(self.folder))
        on_wait = on_wait or (lambda _: None)
        for folder in self._vectors.folders():
            with write_lock(folder, wait, on_wait):
                layout.remove_vectors(folder)
        for folder in layout.derived_folders(self.folder):
            with write_lock(folder, wait, on_wait):
                shutil.rmtree(folder, ignore_errors=True)

    def clear(
        self, wait: float | None = 0.0, on_wait: OnWait = None, *, keep_vectors: Collection[str] = ()
    ) -> None:
        """Remove the index, and nothing else that may be in its folder; vectors of some encoders may stay."""
        self.close()
        layout.refuse_links(self.folder)
        layout.refuse_foreign_folder(self.folder)
        end_processes(layout.derived_folder(self.folder))
        on_wait = on_wait or (lambda _: None)
        with contextlib.ExitStack() as locks:
            locks.enter_context(write_lock(self.folder, wait, on_wait))
            # Another process may be writing to one of them.
            for folder in (*self._vectors.folders(), *layout.derived_folders(self.folder)):
                locks.enter_context(write_lock(folder, wait, on_wait))
            layout.remove_index(self.folder, keep_vectors)
        self._cleared = True

    def close(self) -> None:
        """Close files; the next reader opens them again."""
        with self._lock:
            idle, self._idle, self._fulltext = self._idle, [], None
        self._vectors.close()
        for catalog in idle:
            catalog.close()

    def check(self) -> list[str]:
        """Return what is wrong with the index; reads every byte."""
        problems = [each.reason for each in self.damage() if each.part != "derived"]
        if problems:
            return problems
        with self.reader() as reader:
            return reader.check()

    def _is_sound(self) -> bool:
        with self.reader() as reader:
            return not reader.check()

    def damage(self) -> list[Damage]:
        """Return which parts are not what was written; reads every byte."""
        return [*self._base_damage(), *vector_damage(self.folder), *derived_damage(self.folder)]

    def _base_damage(self) -> list[Damage]:
        doubts: Doubts = []
        try:
            for _ in range(_OPEN_TRIES):
                with self._catalog() as catalog, catalog.snapshot() as generation:
                    found = catalog_damage(self._integrity, catalog, doubts) if generation else []
                if found is not None and (not found or (doubts and doubts[-1] == found)):
                    return found
                doubts.append(found)  # or a newer generation has replaced this one
        except IndexDamaged as error:
            return [Damage("catalog", str(error).partition("; run ")[0])]
        raise IndexUnavailable("the index changes faster than it can be read; try again")

    @contextlib.contextmanager
    def text_writer(self, wait: float | None = None) -> Iterator[LocalWriter]:
        """Hold the write lock, to replace text indexes that are damaged."""
        with self.writer(wait, replace_text=True) as writer:
            yield writer

    def remove_derived(self, name: str) -> None:
        """Remove a damaged file of what is derived from the index, or from the vectors of an encoder."""
        encoder, _, file = name.partition("/")
        folder = self._vectors.folder(encoder) if (self.folder / layout.VECTORS / encoder).is_dir() else None
        path = folder / file if folder and file else layout.derived_folder(self.folder) / name
        self._vectors.close()
        with write_lock(path.parent, None, lambda _: None):
            path.unlink(missing_ok=True)
            if path.parent == folder:  # else the clusters count as fitted
                (folder / EMBEDDED).unlink(missing_ok=True)

    def health(self, *, fields: bool = False) -> dict[str, Any]:
        """Return nothing: only a cluster has a health."""
        return {}

    def writer_process(self) -> int | None:
        """Return the id of the process that holds the write lock, if any."""
        return lock_holder(self.folder)

    def size(self) -> int:
        """Return the bytes that the index takes on disk."""
        total = 0
        for folder, _, names in os.walk(self.folder):
            for name in names:
                with contextlib.suppress(OSError):  # a writer has just removed it
                    total += Path(folder, name).stat().st_size
        return total

    @contextlib.contextmanager
    def _catalog(self) -> Iterator[Catalog]:
        """Take a connection from the pool for exclusive use."""
        with self._translate_errors():
            catalog = self._take()
            try:
                yield catalog
            except (sqlite3.DatabaseError, BrokenBlock) as error:
                catalog.close()
                if catalog.is_immutable and not catalog.is_current():
                    raise IndexUnavailable("the index was changed meanwhile; search again") from error
                raise
            except BaseException:
                self._give_back(catalog)
                raise
            self._give_back(catalog)

    def _give_back(self, catalog: Catalog) -> None:
        with self._lock:
            self._idle.append(catalog)

    def _take(self) -> Catalog:
        while True:
            with self._lock:
                catalog = self._idle.pop() if self._idle else None
            if catalog is None:
                layout.refuse_links(self.folder)
                return Catalog.open_for_reading(layout.catalog_path(self.folder))
            if catalog.is_current():
                return catalog
            # The index was removed, and perhaps rebuilt; its inode number may be reused, so what is cached
            # under it is dropped first.
            self._fulltext = None
            catalog.close()

    def _open_fulltext(
        self, catalog: Catalog, generation: int, doubts: Doubts, last_try: bool
    ) -> FulltextReader | None:
        """Return the tantivy indexes of a generation; None if they are being replaced."""
        opened, wanted = self._fulltext, (catalog.identity, generation)
        if opened is None or opened[0] != wanted:
            opened = None
        sums = opened[2] if opened else self._integrity.text_sums(catalog)
        problems = self._integrity.text_problems(generation, sums)
        if problems:
            if last_try or (wanted, problems) in doubts:
                raise layout.damage_error(self.folder, problems[0])
            doubts.append((wanted, problems))  # or a newer generation has replaced this one
            return None
        if opened:
            return opened[1]
        from dowse.storage.local.fulltext import FulltextReader  # loads tantivy

        try:
            fulltext = FulltextReader(layout.generation_path(self.folder, generation))
        except (ValueError, OSError) as error:
            if not last_try:
                return None
            raise layout.unavailable_error(self.folder, error) or layout.damage_error(
                self.folder, error
            ) from error
        # tantivy opens without some files, if a writer has just removed them, and fails later.
        if not last_try and self._integrity.text_problems(generation, sums):
            return None
        self._fulltext = (wanted, fulltext, sums)
        return fulltext

    @contextlib.contextmanager
    def _translate_errors(self) -> Iterator[None]:
        """Turn errors of SQLite and of decompression into errors that name the remedy."""
        try:
            yield
        except (sqlite3.DatabaseError, BrokenBlock) as error:
            raise layout.unavailable_error(self.folder, error) or layout.damage_error(
                self.folder, error
            ) from error

    @contextlib.contextmanager
    def _translate_write_errors(self) -> Iterator[None]:
        """Turn errors of the system and of tantivy, such as a full disk, into errors that name the remedy."""
        try:
            yield
        except DowseError:
            raise
        except (OSError, ValueError, RuntimeError) as error:  # the last two are what tantivy raises
            unavailable = layout.unavailable_error(self.folder, error)
            if unavailable is None:
                raise
            raise unavailable from error
