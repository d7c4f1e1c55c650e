"""The index in a folder of this machine: SQLite catalog and tantivy, one generation for both."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dowse.config import Settings
from dowse.errors import DowseError, IndexDamaged, IndexMissing
from dowse.parsing.spans import join_spans
from dowse.query import Leaf, PathFilter, RepoFilter, SymFilter, path_matches, symbol_matches
from dowse.security.secret_masking import are_free_of_secrets, mask_counted, mask_row, mask_span
from dowse.security.terminal import escape_surrogates
from dowse.storage.local.catalog import Catalog, SymbolDetails
from dowse.storage.local.compression import BrokenBlock
from dowse.storage.local.graph_tables import GraphTables
from dowse.storage.local.layout import (
    catalog_path,
    clone_generation,
    damaged,
    generation_path,
    hindered,
    lock_holder,
    refuse_foreign_folder,
    refuse_links,
    remove_generation,
    remove_index,
    remove_other_generations,
    tag_new_index,
    writer_lock,
)
from dowse.storage.local.tfidf import LocalTfidf
from dowse.storage.local.vectors import GenerationVectors, LocalVectors, LocalVectorWriter
from dowse.storage.protocol import EDGE_LIMIT, KeywordRequest, KnownVectors, TfidfRequest, VectorRequest
from dowse.types import (
    KEYWORD_FIELDS,
    Edge,
    Extents,
    FileRecord,
    FileStamp,
    Reference,
    StoredFile,
    Symbol,
    SymbolRow,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from dowse.encoders.document import Document
    from dowse.query.regex.trigrams import TrigramQuery
    from dowse.storage.protocol import Floats

# A reader can meet a generation that is just being replaced; each try sees a newer one.
_OPEN_TRIES = 20


class LocalBackend:
    """A folder that holds one index."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        # A snapshot belongs to one connection, so readers held at once each need their own.
        self._idle: list[Catalog] = []
        self._lock = threading.Lock()
        self._fulltext: tuple[object, Any] | None = None
        self._vectors = LocalVectors(folder)
        self._tfidf = LocalTfidf(folder)
        self._cleared = False  # then the folder was an index's, whatever else lies in it

    @property
    def address(self) -> str:
        """Its folder, however this process is moved."""
        return str(self.folder.absolute())

    def is_there(self) -> bool:
        """Whether there is anything to remove."""
        return self.folder.is_dir()

    def has_generation(self) -> bool:
        """Whether there is an index to read; also if it is damaged, but not while the first is being made."""
        if not catalog_path(self.folder).exists():
            return False
        try:
            with self._catalog() as catalog:
                return catalog.generation() > 0
        except IndexMissing:
            return False
        except DowseError:
            return self.busy() is None

    @contextlib.contextmanager
    def reader(self) -> Iterator[LocalReader]:
        """Open the newest generation for reading."""
        for attempt in range(_OPEN_TRIES):
            with self._catalog() as catalog, catalog.snapshot() as generation:
                if not generation:
                    raise IndexMissing(f"the index in {self.folder} is empty; run `dowse index` first")
                fulltext = self._open_fulltext(catalog, generation, last_try=attempt == _OPEN_TRIES - 1)
                if fulltext is None:
                    continue
                yield LocalReader(generation, catalog, fulltext, self._vectors, self._tfidf)
                return

    @contextlib.contextmanager
    def writer(
        self, wait: float | None = None, on_wait: Callable[[str], None] | None = None
    ) -> Iterator[LocalWriter]:
        """Become the one writer."""
        if not self._cleared:
            refuse_foreign_folder(self.folder)
        with writer_lock(self.folder, wait, on_wait or (lambda _: None)), self._naming_damage():
            refuse_links(self.folder)
            tag_new_index(self.folder)
            catalog = Catalog.open_for_writing(catalog_path(self.folder))
            writer = LocalWriter(self.folder, catalog)
            try:
                yield writer
            finally:
                writer.close()

    def carry(self, known: KnownVectors | None) -> None:
        """Do nothing: vectors lie apart from what is written."""

    def check_vectors(self, encoder: str, dimension: int) -> None:
        """Raise DowseError if vectors of another size are there, or damaged ones."""
        from dowse.vectors.matrix import Matrix

        refuse_links(self.folder)
        Matrix.open(self._vectors.folder(encoder), dimension)

    @contextlib.contextmanager
    def vector_writer(
        self,
        encoder: str,
        dimension: int,
        wait: float | None = None,
        on_wait: Callable[[str], None] | None = None,
    ) -> Iterator[LocalVectorWriter]:
        """Become the one who adds vectors of an encoder."""
        from dowse.vectors.writer import matrix_writer

        @contextlib.contextmanager
        def read() -> Iterator[tuple[int, GenerationVectors]]:
            with self._catalog() as catalog, catalog.snapshot() as generation:
                yield generation, self._vectors.of(encoder, generation, catalog)

        folder = self._vectors.folder(encoder)
        refuse_links(self.folder)
        with matrix_writer(folder, dimension, wait, on_wait or (lambda _: None)) as writer:
            adding = LocalVectorWriter(writer, read)
            try:
                yield adding
            finally:
                adding.note()

    def count_terms(
        self,
        wait: float | None = None,
        on_wait: Callable[[str], None] | None = None,
        on_counted: Callable[[int, int], None] | None = None,
    ) -> int:
        """Count the terms that TF-IDF needs and keep them."""
        with self._catalog() as catalog, catalog.snapshot() as generation:
            if self._tfidf.covers(generation, catalog):
                return 0
            tell, show = on_wait or (lambda _: None), on_counted or (lambda _, __: None)
            try:
                return self._tfidf.update(generation, catalog, wait, tell, show)
            except OSError:
                # Where nothing can be written, as in a copy to be read only, all may be there all the same.
                if len(self._tfidf.of(generation, catalog, whole=False).missing):
                    raise
                return 0

    def start_over(self, wait: float | None = None, on_wait: Callable[[str], None] | None = None) -> None:
        """Remove the index: a folder has no room for two."""
        if self.folder.exists():
            self.clear(wait, on_wait)

    def clear(self, wait: float | None = 0.0, on_wait: Callable[[str], None] | None = None) -> None:
        """Remove the index, and nothing else that may lie in its folder."""
        self.close()
        refuse_links(self.folder)
        refuse_foreign_folder(self.folder)
        tell = on_wait or (lambda _: None)
        with contextlib.ExitStack() as held:
            held.enter_context(writer_lock(self.folder, wait, tell))
            for folder in (*self._vectors.folders(), *self._tfidf.folders()):  # somebody may be adding to it
                held.enter_context(writer_lock(folder, wait, tell))
            remove_index(self.folder)
        self._cleared = True

    def close(self) -> None:
        """Let go of files; the next reader opens them again."""
        with self._lock:
            idle, self._idle, self._fulltext = self._idle, [], None
        self._vectors.close()
        self._tfidf.close()
        for catalog in idle:
            catalog.close()

    def check(self) -> list[str]:
        """Return what is wrong with the index."""
        try:
            with self.reader() as reader:
                return [*reader.check(), *self._tfidf.problems()]
        except IndexDamaged as error:
            return [str(error)]

    def health(self, *, fields: bool = False) -> dict[str, Any]:
        """Return nothing: that is for clusters."""
        return {}

    def busy(self) -> int | None:
        """Return the process that is writing, if one is."""
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
        """Lend a connection that nobody else uses meanwhile."""
        with self._naming_damage():
            catalog = self._take()
            try:
                yield catalog
            except (sqlite3.DatabaseError, BrokenBlock):
                catalog.close()
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
                refuse_links(self.folder)
                return Catalog.open_for_reading(catalog_path(self.folder))
            if catalog.is_current():
                return catalog
            # The index was removed, and perhaps built again; its number may go to the next file, so what
            # is remembered under it goes first.
            self._fulltext = None
            catalog.close()

    def _open_fulltext(self, catalog: Catalog, generation: int, last_try: bool) -> Any | None:  # noqa: ANN401
        opened, wanted = self._fulltext, (catalog.identity, generation)
        if opened is not None and opened[0] == wanted:
            return opened[1]
        from dowse.storage.local.fulltext import FulltextReader

        try:
            fulltext = FulltextReader(generation_path(self.folder, generation))
        except (ValueError, OSError) as error:
            if not last_try:
                return None
            raise damaged(self.folder, error) from error
        self._fulltext = (wanted, fulltext)
        return fulltext

    @contextlib.contextmanager
    def _naming_damage(self) -> Iterator[None]:
        """Turn what the libraries say of a file they can't use into an error that names the remedy."""
        try:
            yield
        except (sqlite3.DatabaseError, BrokenBlock) as error:
            raise hindered(self.folder, error) or damaged(self.folder, error) from error


