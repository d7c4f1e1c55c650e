"""The backend protocol. Writers make generations; a reader sees one of them (snapshot isolation)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from dowse.lazy_classes import NamedTuple, dataclass
from dowse.query.ast import Constraint
from dowse.types import (
    DeferredFile,
    Edge,
    FileFingerprint,
    FileRecord,
    GraphPart,
    Reference,
    StoredFile,
    Symbol,
    SymbolRanges,
    SymbolRow,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from dowse.encoders.document import Document
    from dowse.query.regex.trigrams import TrigramQuery

    Floats = NDArray[np.float32]

# Called once with a message if another writer holds the lock.
OnWait = Callable[[str], None] | None
# Maximum number of edges of one call: a name that is used everywhere would otherwise fill the memory.
EDGE_LIMIT = 10_000


@dataclass(frozen=True, slots=True)
class Term:
    """A query term for every field, with its weight and maximum edit distance."""

    text: str
    weight: float = 1.0
    distance: int = 0

    @property
    def label(self) -> str:
        """The term in an explanation, with its edit distance."""
        return f"{self.text}~{self.distance}" if self.distance else self.text


@dataclass(frozen=True, slots=True)
class KeywordRequest:
    """A BM25 query: terms, field weights, and a constraint that hits have to match."""

    terms: tuple[Term, ...]
    field_weights: Mapping[str, float]
    constraint: Constraint | None = None
    # Rows that the exact leaves (phrases, regexes) of the constraint match, by leaf.
    exact_rows: Mapping[object, frozenset[int]] | None = None


@dataclass(frozen=True, slots=True)
class VectorRequest:
    """A nearest-neighbour query: a vector, and a constraint that hits have to match."""

    encoder: str  # id of the encoder that made the vector
    vector: Floats
    method: str = "auto"  # auto, exact or approx
    constraint: Constraint | None = None
    exact_rows: Mapping[object, frozenset[int]] | None = None


@dataclass(frozen=True, slots=True)
class KnownVectors:
    """Cached vectors of one encoder on this machine: `find` returns those of some keys."""

    encoder: str
    dimension: int
    find: Callable[[list[bytes]], Mapping[bytes, Floats]]


class Reader(Protocol):
    """One generation of an index; it never changes (snapshot isolation). For one thread at a time."""

    generation: int
    identity: str  # of the index: a rebuilt index has another, and counts generations from 1 again
    is_corpus: bool  # a corpus of functions, not the files of a tree
    is_complete: bool  # whether the last writer had read all files when it committed
    is_linked: bool  # whether the call graph is that of these files; words come first
    cache_folder: Path | None  # for what is derived from the index and may be lost; None on a cluster
    derived: dict[str, Any]  # the same in memory, for as long as this generation is kept open

    def search_bm25(self, request: KeywordRequest, limit: int) -> list[tuple[int, float]]:
        """Return (row, BM25 score) of the best symbols, best first; with terms, no score is 0."""

    def explain_bm25(
        self, request: KeywordRequest, rows: Sequence[int]
    ) -> dict[int, dict[tuple[str, str], float]]:
        """Return, by row, what each (field, term) adds to its BM25 score; the values sum to it."""

    def nearest(self, request: VectorRequest, limit: int) -> list[tuple[int, float]]:
        """Return (row, cosine) of the symbols with the nearest vectors, best first."""

    def embedded_count(self, encoder: str) -> int:
        """Return how many symbols have a vector of an encoder."""

    def has_approximate_vectors(self, encoder: str) -> bool:
        """Whether symbols without a vector of an encoder have approximate ones, used like vectors."""

    def missing_vectors(self, encoder: str) -> list[tuple[int, bytes]]:
        """Return (row, key) of symbols that have no vector yet, one for each key."""

    def without_vector(self, encoder: str, rows: Sequence[int]) -> list[tuple[int, bytes]]:
        """Return (row, key) of those of some symbols that have no vector, in the given order."""

    def vectors(self, encoder: str, rows: Sequence[int]) -> Floats:
        """Return the vectors of symbols; zeros for a symbol without one."""

    def documents(self, rows: Sequence[int]) -> list[Document]:
        """Return what an encoder reads of symbols, in the given order."""

    def vector_health(self, encoder: str) -> tuple[bool, str]:
        """Return whether the vectors of an encoder are intact, and how they are searched."""

    def cluster_centroids(self, encoder: str) -> Floats:
        """Return the centroids of the clusters of similar symbols, none if they were not fitted."""

    def cluster_members(self, encoder: str, cluster: int) -> list[tuple[int, float]]:
        """Return (row, cosine) of the symbols of a cluster, nearest to its centroid first."""

    def coverage(self, terms: Mapping[str, float], rows: Sequence[int]) -> dict[int, float]:
        """Return, by row, the sum of the weights of the terms in its text; rows with 0 may be missing."""

    def document_frequency(self, term: str, field: str = "") -> int:
        """Return the document frequency of a term in a field, or in the field where it is highest."""

    def prefetch_document_frequencies(self, terms: Iterable[str], field: str = "") -> None:
        """Announce that `document_frequency` of these terms will be called, one by one.

        It changes no result. Over a network, one request for all terms replaces one for each.
        """

    def trigram_candidates(self, trigrams: TrigramQuery, limit: int | None = None) -> list[int]:
        """Return the ids of files whose trigrams match: all files that match the pattern, and few others.

        With a limit, any that many of them, or more.
        """

    def texts(self, file_ids: Sequence[int]) -> Iterator[tuple[int, bytes]]:
        """Yield (file id, UTF-8 text) of files."""

    def text(self, file_id: int) -> bytes:
        """Return the UTF-8 text of one file."""

    def text_keys(self) -> list[tuple[int, int, bytes]]:
        """Return row, file id and a 16-byte key of the own text of every symbol, by row.

        Equal keys mean equal texts.
        """

    def symbol_texts(self, rows: Sequence[int]) -> Iterator[tuple[int, str, str]]:
        """Yield row, own text and, in a corpus, documentation of symbols, in any order."""

    def rows(self, rows: Sequence[int]) -> list[SymbolRow]:
        """Return symbols and names by row, in the given order."""

    def rows_of_files(self, file_ids: Sequence[int]) -> list[SymbolRow]:
        """Return the symbols of files, file by file, in the order of their lines."""

    def names_of_files(self, file_ids: Sequence[int]) -> list[SymbolRow]:
        """Return the names of files, file by file, in the order of their lines."""

    def symbol_ranges(self, file_ids: Sequence[int]) -> Iterator[tuple[int, SymbolRanges]]:
        """Yield, for each file, the line ranges of its symbols: by first line, outer before inner."""

    def file_rows(self, file_ids: Sequence[int]) -> list[SymbolRow]:
        """Return files as if each were one symbol of kind "file" around all its lines (row 0)."""

    def lookup(
        self, pattern: str, limit: int, *, is_unqualified: bool = False, with_names: bool = False
    ) -> list[SymbolRow]:
        """Return the symbols whose name or qualified name matches a pattern with `*` and `?`.

        By their names alone is much quicker. `with_names` adds names; of one name, symbols come first.
        """

    def rows_named(self, names: Sequence[str], limit: int, *, with_names: bool = False) -> list[SymbolRow]:
        """Return the symbols called so, letter by letter; by name, path and line.

        `with_names` adds names; of one name, symbols come first.
        """

    def rows_by_key(self, keys: Sequence[str]) -> list[SymbolRow]:
        """Return the symbols and names with these keys; unknown keys are ignored."""

    def files_with_suffix(self, ending: str) -> list[StoredFile]:
        """Return the files whose path is this, or ends with it after a `/`."""

    def source_files(self, paths: Collection[str]) -> list[StoredFile]:
        """Return the files with these paths; of a shared index, those of the opener's source."""

    def files_with_problems(self) -> list[StoredFile]:
        """Return the files that have a problem, such as no syntax tree."""

    def symbols(self, rows: Sequence[SymbolRow]) -> list[Symbol]:
        """Return symbols with their text; names with the lines around them."""

    def edges(
        self, rows: Sequence[int], kinds: Sequence[str] = (), incoming: bool = False, limit: int = EDGE_LIMIT
    ) -> list[Edge]:
        """Return edges out of symbols, or into them; of some kinds, or of all.

        They are ordered by repository, path, line, column and target, so that results never depend on the
        backend. An ambiguous reference gives one edge for each candidate.
        """

    def fingerprints(self) -> dict[str, FileFingerprint]:
        """Return size, time and content hash of every file, by key."""

    def files(self) -> list[StoredFile]:
        """Return every file of the index."""

    def skipped(self) -> list[tuple[str, str]]:
        """Return skipped paths, each with the reason."""

    def symbol_count(self) -> int:
        """Return the number of symbols, without counting."""

    def counts(self) -> dict[str, int]:
        """Return the number of files, symbols, source bytes and skipped paths."""

    def languages(self) -> dict[str, int]:
        """Return the number of files per language."""

    def meta(self) -> dict[str, str]:
        """Return the description that the last writer left."""


