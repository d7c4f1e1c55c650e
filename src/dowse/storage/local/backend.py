"""The index in a local folder: SQLite catalog, tantivy and vectors; the catalog names the generation."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dowse.damage import CATALOG_ERRORS, READ_ERRORS, damage_error, translate_errors, unavailable_error
from dowse.errors import DowseError, IndexDamaged, IndexMissing, IndexOutdated, IndexUnavailable, QueryError
from dowse.storage.local import layout
from dowse.storage.local.catalog import Catalog
from dowse.storage.local.reader import LocalReader
from dowse.storage.local.vectors import GenerationVectors, LocalVectors, LocalVectorWriter
from dowse.storage.protocol import KnownVectors, OnWait
from dowse.vectors.embedding_progress import EmbeddingFolder
from dowse.write_lock import lock_holder, write_lock

if TYPE_CHECKING:
    from dowse.storage.local.fulltext import FulltextReader
    from dowse.storage.local.writer import LocalWriter

# A reader may open a generation while it is replaced; each try sees a newer one.
_OPEN_TRIES = 20


class LocalBackend:
    """A folder that holds one index."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        # A snapshot belongs to one connection, so concurrent readers have one each. This is the pool.
        self._idle: list[Catalog] = []
        self._lock = threading.Lock()
        self._fulltext: tuple[object, FulltextReader] | None = None
        self._vectors = LocalVectors(folder)
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
        for _ in range(_OPEN_TRIES):
            with self._catalog() as catalog, catalog.snapshot() as generation:
                if not generation:
                    raise IndexMissing(f"the index in {self.folder} is empty; run `dowse index` first")
                fulltext = self._open_fulltext(catalog, generation)
                if fulltext is None:
                    continue
                yield LocalReader(self.folder, generation, catalog, fulltext, self._vectors)
                return
        raise IndexUnavailable("the index changes faster than it can be read; try again")

    @contextlib.contextmanager
    def writer(self, wait: float | None = None, on_wait: OnWait = None) -> Iterator[LocalWriter]:
        """Hold the write lock and start the next generation."""
        with self._locked(wait, on_wait):
            is_new = not layout.catalog_path(self.folder).exists()
            catalog = Catalog.open_for_writing(layout.catalog_path(self.folder))
            start_over, self._start_over = self._start_over, False
            writer = self._make_writer(catalog, start_over)
            try:
                yield writer
                if start_over:
                    self._remove_vectors(wait, on_wait)
                    self._remove_derived(wait, on_wait)
            finally:
                with contextlib.suppress(sqlite3.Error):
                    is_new = is_new and not catalog.generation()
                writer.close()
                if is_new:  # nothing was committed: leave nothing behind but vectors of an earlier index
                    layout.remove_index(self.folder, [folder.name for folder in self._vectors.folders()])

    @contextlib.contextmanager
    def replacement(self, wait: float | None = None, on_wait: OnWait = None) -> Iterator[Path]:
        """Hold the write lock and yield an empty folder; what is put there replaces the index.

        That is a catalog, the text indexes of one generation, and vectors; readers see all of it or nothing.
        """
        from dowse.storage.local.replacement import put_generation, put_vectors

        with self._locked(wait, on_wait):
            staging = self.folder / layout.STAGING
            staging.mkdir()
            try:
                yield staging
                # What is derived from files goes by their numbers, which others have now.
                self._remove_derived(wait, on_wait)
                put_vectors(staging, self.folder, wait, on_wait or (lambda _: None))
                put_generation(staging, self.folder)
            finally:
                layout.remove_staging(self.folder)
                if not layout.catalog_path(self.folder).exists():  # leave nothing behind
                    layout.remove_index(self.folder, [folder.name for folder in self._vectors.folders()])

    @contextlib.contextmanager
    def _locked(self, wait: float | None, on_wait: OnWait) -> Iterator[None]:
        """Hold the write lock of a folder that is this index's own."""
        if not self._cleared:
            layout.refuse_foreign_folder(self.folder)
        with (
            self._translate_write_errors(),
            write_lock(self.folder, wait, on_wait or (lambda _: None)),
            self._name_damage(),
        ):
            layout.refuse_links(self.folder)
            layout.tag_new_index(self.folder)
            layout.remove_staging(self.folder)  # of a killed process
            yield

    def _make_writer(self, catalog: Catalog, start_over: bool) -> LocalWriter:
        from dowse.storage.local.writer import LocalWriter

        try:
            return LocalWriter(self.folder, catalog, start_over=start_over)
        except BaseException:
            catalog.close()
            raise

    def set_known_vectors(self, known: KnownVectors | None) -> None:
        """Do nothing: vectors are not part of what a writer writes."""

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

    def start_over(self, wait: float | None = None, on_wait: OnWait = None) -> None:
        """Let the next writer replace the index; one that is damaged or of another format is removed."""
        if not self.folder.exists():
            return
        self.close()  # what is open may be from before another version wrote here
        try:
            with self.reader() as reader:
                self._start_over = not reader.integrity_check()
        except IndexUnavailable:  # it may be whole: the last generation stays until the next is committed
            raise
        except DowseError:
            self._start_over = False
        if not self._start_over:
            before = layout.file_version(layout.catalog_path(self.folder))
            self._start_over = not self._remove_unless_replaced(before, wait, on_wait, self._intact_vectors())

    def remove_damage(self, wait: float | None = None, on_wait: OnWait = None) -> bool:
        """Remove vectors that are damaged, and everything else too unless only those are."""
        before = layout.file_version(layout.catalog_path(self.folder))
        self.close()
        kept = self._intact_vectors()
        damaged = [folder for folder in self._vectors.folders() if folder.name not in kept]
        is_removed = False
        if not damaged or self._base_problems():
            is_removed = self._remove_unless_replaced(before, wait, on_wait, kept)
        for folder in damaged:
            with write_lock(folder, wait, on_wait or (lambda _: None)):
                if self._vectors.problem(folder):  # nobody has made them again meanwhile
                    layout.remove_vectors(folder)
                    is_removed = True
        return is_removed

    def _remove_unless_replaced(
        self, before: layout.FileVersion | None, wait: float | None, on_wait: OnWait, kept: Collection[str]
    ) -> bool:
        """Remove the index, unless another process has built it again before the lock was free."""

        def is_replaced() -> bool:
            if layout.file_version(layout.catalog_path(self.folder)) == before:
                return False
            try:
                return not self._base_problems()
            except (IndexMissing, IndexOutdated):
                return False

        return self._remove(wait, on_wait, kept, is_replaced)

    def _intact_vectors(self) -> set[str]:
        """Return the encoders whose vectors are what was written: those belong to no generation, and stay."""
        return {folder.name for folder in self._vectors.folders() if not self._vectors.problem(folder)}

    def _remove_vectors(self, wait: float | None, on_wait: OnWait) -> None:
        """Remove vectors, damaged or not: most come back from the cache of all indexes."""
        self._vectors.close()
        EmbeddingFolder(layout.derived_folder(self.folder)).end_process()
        for folder in self._vectors.folders():
            with write_lock(folder, wait, on_wait or (lambda _: None)):
                layout.remove_vectors(folder)

    def _remove_derived(self, wait: float | None, on_wait: OnWait) -> None:
        """Remove caches of what is derived from the index, damaged or not."""
        import shutil

        EmbeddingFolder(layout.derived_folder(self.folder)).end_process()
        on_wait = on_wait or (lambda _: None)
        for folder in layout.derived_folders(self.folder):
            with write_lock(folder, wait, on_wait):
                shutil.rmtree(folder, ignore_errors=True)

    def clear(self, wait: float | None = 0.0, on_wait: OnWait = None) -> None:
        """Remove the index, and nothing else that may be in its folder."""
        self._remove(wait, on_wait)

    def _remove(
        self,
        wait: float | None,
        on_wait: OnWait,
        keep_vectors: Collection[str] = (),
        is_replaced: Callable[[], bool] = lambda: False,
    ) -> bool:
        """Remove the index under all its locks unless it is replaced by then; vectors may stay."""
        self.close()
        layout.refuse_links(self.folder)
        layout.refuse_foreign_folder(self.folder)
        EmbeddingFolder(layout.derived_folder(self.folder)).end_process()
        on_wait = on_wait or (lambda _: None)
        with contextlib.ExitStack() as locks:
            locks.enter_context(write_lock(self.folder, wait, on_wait))
            is_kept = is_replaced()
            self.close()  # what was opened to find out
            if is_kept:
                return False
            # Another process may be writing to one of them.
            for folder in (*self._vectors.folders(), *layout.derived_folders(self.folder)):
                locks.enter_context(write_lock(folder, wait, on_wait))
            layout.remove_index(self.folder, keep_vectors)
        self._cleared = True
        return True

    def close(self) -> None:
        """Close files; the next reader opens them again."""
        with self._lock:
            idle, self._idle, self._fulltext = self._idle, [], None
        self._vectors.close()
        for catalog in idle:
            catalog.close()

    def check(self) -> list[str]:
        """Return what is wrong with the index; reads all of the catalog and of the vectors."""
        vectors = map(self._vectors.problem, self._vectors.folders())
        return [*self._base_problems(), *filter(None, vectors)]

    def _base_problems(self) -> list[str]:
        """Return what is wrong with the catalog or the text indexes; of another format raises DowseError."""
        try:
            with self.reader() as reader:
                return reader.check()
        except IndexDamaged as error:
            return [str(error).partition("; run ")[0]]

    def health(self) -> dict[str, Any]:
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
        with self._name_damage():
            catalog = self._take()
            try:
                yield catalog
            except CATALOG_ERRORS as error:
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

    def _open_fulltext(self, catalog: Catalog, generation: int) -> FulltextReader | None:
        """Return the tantivy indexes of a generation; None if they are being replaced."""
        opened, wanted = self._fulltext, (catalog.identity, generation)
        if opened and opened[0] == wanted:
            return opened[1]
        from dowse.storage.local.fulltext import FulltextReader  # loads tantivy

        try:
            fulltext = FulltextReader(layout.generation_path(self.folder, generation))
        except DowseError:
            if self._is_newest(catalog, generation):
                raise
            return None
        # tantivy opens without some files, if a writer has just removed them, and fails later.
        if not self._is_newest(catalog, generation):
            return None
        self._fulltext = (wanted, fulltext)
        return fulltext

    def _is_newest(self, catalog: Catalog, generation: int) -> bool:
        """Whether no later generation is committed: before that, no file of this one is removed."""
        if catalog.is_current() and not layout.has_generations(self.folder, besides=generation):
            return True
        with self._catalog() as newest:
            return (newest.identity, newest.generation()) == (catalog.identity, generation)

    @contextlib.contextmanager
    def _name_damage(self) -> Iterator[None]:
        """Turn errors of the catalog into errors that name the remedy, and others that damage has led to."""
        try:
            with translate_errors(self.folder, *CATALOG_ERRORS):
                yield
        except (DowseError, QueryError):
            raise
        except READ_ERRORS as error:  # what was read may have been nonsense
            if problems := self.check():
                raise damage_error(self.folder, problems[0]) from error
            raise

    @contextlib.contextmanager
    def _translate_write_errors(self) -> Iterator[None]:
        """Turn errors of the system, such as a full disk, into errors that name the remedy.

        tantivy does not always say why it can't write: before anybody removes a damaged index, it is checked.
        """
        try:
            yield
        except IndexDamaged as error:
            with contextlib.suppress(IndexMissing, IndexOutdated):  # another process has just removed it
                if not self.check():
                    reason = str(error.__cause__ or error).partition("\n")[0]
                    text = f"the index in {self.folder} is intact, but can't be written now ({reason})"
                    remedy = "check its disk, and whether that or your quota is full"
                    raise IndexUnavailable(f"{text}; {remedy}") from error
            raise
        except OSError as error:
            unavailable = unavailable_error(self.folder, error)
            if unavailable is None:
                raise
            raise unavailable from error