class LocalReader:
    """One generation."""

    def __init__(
        self,
        generation: int,
        catalog: Catalog,
        fulltext: Any,  # noqa: ANN401 - its module is loaded late
        vectors: LocalVectors,
        tfidf: LocalTfidf,
    ) -> None:
        self._vectors, self._tfidf = vectors, tfidf
        self.generation = generation
        self.identity = "-".join(map(str, catalog.identity or ()))
        meta = catalog.meta()
        self.is_corpus = meta.get("corpus") == "1"
        self.is_complete = meta.get("complete", "1") == "1"
        self._catalog = catalog
        self._fulltext = fulltext

    def nearest(self, request: VectorRequest, limit: int) -> list[tuple[int, float]]:
        """Return (row, cosine) of the nearest symbols."""
        return self._of(request.encoder).nearest(request, limit, self._allowed(request))

    def _allowed(self, request: VectorRequest | TfidfRequest) -> list[int] | None:
        """Return the rows that meet the conditions; None where there are none to meet."""
        if request.constraint is None:
            return None
        among = KeywordRequest((), {}, request.constraint, request.exact_rows)
        return [row for row, _ in self.keyword(among, max(1, self._fulltext.symbols.num_docs))]

    def tfidf(self, request: TfidfRequest, limit: int) -> list[tuple[int, float]]:
        """Return (row, score) of the best symbols by sums of tf · idf."""
        found = self._tfidf.of(self.generation, self._catalog, whole=bool(request.terms))
        return found.top(request.terms, limit, self._allowed(request), self._catalog)

    def explain_tfidf(
        self, request: TfidfRequest, rows: Sequence[int]
    ) -> dict[int, dict[str, tuple[int, float]]]:
        """Return how often each row has each term, and the term's idf."""
        return self._tfidf.of(self.generation, self._catalog).parts(request.terms, rows)

    def _of(self, encoder: str) -> GenerationVectors:
        return self._vectors.of(encoder, self.generation, self._catalog)

    def embedded(self, encoder: str) -> int:
        """Return how many symbols have a vector of an encoder."""
        return self._vectors.embedded(encoder, self.generation, self._catalog)

    def without_vector(self, encoder: str) -> list[tuple[int, bytes]]:
        """Return (row, key) of symbols that have no vector yet, one for each key."""
        return self._of(encoder).missing()

    def vector_health(self, encoder: str) -> tuple[bool, str]:
        """Say whether the vectors of an encoder are whole, and how they are searched."""
        return self._of(encoder).health()

    def vectors(self, encoder: str, rows: Sequence[int]) -> Floats:
        """Return the vectors of symbols."""
        return self._of(encoder).rows(rows)

    def clusters(self, encoder: str) -> Floats:
        """Return the centres of the groups of similar symbols."""
        return self._of(encoder).clusters()

    def documents(self, rows: Sequence[int]) -> list[Document]:
        """Return what an encoder reads of symbols."""
        from dowse.encoders.document import Document

        found = self.rows(rows)
        details, bare = self._catalog.details(rows), self._catalog.bare_spans(rows)
        texts = self._fulltext.memory.texts({row.file_id for row in found}, self._catalog.texts)
        return [
            Document(
                qualifier=row.qualified_name.removesuffix(row.name).rstrip("."),
                name=row.name,
                docs=details[row.row].doc,
                code=join_spans(texts[row.file_id], bare[row.row]).decode("utf-8", "replace"),
                language=row.language,
                path=row.path,
            )
            for row in found
        ]

    def members(self, encoder: str, cluster: int) -> list[tuple[int, float]]:
        """Return the symbols of one group."""
        return self._of(encoder).members(cluster)

    def keyword(self, request: KeywordRequest, limit: int) -> list[tuple[int, float]]:
        """Return (row, score) of the best symbols."""
        from dowse.storage.local.tantivy_query import keyword_query

        searcher = self._fulltext.symbols
        hits = searcher.search(keyword_query(request, self._resolve), limit, count=False).hits
        rows = searcher.fast_field_values("row", [address for _, address in hits])
        return list(zip(rows, [score for score, _ in hits], strict=True))

    def explain(
        self, request: KeywordRequest, rows: Sequence[int]
    ) -> dict[int, dict[tuple[str, str], float]]:
        """Return what each (field, term) adds to the score of each row."""
        from dowse.storage.local.tantivy_query import contributions

        return contributions(self._fulltext.symbols, request, list(rows))

    def coverage(self, terms: Mapping[str, float], rows: Sequence[int]) -> dict[int, float]:
        """Return how much of some terms the text of each row has."""
        from dowse.storage.local.tantivy_query import covered

        return covered(self._fulltext.symbols, terms, rows)

    def _resolve(self, leaf: Leaf) -> tuple[str, Iterable[int]]:
        """Decide the filters whose meaning is written in Python: by path, repository and name."""
        if isinstance(leaf, PathFilter):
            places = self._catalog.places()
            return "file", [file_id for file_id, _, path in places if path_matches(leaf.glob, path)]
        if isinstance(leaf, RepoFilter):
            places = self._catalog.places()
            return "file", [file_id for file_id, repo, _ in places if path_matches(leaf.glob, repo)]
        if isinstance(leaf, SymFilter):
            names = self._catalog.names(leaf.glob)
            return "row", [row for row, name, full in names if symbol_matches(leaf.glob, name, full)]
        raise TypeError(f"no way to decide {leaf!r}")

    def document_frequency(self, term: str, field: str = "") -> int:
        """Return in how many symbols a term occurs in a field, or in that where it is most frequent."""
        from dowse.storage.local.tantivy_query import count_of

        count = count_of if self._fulltext.has_deletes else type(self._fulltext.symbols).doc_freq
        return max(
            count(self._fulltext.symbols, each, term) for each in ([field] if field else KEYWORD_FIELDS)
        )

    def expect_terms(self, terms: Iterable[str], field: str = "") -> None:
        """Do nothing: a frequency is there at once."""

    def exact_candidates(self, trigrams: TrigramQuery) -> list[int]:
        """Return the ids of files whose text may match."""
        from dowse.storage.local.tantivy_query import trigram_query

        searcher = self._fulltext.files
        total = searcher.num_docs
        if not total:
            return []
        hits = searcher.search(trigram_query(trigrams), total, count=False).hits
        return [int(i) for i in searcher.fast_field_values("file", [address for _, address in hits])]

    def texts(self, file_ids: Sequence[int]) -> Iterator[tuple[int, bytes]]:
        """Give the texts of files."""
        return self._catalog.texts(file_ids)

    def text(self, file_id: int) -> bytes:
        """Return the text of one file."""
        text: bytes = self._fulltext.memory.texts({file_id}, self._catalog.texts)[file_id]
        return text

    def rows(self, rows: Sequence[int]) -> list[SymbolRow]:
        """Return symbols by row, in the order asked."""
        found: list[SymbolRow] = self._fulltext.memory.rows(rows, self._catalog.rows)
        return found

    def rows_of_files(self, file_ids: Sequence[int]) -> list[SymbolRow]:
        """Return the symbols of files."""
        return self._catalog.rows_of_files(file_ids)

    def extents(self, file_ids: Sequence[int]) -> Iterator[tuple[int, Extents]]:
        """Give, for each file, where its symbols lie."""
        return self._catalog.extents(file_ids)

    def file_rows(self, file_ids: Sequence[int]) -> list[SymbolRow]:
        """Return files as if each were one symbol."""
        return self._catalog.file_rows(file_ids)

    def lookup(self, pattern: str, limit: int) -> list[SymbolRow]:
        """Return the symbols whose name or qualified name matches a pattern with `*` and `?`."""
        escaped = escape_surrogates(pattern).replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
        return self._catalog.rows_like(escaped.replace("*", "%").replace("?", "_"), limit)

    def named(self, keys: Sequence[str]) -> list[SymbolRow]:
        """Return the symbols with these keys."""
        return self._catalog.rows_named(keys)

    def files_ending(self, ending: str) -> list[StoredFile]:
        """Return the files whose path is this, or ends with it."""
        return [file for file in self.files() if f"/{file.path}".endswith(f"/{ending}")]

    def troubled_files(self) -> list[StoredFile]:
        """Return the files that have a problem."""
        return [file for file in self.files() if file.problem]

    def symbols(self, rows: Sequence[SymbolRow], *, show_secrets: bool = False) -> list[Symbol]:
        """Return symbols with their text, likely secrets masked unless they are asked for."""
        memory = self._fulltext.memory

        def read(missing: Sequence[SymbolRow]) -> list[Symbol]:
            texts = memory.texts({row.file_id for row in missing}, self._catalog.texts)
            details = self._catalog.details([row.row for row in missing if row.row])
            return symbols_from(missing, texts, details, show_secrets)

        found: list[Symbol] = memory.symbols(rows, show_secrets, read)
        return found

    def edges(
        self, rows: Sequence[int], kinds: Sequence[str] = (), incoming: bool = False, limit: int = EDGE_LIMIT
    ) -> list[Edge]:
        """Return edges out of symbols, or into them."""
        return self._catalog.graph.edges(rows, kinds, incoming, limit)

    def places(self, rows: Sequence[int]) -> NDArray[np.float64]:
        """Return the points of symbols in the ball that the tree is embedded in."""
        return self._catalog.tree.points(rows)

    def stamps(self) -> dict[str, FileStamp]:
        """Return size, time and content hash of every file."""
        return self._catalog.stamps()

    def files(self) -> list[StoredFile]:
        """Return every file of the index."""
        return self._catalog.files()

    def skipped(self) -> list[tuple[str, str]]:
        """Return what is left out, and why."""
        return self._catalog.skipped()

    def symbol_count(self) -> int:
        """Return the number of symbols."""
        return int(self._fulltext.symbols.num_docs)

    def counts(self) -> dict[str, int]:
        """Return the number of files, symbols, source bytes and files left out."""
        return self._catalog.counts()

    def languages(self) -> dict[str, int]:
        """Return the number of files per language."""
        return self._catalog.languages()

    def meta(self) -> dict[str, str]:
        """Return the description that the last writer left."""
        return self._catalog.meta()

    def references(self, file_id: int) -> list[Reference]:
        """Return the references of one file."""
        return self._catalog.references(file_id)

    def check(self) -> list[str]:
        """Compare both halves of the generation."""
        problems = self._catalog.check()
        symbols, files = self._fulltext.symbols.num_docs, self._fulltext.files.num_docs
        counts = self._catalog.counts()
        if symbols != counts["symbols"]:
            problems.append(f"the catalog has {counts['symbols']} symbols, the text index {symbols}")
        if files != counts["files"]:
            problems.append(f"the catalog has {counts['files']} files, the text index {files}")
        return problems


