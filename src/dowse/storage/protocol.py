"""What the engine asks of a store. Two parts: writers make generations, readers see one of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from dowse.query import Constraint
from dowse.types import Edge, Extents, FileRecord, FileStamp, Reference, StoredFile, Symbol, SymbolRow

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from dowse.encoders.document import Document
    from dowse.query.regex.trigrams import TrigramQuery

    Floats = NDArray[np.float32]

# Edges that one question gives at most: a name used everywhere would otherwise fill the memory.
EDGE_LIMIT = 10_000


@dataclass(frozen=True, slots=True)
class Term:
    """A term to look for in every field, with its weight and how many edits it may be away."""

    text: str
    weight: float = 1.0
    distance: int = 0


@dataclass(frozen=True, slots=True)
class KeywordRequest:
    """What the keyword lane wants: terms to rank by, weights of fields, conditions to meet."""

    terms: tuple[Term, ...]
    field_weights: Mapping[str, float]
    constraint: Constraint | None = None
    # Rows that the exact leaves (phrases, regexes) of the constraint match, by leaf.
    exact_rows: Mapping[object, frozenset[int]] | None = None


@dataclass(frozen=True, slots=True)
class VectorRequest:
    """What the embedding lane wants: a vector to be near to, and conditions to meet."""

    encoder: str  # the id of the encoder that made it
    vector: Floats
    method: str = "auto"  # auto, exact or approx
    constraint: Constraint | None = None
    exact_rows: Mapping[object, frozenset[int]] | None = None


@dataclass(frozen=True, slots=True)
class TfidfRequest:
    """What the TF-IDF lane wants: terms, pairs of terms written `one other`, and conditions to meet."""

    terms: tuple[str, ...]
    constraint: Constraint | None = None
    exact_rows: Mapping[object, frozenset[int]] | None = None


@dataclass(frozen=True, slots=True)
class KnownVectors:
    """Vectors of one encoder that this machine has: `find` returns those of some keys."""

    encoder: str
    dimension: int
    find: Callable[[list[bytes]], Mapping[bytes, Floats]]


class Reader(Protocol):
    """One generation of an index, unchanging while it is held."""

    generation: int
    identity: str  # of the index: one that was made anew counts its generations from the beginning
    is_corpus: bool  # functions from many places, rather than the files of a tree
    is_complete: bool  # whether the writer had seen everything when it committed

    def keyword(self, request: KeywordRequest, limit: int) -> list[tuple[int, float]]:
        """Return (row, score) of the best symbols, best first; never a score of 0 if there are terms."""

    def explain(
        self, request: KeywordRequest, rows: Sequence[int]
    ) -> dict[int, dict[tuple[str, str], float]]:
        """Return, by row, what each (field, term) adds to its score; the values sum to it."""

    def nearest(self, request: VectorRequest, limit: int) -> list[tuple[int, float]]:
        """Return (row, cosine) of the symbols whose vectors are nearest, best first."""

    def tfidf(self, request: TfidfRequest, limit: int) -> list[tuple[int, float]]:
        """Return (row, score) of the best symbols by sums of tf · idf, best first, equals by place.

        What `Backend.count_terms` has not counted is counted now, which takes its time.
        """

    def explain_tfidf(
        self, request: TfidfRequest, rows: Sequence[int]
    ) -> dict[int, dict[str, tuple[int, float]]]:
        """Return, by row, how often it has each term, and the term's idf: the products sum to its score."""

    def embedded(self, encoder: str) -> int:
        """Return how many symbols have a vector of an encoder."""

    def without_vector(self, encoder: str) -> list[tuple[int, bytes]]:
        """Return (row, key) of symbols that have no vector yet, one for each key."""

    def vectors(self, encoder: str, rows: Sequence[int]) -> Floats:
        """Return the vectors of symbols, a row of zeros for one that has none."""

    def documents(self, rows: Sequence[int]) -> list[Document]:
        """Return what an encoder reads of symbols, in the order asked."""

    def vector_health(self, encoder: str) -> tuple[bool, str]:
        """Say whether the vectors of an encoder are whole, and how they are searched."""

    def clusters(self, encoder: str) -> Floats:
        """Return the centres of the groups of similar symbols, none if they were not fitted."""

    def members(self, encoder: str, cluster: int) -> list[tuple[int, float]]:
        """Return (row, cosine) of the symbols nearer to this centre than to any other, nearest first."""

    def coverage(self, terms: Mapping[str, float], rows: Sequence[int]) -> dict[int, float]:
        """Return, by row, the sum of the weights of the terms that its text has; rows with none may lack."""

    def document_frequency(self, term: str, field: str = "") -> int:
        """Return in how many symbols a term occurs in a field, or in that where it is most frequent."""

    def expect_terms(self, terms: Iterable[str], field: str = "") -> None:
        """Say that `document_frequency` of these terms will be asked for, one by one.

        It changes no answer: over a network one question takes as long as many.
        """

    def exact_candidates(self, trigrams: TrigramQuery) -> list[int]:
        """Return the ids of files whose text may match: all that do, and few others."""

    def texts(self, file_ids: Sequence[int]) -> Iterator[tuple[int, bytes]]:
        """Give the UTF-8 texts of files."""

    def text(self, file_id: int) -> bytes:
        """Return the UTF-8 text of one file."""

    def rows(self, rows: Sequence[int]) -> list[SymbolRow]:
        """Return symbols by row, in the order asked."""

    def rows_of_files(self, file_ids: Sequence[int]) -> list[SymbolRow]:
        """Return the symbols of files, file by file, in the order of their lines."""

    def extents(self, file_ids: Sequence[int]) -> Iterator[tuple[int, Extents]]:
        """Give, for each file, where its symbols lie: by first line, outer before inner."""

    def file_rows(self, file_ids: Sequence[int]) -> list[SymbolRow]:
        """Return files as if each were one symbol of kind "file" around all its lines (row 0)."""

    def lookup(self, pattern: str, limit: int) -> list[SymbolRow]:
        """Return the symbols whose name or qualified name matches a pattern with `*` and `?`."""

    def named(self, keys: Sequence[str]) -> list[SymbolRow]:
        """Return the symbols with these keys, as far as there are any."""

    def files_ending(self, ending: str) -> list[StoredFile]:
        """Return the files whose path is this, or ends with it after a `/`."""

    def troubled_files(self) -> list[StoredFile]:
        """Return the files that have a problem, such as no syntax tree."""

    def symbols(self, rows: Sequence[SymbolRow], *, show_secrets: bool = False) -> list[Symbol]:
        """Return symbols with their text, in which likely secrets are masked unless they are asked for."""

    def edges(
        self, rows: Sequence[int], kinds: Sequence[str] = (), incoming: bool = False, limit: int = EDGE_LIMIT
    ) -> list[Edge]:
        """Return edges out of symbols, or into them; of some kinds, or of all.

        They are ordered by repository, path, line, column and target, so that answers never depend on how
        they are stored. An ambiguous reference gives an edge for each symbol that it could mean.
        """

    def places(self, rows: Sequence[int]) -> NDArray[np.float64]:
        """Return the points of symbols in the Poincaré ball that the tree of all files is embedded in.

        They are seen from the deepest folder or file that holds them all: that is the origin.
        """

    def stamps(self) -> dict[str, FileStamp]:
        """Return size, time and content hash of every file, by key."""

    def files(self) -> list[StoredFile]:
        """Return every file of the index."""

    def skipped(self) -> list[tuple[str, str]]:
        """Return what is left out, and why."""

    def symbol_count(self) -> int:
        """Return the number of symbols, at once."""

    def counts(self) -> dict[str, int]:
        """Return the number of files, symbols, source bytes and files left out."""

    def languages(self) -> dict[str, int]:
        """Return the number of files per language."""

    def meta(self) -> dict[str, str]:
        """Return the description that the last writer left."""