class ResolvedReference(NamedTuple):
    """A resolved reference: from a symbol to another, or to one of several candidates."""

    source: int
    line: int
    column: int
    kind: str
    target: int
    candidates: int  # 0 for a function used as a value


class NamedReference(NamedTuple):
    """An unresolved reference, of which only the name is known."""

    source: int
    line: int
    column: int
    kind: str
    name_key: int
    reason: str  # one of REASONS; "": it must be one of this index, so that the only candidate is the one


class Target(NamedTuple):
    """A symbol that a reference can mean."""

    row: int
    kind: str
    qualified_name: str
    signature: str
    path: str
    language: str


class FileSymbol(NamedTuple):
    """A symbol of the file that is being linked."""

    row: int
    kind: str
    name: str
    qualified_name: str
    first: int
    last: int
    part: int
    signature: str


class UnlinkedFile(NamedTuple):
    """The input of linking one file."""

    file_id: int
    path: str
    language: str
    references: list[Reference]
    table: bytes  # its symbol table, as `dowse.graph.symbol_table` encodes it
    symbols: list[FileSymbol]  # in the order in which references count them


class GraphStore(Protocol):
    """The call graph as linking reads and writes it: files with their facts, symbols by key, edges."""

    def files_to_link(self) -> list[int]:
        """Return the files to link: those put since the last linking, and those whose lookups changed."""

    def file_to_link(self, file_id: int) -> UnlinkedFile | None:
        """Return all that linking a file starts from; None if there is nothing."""

    def put_links(
        self,
        file_id: int,
        linked: Iterable[ResolvedReference],
        named: Iterable[NamedReference],
        dependencies: Iterable[int],
    ) -> None:
        """Replace the edges out of a file, and store the lookup keys that they depend on."""

    def mark_all_linked(self) -> None:
        """Record that every file is linked."""

    def symbols_in_scope(self, scope_key: int) -> list[Target]:
        """Return the symbols with a scope key, in an order that does not depend on when they were added."""

    def has_symbol_named(self, name_key: int) -> bool:
        """Whether any symbol has this name."""

    def language_of_path(self, path: str) -> str | None:
        """Return the language of the file with this path, None if there is no such file."""

    def paths_with_mark(self, key: int) -> list[str]:
        """Return the paths of the files with a mark."""

    def facts_of_path(self, path: str) -> bytes:
        """Return the encoded symbol table of a file, nothing if it has none."""


