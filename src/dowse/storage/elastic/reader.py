"""One generation of an index on a cluster, unchanging while it is held."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dowse.storage.elastic import edges, keyword, rows, sources
from dowse.storage.elastic.globs import ending_query
from dowse.storage.elastic.memory import Details, Memory
from dowse.storage.elastic.query import plain, trigram_condition
from dowse.storage.protocol import EDGE_LIMIT, KeywordRequest, VectorRequest
from dowse.storage.symbols import SymbolDetails, build_symbols
from dowse.types import Edge, FileFingerprint, StoredFile, Symbol, SymbolRanges, SymbolRow

if TYPE_CHECKING:
    from dowse.encoders.document import Document
    from dowse.query.regex.trigrams import TrigramQuery
    from dowse.storage.elastic.session import Session
    from dowse.storage.protocol import Floats


class ElasticReader:
    """One generation."""

    def __init__(self, session: Session, memory: Memory) -> None:
        snapshot = session.snapshot
        self._session, self._memory = session, memory
        self.generation, self.identity = snapshot.generation, snapshot.identity
        self.is_corpus = snapshot.corpora > 0 and snapshot.trees == 0
        self.is_complete = snapshot.incomplete == 0
        self.cache_folder: Path | None = None
        self.derived: dict[str, Any] = memory.derived
        self._expected: dict[keyword.Pair, None] = {}

    # By words

    def search_bm25(self, request: KeywordRequest, limit: int) -> list[tuple[int, float]]:
        """Return (row, score) of the best symbols."""
        return keyword.ranked(self._session, self._memory, request, limit)

    def explain_bm25(
        self, request: KeywordRequest, rows: Sequence[int]
    ) -> dict[int, dict[tuple[str, str], float]]:
        """Return what each (field, term) adds to the score of each row."""
        return keyword.contributions(self._session, request, rows)

    def coverage(self, terms: Mapping[str, float], rows: Sequence[int]) -> dict[int, float]:
        """Return how much of some terms the text of each row has."""
        return keyword.covered(self._session, terms, rows)

    def document_frequency(self, term: str, field: str = "") -> int:
        """Return in how many symbols a term occurs in a field, or in that where it is most frequent."""
        wanted, expected = keyword.pairs_of([term], field), self._expected
        if not self._memory.counts.keys() >= set(wanted):
            self._expected = {}  # they are asked for now
        return max(keyword.counts(self._session, self._memory, wanted, expected).values())

    def prefetch_document_frequencies(self, terms: Iterable[str], field: str = "") -> None:
        """Note what to ask for together with the first frequency that is asked for."""
        wanted = (pair for pair in keyword.pairs_of(terms, field) if pair not in self._memory.counts)
        self._expected |= dict.fromkeys(wanted)

    # By vectors

    def nearest(self, request: VectorRequest, limit: int) -> list[tuple[int, float]]:
        """Return (row, cosine) of the nearest symbols."""
        from dowse.storage.elastic import neighbours

        return neighbours.nearest(self._session, self._memory, request, limit)

    def embedded_count(self, encoder: str) -> int:
        """Return how many symbols have a vector of an encoder."""
        from dowse.storage.elastic import neighbours

        return neighbours.embedded(self._session, self._memory, encoder)

    def missing_vectors(self, encoder: str) -> list[tuple[int, bytes]]:
        """Return (row, key) of symbols that have no vector yet, one for each key."""
        from dowse.storage.elastic import neighbours

        return neighbours.missing_vectors(self._session, encoder)

    def vectors(self, encoder: str, rows: Sequence[int]) -> Floats:
        """Return the vectors of symbols."""
        from dowse.storage.elastic import neighbours

        return neighbours.vectors(self._session, encoder, rows)

    def vector_health(self, encoder: str) -> tuple[bool, str]:
        """Say how many symbols have a vector, and how they are searched."""
        known, total = self.embedded_count(encoder), self.symbol_count()
        return True, f"{known:,} of {total:,} symbols have a vector, searched approximately (HNSW, bytes)"

    def cluster_centroids(self, encoder: str) -> Floats:
        """Return the centres of the groups of similar symbols."""
        from dowse.storage.elastic import neighbours

        return neighbours.clusters(self._session, encoder)

    def cluster_members(self, encoder: str, cluster: int) -> list[tuple[int, float]]:
        """Return the symbols of one group."""
        from dowse.storage.elastic import neighbours

        return neighbours.members(self._session, encoder, self.cluster_centroids(encoder), cluster)

    def documents(self, wanted: Sequence[int]) -> list[Document]:
        """Return what an encoder reads of symbols."""
        return rows.documents(self._session, self._memory, wanted)

    # By text

    def trigram_candidates(self, trigrams: TrigramQuery) -> list[int]:
        """Return the ids of files whose text may match."""
        return rows.trigram_candidates(self._session, trigram_condition(trigrams))

    def texts(self, file_ids: Sequence[int]) -> Iterator[tuple[int, bytes]]:
        """Give the texts of files."""
        return rows.read_texts(self._session, file_ids)

    def text(self, file_id: int) -> bytes:
        """Return the text of one file."""
        return self._memory.texts({file_id}, lambda ids: rows.read_texts(self._session, ids))[file_id]

    def text_keys(self) -> list[tuple[int, int, bytes]]:
        """Return row, file id and a key of the own text of every symbol."""
        return rows.text_keys(self._session)

    def symbol_texts(self, wanted: Sequence[int]) -> Iterator[tuple[int, str, str]]:
        """Yield row, own text and documentation beside it."""
        return rows.symbol_texts(self._session, self._memory, wanted)

    # By row and file

    def rows(self, wanted: Sequence[int]) -> list[SymbolRow]:
        """Return symbols by row, in the order asked."""
        return rows.read_rows(self._session, self._memory, wanted)

    def rows_of_files(self, file_ids: Sequence[int]) -> list[SymbolRow]:
        """Return the symbols of files."""
        return rows.rows_of_files(self._session, self._memory, file_ids)

    def symbol_ranges(self, file_ids: Sequence[int]) -> Iterator[tuple[int, SymbolRanges]]:
        """Give, for each file, where its symbols lie."""
        return rows.symbol_ranges(self._session, file_ids)

    def file_rows(self, file_ids: Sequence[int]) -> list[SymbolRow]:
        """Return files as if each were one symbol."""
        return rows.file_rows(self._session, file_ids)

    def lookup(self, pattern: str, limit: int) -> list[SymbolRow]:
        """Return the symbols whose name or qualified name matches a pattern with `*` and `?`."""
        return rows.lookup(self._session, self._memory, pattern, limit)

    def rows_by_key(self, keys: Sequence[str]) -> list[SymbolRow]:
        """Return the symbols with these keys."""
        return rows.named(self._session, keys)

    def files_with_suffix(self, ending: str) -> list[StoredFile]:
        """Return the files whose path is this, or ends with it."""
        return rows.files(self._session, ending_query("path", plain(ending)))

    def files_with_problems(self) -> list[StoredFile]:
        """Return the files that have a problem."""
        return rows.files(self._session, {"bool": {"must_not": [{"term": {"problem": ""}}]}})

    def symbols(self, wanted: Sequence[SymbolRow], *, show_secrets: bool = False) -> list[Symbol]:
        """Return symbols with their text, likely secrets masked unless they are asked for."""
        details, texts = rows.read_both(
            self._session,
            self._memory,
            [row.row for row in wanted if row.row],
            {row.file_id for row in wanted},
        )
        shown = {row: _shown(each) for row, each in details.items()}
        return build_symbols(wanted, texts, shown, show_secrets)

    # The call graph

    def edges(
        self, rows: Sequence[int], kinds: Sequence[str] = (), incoming: bool = False, limit: int = EDGE_LIMIT
    ) -> list[Edge]:
        """Return edges out of symbols, or into them."""
        return edges.edges(self._session, self._memory, rows, kinds, incoming, limit)

    # All of it

    def fingerprints(self) -> dict[str, FileFingerprint]:
        """Return size, time and content hash of every file."""
        return rows.fingerprints(self._session)

    def files(self) -> list[StoredFile]:
        """Return every file of the index."""
        return rows.files(self._session)

    def skipped(self) -> list[tuple[str, str]]:
        """Return what is left out, and why."""
        return sources.skipped_of(self._own or sources.every_version(self._session))

    def symbol_count(self) -> int:
        """Return the number of symbols."""
        return int(self._session.snapshot.totals["symbols"])

    def counts(self) -> dict[str, int]:
        """Return the number of files, symbols, source bytes and files left out."""
        return {
            name: int(self._session.snapshot.totals[name])
            for name in ("files", "symbols", "bytes", "skipped")
        }

    def languages(self) -> dict[str, int]:
        """Return the number of files per language."""
        return rows.languages(self._session, self._memory)

    def meta(self) -> dict[str, str]:
        """Return the description that the last writer left; what all say alike where this is no source."""
        return {**self._described, "generation": str(self.generation)}

    @cached_property
    def _own(self) -> list[sources.Version]:
        return sources.versions(self._session)

    @cached_property
    def _described(self) -> dict[str, str]:
        if self._own:
            return dict(self._own[0]["meta"])
        return sources.meta_of(sources.every_version(self._session))


def _shown(details: Details) -> SymbolDetails:
    return SymbolDetails(details.doc, [list(span) for span in details.spans], details.content_hash)
