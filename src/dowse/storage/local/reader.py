"""One generation of a local index: a snapshot of the catalog, its tantivy indexes and its vectors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dowse.damage import READ_ERRORS, translate_errors
from dowse.query.ast import Leaf, PathFilter, RepoFilter, RowsFilter, SymFilter, WithinFilter
from dowse.query.evaluate import is_within, path_matches, symbol_matches
from dowse.storage.local.catalog import Catalog
from dowse.storage.local.layout import DERIVED
from dowse.storage.local.queries import CatalogQueries
from dowse.storage.local.vectors import GenerationVectors, LocalVectors
from dowse.storage.protocol import EDGE_LIMIT, KeywordRequest, VectorRequest
from dowse.storage.symbols import build_document, build_symbols
from dowse.types import Edge, StoredFile, Symbol, SymbolRow

if TYPE_CHECKING:
    from dowse.encoders.document import Document
    from dowse.query.regex.trigrams import TrigramQuery
    from dowse.storage.local.fulltext import FulltextReader
    from dowse.storage.protocol import Floats


class LocalReader(CatalogQueries):
    """Implements `Reader`; what needs the catalog alone is inherited."""

    def __init__(
        self,
        folder: Path,
        generation: int,
        catalog: Catalog,
        fulltext: FulltextReader,
        vectors: LocalVectors,
    ) -> None:
        super().__init__(catalog.connection)
        self._folder = folder
        self._catalog, self._fulltext, self._vectors = catalog, fulltext, vectors
        self._cache = fulltext.cache
        self.cache_folder: Path | None = folder / DERIVED
        self.derived: dict[str, Any] = self._cache.derived
        self.generation = generation
        self.identity = "-".join(map(str, catalog.identity or ()))
        if "meta" not in self.derived:
            self.derived["meta"] = self.meta()
        meta = self.derived["meta"]
        self.is_corpus = meta.get("corpus") == "1"
        self.is_complete = meta.get("complete", "1") == "1"
        self.is_linked = meta.get("linked", "1") == "1"

    # BM25

    def search_bm25(self, request: KeywordRequest, limit: int) -> list[tuple[int, float]]:
        """Return (row, score) of the best symbols."""
        return self._fulltext.search(request, limit, self._resolve)

    def explain_bm25(
        self, request: KeywordRequest, rows: Sequence[int]
    ) -> dict[int, dict[tuple[str, str], float]]:
        """Return what each (field, term) adds to the score of each row."""
        return self._fulltext.explain(request, rows)

    def coverage(self, terms: Mapping[str, float], rows: Sequence[int]) -> dict[int, float]:
        """Return the sum of the weights of the terms that the text of each row has."""
        return self._fulltext.coverage(terms, rows)

    def trigram_candidates(self, trigrams: TrigramQuery, limit: int | None = None) -> list[int]:
        """Return the ids of files whose text may match: any deferred file may, its trigrams are to come."""
        return [*self._fulltext.trigram_candidates(trigrams, limit), *self._deferred_ids()]

    def _deferred_ids(self) -> list[int]:
        return [] if self.is_linked else [each.file_id for each in self._catalog.graph.deferred_files()]

    def document_frequency(self, term: str, field: str = "") -> int:
        """Return in how many symbols a term occurs in a field, or in the field where that is most."""
        return self._fulltext.document_frequency(field, term)

    def prefetch_document_frequencies(self, terms: Iterable[str], field: str = "") -> None:
        """Do nothing: a document frequency takes no round trip."""

    def symbol_count(self) -> int:
        """Return the number of symbols."""
        return self._fulltext.symbol_count

    def languages(self) -> dict[str, int]:
        """Return the number of files per language, most first; counted once a generation."""
        if "languages" not in self.derived:
            self.derived["languages"] = super().languages()
        return dict(self.derived["languages"])

    def _resolve(self, leaf: Leaf) -> tuple[str, Iterable[int]]:
        """Return field and matching values of a filter that is evaluated in Python."""
        if isinstance(leaf, PathFilter):
            return "file", [file_id for file_id, _, path in self.paths() if path_matches(leaf.glob, path)]
        if isinstance(leaf, WithinFilter):
            return "file", [file_id for file_id, _, path in self.paths() if is_within(leaf.path, path)]
        if isinstance(leaf, RowsFilter):
            return "row", sorted(leaf.rows)
        if isinstance(leaf, RepoFilter):
            return "file", [file_id for file_id, repo, _ in self.paths() if path_matches(leaf.glob, repo)]
        if isinstance(leaf, SymFilter):
            names = self.names_like(leaf.glob)
            return "row", [row for row, name, full in names if symbol_matches(leaf.glob, name, full)]
        raise TypeError(f"no way to evaluate {leaf!r}")

    # Vectors

    def nearest(self, request: VectorRequest, limit: int) -> list[tuple[int, float]]:
        """Return (row, cosine) of the nearest symbols."""
        allowed = None
        if request.constraint is not None:
            among = KeywordRequest((), {}, request.constraint, request.exact_rows)
            allowed = [row for row, _ in self.search_bm25(among, max(1, self.symbol_count()))]
        with self._name_damage():
            return self._encoder_vectors(request.encoder).nearest(request, limit, allowed)

    def embedded_count(self, encoder: str) -> int:
        """Return how many symbols have a vector of an encoder."""
        with self._name_damage():
            return self._vectors.count_embedded(encoder, self.generation, self._catalog)

    def has_approximate_vectors(self, encoder: str) -> bool:
        """Whether symbols without a vector of an encoder have approximate ones."""
        return self._vectors.has_approximate(encoder)

    def missing_vectors(self, encoder: str) -> list[tuple[int, bytes]]:
        """Return (row, key) of symbols that have no vector yet, one for each key."""
        return self._encoder_vectors(encoder).missing()

    def without_vector(self, encoder: str, rows: Sequence[int]) -> list[tuple[int, bytes]]:
        """Return (row, key) of those of some symbols that have no vector."""
        keys = self.vector_keys_of(rows)
        with self._name_damage():
            return self._vectors.without_vector(encoder, [(row, keys[row]) for row in rows])

    def vectors(self, encoder: str, rows: Sequence[int]) -> Floats:
        """Return the vectors of symbols."""
        with self._name_damage():
            return self._encoder_vectors(encoder).rows(rows)

    def vector_health(self, encoder: str) -> tuple[bool, str]:
        """Return whether the vectors of an encoder are intact, and how they are searched."""
        return self._encoder_vectors(encoder).health()

    def cluster_centroids(self, encoder: str) -> Floats:
        """Return the centroids of the clusters of similar symbols."""
        return self._encoder_vectors(encoder).centroids()

    def cluster_members(self, encoder: str, cluster: int) -> list[tuple[int, float]]:
        """Return (row, cosine) of the symbols of one cluster."""
        return self._encoder_vectors(encoder).members(cluster)

    def _name_damage(self) -> AbstractContextManager[None]:
        """Return a context in which errors about vectors become errors that name the remedy."""
        return translate_errors(self._folder, *READ_ERRORS)

    def _encoder_vectors(self, encoder: str) -> GenerationVectors:
        return self._vectors.load(encoder, self.generation, self._catalog)

    # Symbols and texts, cached in memory

    def rows(self, ids: Sequence[int]) -> list[SymbolRow]:
        """Return symbols by row, in the given order."""
        read = super().rows
        found = self._cache.rows.get(ids, lambda missing: ((row.row, row) for row in read(missing)))
        return [found[row] for row in ids if row in found]

    def text(self, file_id: int) -> bytes:
        """Return the text of one file."""
        return self._cache.texts.get([file_id], self.texts)[file_id]

    def symbols(self, rows: Sequence[SymbolRow]) -> list[Symbol]:
        """Return symbols with their text."""
        by_key = {(row.row, row.file_id): row for row in rows}

        def read(keys: Sequence[tuple[int, int]]) -> Iterable[tuple[tuple[int, int], Symbol]]:
            missing = [by_key[key] for key in keys]
            texts = self._cache.texts.get({row.file_id for row in missing}, self.texts)
            details = self.details([row.row for row in missing if row.row > 0])
            return zip(keys, build_symbols(missing, texts, details), strict=True)

        symbols = self._cache.symbols.get(by_key, read)
        return [symbols[row.row, row.file_id] for row in rows]

    def documents(self, rows: Sequence[int]) -> list[Document]:
        """Return what an encoder reads of symbols."""
        symbols, details = self.rows(rows), self.details(rows)
        texts = self._cache.texts.get({row.file_id for row in symbols}, self.texts)
        return [
            build_document(row, details[row.row], texts[row.file_id], row.language, row.path)
            for row in symbols
        ]

    # Files and edges

    def files_with_suffix(self, ending: str) -> list[StoredFile]:
        """Return the files whose path is this, or ends with it after a `/`."""
        return [file for file in self.files() if f"/{file.path}".endswith(f"/{ending}")]

    def files_with_problems(self) -> list[StoredFile]:
        """Return the files that have a problem."""
        return [file for file in self.files() if file.problem]

    def edges(
        self, rows: Sequence[int], kinds: Sequence[str] = (), incoming: bool = False, limit: int = EDGE_LIMIT
    ) -> list[Edge]:
        """Return edges out of symbols, or into them."""
        return self._catalog.graph.edges(rows, kinds, incoming, limit)

    def check(self) -> list[str]:
        """Return what is wrong: with the catalog, the text indexes, or between them; reads all of it."""
        problems = self.integrity_check()
        if problems:
            return problems
        try:
            self._fulltext.check()
            self._read_all()
        except READ_ERRORS as error:
            return [f"what is stored can't be read: {error}"]
        counts = self.counts()
        files = self._fulltext.file_count + len(self._deferred_ids())
        for what, count in (("symbols", self._fulltext.symbol_count), ("files", files)):
            if count != counts[what]:
                problems.append(f"the catalog has {counts[what]} {what}, the text index {count}")
        return problems

    def _read_all(self) -> None:
        """Decode the text of every file, and what is stored of its symbols."""
        for file in self.files():
            self.text(file.file_id).decode()
            self.symbols(self.rows_of_files([file.file_id]))
            self.names_of_files([file.file_id])