class Writer(Protocol):
    """A new generation; nobody sees it before `commit`."""

    def fingerprints(self) -> dict[str, FileFingerprint]:
        """Return size, time and content hash of every file of the last generation, by key."""

    def skipped(self) -> list[tuple[str, str]]:
        """Return what the last generation skips."""

    def meta(self) -> dict[str, str]:
        """Return the description of the last generation."""

    def put(self, record: FileRecord) -> None:
        """Add a file, or replace the one with its key."""

    def delete(self, key: str) -> None:
        """Remove a file; an unknown key is no error."""

    def graph(self) -> GraphStore:
        """Return the call graph of this generation."""

    def share_graph(self) -> str:
        """Return the path of a catalog with this graph (`dowse.storage.local.catalog`), for other processes.

        "" if there is none, or if files have changed since the last commit.
        """

    def deferred_files(self, limit: int) -> list[DeferredFile]:
        """Return some of the files that were put as deferred and not completed since."""

    def complete_file(self, file_id: int, part: GraphPart) -> None:
        """Store what the record of a deferred file left out."""

    def touch(self, key: str, size: int, mtime_ns: int) -> None:
        """Record new size and time of a file with the same content."""

    def set_skipped(self, skipped: Iterable[tuple[str, str]]) -> None:
        """Replace the list of skipped paths."""

    def begin_generation(self) -> None:
        """Let the next commit be a new generation although no file changed: the graph alone did."""

    def commit(self, meta: Mapping[str, str]) -> int:
        """Make everything visible in one atomic step; return the new generation, which `meta` describes."""