class BrokenBlock(Exception):
    """Stored bytes that do not have the form in which they were written."""


class ResolvedReference(NamedTuple):
    """A resolved reference: from a symbol to another, or to one of several candidates."""

    source: int
    line: int
    column: int
    kind: str
    target: int
    candidates: int


class NamedReference(NamedTuple):
    """An unresolved reference, of which only the name is known."""

    source: int
    line: int
    column: int
    kind: str
    name_key: int
    sure: bool  # whether it must be one of this index, so that the only candidate is the one


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
    """What linking reads and writes: files with their facts, symbols by key, edges."""

    def waiting(self) -> list[int]:
        """Return the files to link: those put since the last time, and those whose questions changed."""

    def linked_file(self, file_id: int) -> UnlinkedFile | None:
        """Return all that linking a file starts from; None if there is nothing."""

    def put_links(
        self,
        file_id: int,
        linked: Iterable[ResolvedReference],
        named: Iterable[NamedReference],
        asked: Iterable[int],
    ) -> None:
        """Replace what a file refers to, and remember what was asked to find out."""

    def settled(self) -> None:
        """Note that every file is linked."""

    def symbols_at(self, scope_key: int) -> list[Target]:
        """Return the symbols under a key, in an order that does not depend on when they came."""

    def is_named(self, name_key: int) -> bool:
        """Whether any symbol has this name."""

    def language_at(self, path: str) -> str | None:
        """Return the language of the file with this path, None if there is no such file."""

    def marked(self, key: int) -> list[str]:
        """Return the paths of the files with a mark."""

    def facts_at(self, path: str) -> bytes:
        """Return the encoded symbol table of a file, nothing if it has none."""