def symbols_from(
    rows: Sequence[SymbolRow],
    texts: Mapping[int, bytes],
    details: Mapping[int, SymbolDetails],
    show_secrets: bool,
) -> list[Symbol]:
    """Put symbols together, secrets masked unless they are asked for; without details one is a whole file."""
    found = [(row, texts[row.file_id], _details(details, row, texts[row.file_id])) for row in rows]
    as_is = show_secrets or are_free_of_secrets(
        ((text, each.spans) for _, text, each in found), [each.doc for _, _, each in found if each.doc]
    )
    return [_symbol_from(row, text, each, as_is) for row, text, each in found]


def _details(details: Mapping[int, SymbolDetails], row: SymbolRow, text: bytes) -> SymbolDetails:
    return details.get(row.row) or SymbolDetails("", [[0, len(text)]], "")


def _symbol_from(row: SymbolRow, text: bytes, details: SymbolDetails, as_is: bool) -> Symbol:
    doc, spans, digest = details
    masked = 0
    if as_is:
        parts = [text[start:end] for start, end in spans]
    else:
        found = [mask_span(text, start, end) for start, end in spans]
        parts, masked = [part for part, _ in found], sum(count for _, count in found)
        doc, beside = mask_counted(doc)  # a corpus gives it apart from the code
        masked = masked or beside
        row = mask_row(row) if masked else row  # names and signature are part of the code
    code = b"".join(parts).decode("utf-8", "replace")
    return Symbol(
        *(row.key, row.repo, row.path, row.language, row.kind, row.name, row.qualified_name),
        *(row.start_line, row.end_line, row.signature, doc, code, digest),
        line_numbers=_line_numbers(text, spans),
        masked=masked,
    )