class VectorWriter(Protocol):
    """Adds vectors of one encoder. Their keys are hashes of content, so they fit every generation."""

    def put(self, keys: Sequence[bytes], vectors: Floats) -> None:
        """Add vectors; readers see them at once, and they are durable."""

    def finish(self, clusters: int, method: str, sample_queries: Callable[[], Floats]) -> None:
        """Remove unused vectors, fit the clusters, and build the index for approximate search.

        `method` is how they will be searched (auto, exact or approx); `sample_queries` returns typical query
        vectors, and is called only if they are needed.
        """


class Backend(Protocol):
    """Storage of one index. Thread-safe: each reader has a connection of its own."""

    @property
    def address(self) -> str:
        """What `open_backend` opens it with, in this process or another."""

    def has_generation(self) -> bool:
        """Whether there is an index to read, even a damaged one; False while the first is being built."""

    def exists(self) -> bool:
        """Whether there is anything that `clear` would remove."""

    def reader(self) -> AbstractContextManager[Reader]:
        """Open the newest generation for reading; raises IndexMissing if there is none."""

    def writer(self, wait: float | None = None, on_wait: OnWait = None) -> AbstractContextManager[Writer]:
        """Hold the write lock; leaving without `commit` rolls everything back."""

    def set_known_vectors(self, known: KnownVectors | None) -> None:
        """Let writers send known vectors along with symbols, where they would otherwise be sent twice."""

    def vector_writer(
        self, encoder: str, dimension: int, wait: float | None = None, on_wait: OnWait = None
    ) -> AbstractContextManager[VectorWriter]:
        """Hold the write lock of the vectors of an encoder."""

    def start_over(self, wait: float | None = None, on_wait: OnWait = None) -> None:
        """Let the next writer begin with an empty index; until its commit, readers may use the last one."""

    def clear(self, wait: float | None = 0.0, on_wait: OnWait = None) -> None:
        """Remove the index; of a shared one, the part that this backend writes."""

    def remove_damage(self, wait: float | None = None, on_wait: OnWait = None) -> bool:
        """Remove vectors that are damaged, or else the index; a cluster mends its own damage.

        Returns whether anything was removed: another process may have built the index again meanwhile.
        """

    def close(self) -> None:
        """Close files and connections; the next reader opens them again."""

    def writer_process(self) -> int | None:
        """Return the id of the process that holds the write lock, if any; it may be on another machine."""

    def size(self) -> int:
        """Return the bytes that the index takes."""

    def health(self) -> dict[str, Any]:
        """Return the health of a cluster: nodes, documents, bytes, `advice`; nothing for a folder."""

    def check(self) -> list[str]:
        """Return what is wrong with the index, nothing if it is intact."""