class Writer(Protocol):
    """A generation in the making: nobody sees it before `commit`."""

    def stamps(self) -> dict[str, FileStamp]:
        """Return what the last generation knows of every file, by key."""

    def skipped(self) -> list[tuple[str, str]]:
        """Return what the last generation leaves out."""

    def meta(self) -> dict[str, str]:
        """Return the description of the last generation."""

    def put(self, record: FileRecord) -> None:
        """Add a file, or replace the one with its key."""

    def delete(self, key: str) -> None:
        """Remove a file; one that is not there is no error."""

    def graph(self) -> GraphStore:
        """Return what linking reads and writes, all of it part of this generation."""

    def touch(self, key: str, size: int, mtime_ns: int) -> None:
        """Note a new size and time of a file whose content is the same."""

    def set_skipped(self, skipped: Iterable[tuple[str, str]]) -> None:
        """Replace the list of what is left out."""

    def commit(self, meta: Mapping[str, str]) -> int:
        """Make everything visible at once; return the new generation.

        `meta` describes it; its `tree_dimension` is that of the ball that the tree is embedded in.
        """


class VectorWriter(Protocol):
    """Adds vectors of one encoder. They are named by what was encoded, so they fit every generation."""

    def put(self, keys: Sequence[bytes], vectors: Floats) -> None:
        """Add vectors; readers see them at once, and they stay whatever happens next."""

    def finish(self, clusters: int, method: str, questions: Callable[[], Floats]) -> None:
        """Forget vectors that no symbol uses, and fit what search and `related` need.

        `method` says how they will be searched (auto, exact or approx); `questions` gives vectors of the kind
        that will be asked for, and is called only where they are needed.
        """


class Backend(Protocol):
    """A place for one index."""

    @property
    def address(self) -> str:
        """Where it is: what opens it again, in this process or another."""

    def has_generation(self) -> bool:
        """Whether there is an index to read; also if it is damaged, but not while the first is being made."""

    def is_there(self) -> bool:
        """Whether there is anything that `clear` would remove."""

    def reader(self) -> AbstractContextManager[Reader]:
        """Open the newest generation for reading; raises IndexMissing if there is none."""

    def writer(
        self, wait: float | None = None, on_wait: Callable[[str], None] | None = None
    ) -> AbstractContextManager[Writer]:
        """Become the one writer; leaving without `commit` forgets everything."""

    def carry(self, known: KnownVectors | None) -> None:
        """Let what is written take vectors along that are known, where each would be sent twice otherwise."""

    def check_vectors(self, encoder: str, dimension: int) -> None:
        """Raise DowseError if `vector_writer` would: vectors of another size are there, or damaged ones."""

    def vector_writer(
        self,
        encoder: str,
        dimension: int,
        wait: float | None = None,
        on_wait: Callable[[str], None] | None = None,
    ) -> AbstractContextManager[VectorWriter]:
        """Become the one who adds vectors of an encoder."""

    def count_terms(
        self,
        wait: float | None = None,
        on_wait: Callable[[str], None] | None = None,
        on_counted: Callable[[int, int], None] | None = None,
    ) -> int:
        """Count the terms that `Reader.tfidf` needs and keep them; return how many texts were counted.

        `on_counted` is called with how many are done and how many there are.
        """

    def start_over(self, wait: float | None = None, on_wait: Callable[[str], None] | None = None) -> None:
        """Let the next writer begin with nothing; readers may keep the last generation until it commits."""

    def clear(self, wait: float | None = 0.0, on_wait: Callable[[str], None] | None = None) -> None:
        """Remove the index; of a place that several share, the part that this backend writes."""

    def close(self) -> None:
        """Let go of files and connections; the next reader opens them again."""

    def busy(self) -> int | None:
        """Return the process that is writing, if one is; it may be another machine's."""

    def size(self) -> int:
        """Return the bytes that the index takes."""

    def health(self, *, fields: bool = False) -> dict[str, Any]:
        """Return how a cluster fares: nodes, copies, bytes, `advice`; nothing for a folder.

        `fields` says also how many bytes each field takes, which may take a while.
        """

    def check(self) -> list[str]:
        """Return what is wrong with the index, nothing if all is well."""