def _line_numbers(text: bytes, spans: list[list[int]]) -> tuple[int, ...]:
    """Return the number in the file of every line that the spans make when joined."""
    numbers: list[int] = []
    whole = True  # whether the last piece ended with its line
    for start, end in spans:
        first = text.count(b"\n", 0, start) + 1
        last = first + text.count(b"\n", start, end)
        numbers.extend(range(first if whole else first + 1, last + 1))
        whole = text[end - 1 : end] == b"\n"
        if whole:
            numbers.pop()
    return tuple(numbers)


class LocalWriter:
    """The generation after the one that readers see."""

    def __init__(self, folder: Path, catalog: Catalog) -> None:
        self._folder = folder
        self._catalog = catalog
        self._base = catalog.generation()
        self._fulltext: Any = None
        remove_other_generations(folder, self._base)  # what a killed writer left behind

    def stamps(self) -> dict[str, FileStamp]:
        """Return what the last generation knows of every file."""
        return self._catalog.stamps()

    def skipped(self) -> list[tuple[str, str]]:
        """Return what the last generation leaves out."""
        return self._catalog.skipped()

    def meta(self) -> dict[str, str]:
        """Return the description of the last generation."""
        return self._catalog.meta()

    def put(self, record: FileRecord) -> None:
        """Add a file, or replace the one with its key."""
        self._begin()
        before = self._catalog.delete_file(record.key, instead=record)
        if before is not None:
            self._fulltext.delete(before.file_id)
        file_id, rows = self._catalog.put_file(record, before)
        self._fulltext.put(record, file_id, rows)

    def delete(self, key: str) -> None:
        """Remove a file."""
        self._begin()
        before = self._catalog.delete_file(key)
        if before is not None:
            self._fulltext.delete(before.file_id)

    def graph(self) -> GraphTables:
        """Return what linking reads and writes."""
        self._begin_catalog()
        return self._catalog.graph

    def touch(self, key: str, size: int, mtime_ns: int) -> None:
        """Note a new size and time of a file whose content is the same."""
        self._begin_catalog()
        self._catalog.touch_file(key, size, mtime_ns)

    def set_skipped(self, skipped: Iterable[tuple[str, str]]) -> None:
        """Replace the list of what is left out."""
        self._begin_catalog()
        self._catalog.set_skipped(skipped)

    def commit(self, meta: Mapping[str, str]) -> int:
        """Make everything visible at once.

        The text indexes are on disk before the catalog's transaction ends, so a reader that sees the new
        number finds the folder that belongs to it. Notes alone (touch, skipped) keep the generation.
        """
        if not self._base:
            self._begin()  # an index of nothing is one, too
        self._begin_catalog()
        self._catalog.tree.embed(int(meta.get("tree_dimension") or Settings().tree_dimension))
        generation = self._base
        if self._fulltext is not None:
            self._fulltext.commit()
            generation += 1
        self._catalog.commit(generation, dict(meta))
        self._base, self._fulltext = generation, None
        remove_other_generations(self._folder, generation)
        return generation

    def close(self) -> None:
        """Forget what was not committed, whatever state a failure left it in."""
        fulltext, self._fulltext = self._fulltext, None
        try:
            # tantivy refuses where a commit has failed: its files go all the same.
            with contextlib.suppress(RuntimeError, ValueError):
                if fulltext is not None:
                    fulltext.abort()
            self._catalog.rollback()
            # Interrupted right after the commit, this writer may not know that the next generation is in use.
            if self._catalog.generation() == self._base:
                remove_generation(self._folder, self._base + 1)
        finally:
            self._catalog.close()

    def _begin(self) -> None:
        self._begin_catalog()
        if self._fulltext is None:
            from dowse.storage.local.fulltext import FulltextWriter

            folder = clone_generation(self._folder, self._base, self._base + 1)
            try:
                self._fulltext = FulltextWriter(folder, create=not self._base)
            except ValueError as error:  # tantivy's word for anything it can't read
                raise hindered(self._folder, error) or damaged(self._folder, error) from error

    def _begin_catalog(self) -> None:
        if not self._catalog.in_transaction:
            self._catalog.begin()
