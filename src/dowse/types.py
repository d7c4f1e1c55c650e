"""The data that travels through everything: plain, frozen, without behaviour of their own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

# A half-open range of bytes in a file's UTF-8 text.
Span = tuple[int, int]


class Reference(NamedTuple):
    """One place where a file names something defined elsewhere (a tuple: files hold thousands)."""

    kind: str  # "call", "extends", "implements", "import" or "use" (decorators, annotations)
    name: str  # the last segment of what is named: "get" in `self.client.get()`
    qualifier: str  # what stands before it: "self.client"; for imports the module; else ""
    line: int  # 1-based
    column: int  # 0-based, in bytes
    owner: int  # index of the innermost enclosing definition in the same file, -1 for none


class Definition(NamedTuple):
    """A piece of one file that can be found: a function, a class header, a remainder, a window."""

    kind: str
    name: str
    qualified_name: str  # always joined with ".", whatever the language writes
    start_line: int  # 1-based; includes decorators and the leading doc comment
    end_line: int  # inclusive
    signature: str  # one line, white space collapsed, no body
    doc: str  # documentation without its comment marks
    spans: tuple[Span, ...]  # own text: nested classes and methods cut out, documentation included
    doc_spans: tuple[Span, ...]  # where the documentation stands, to hold it back when asked
    part: int = 0  # 1, 2 … for the later parts of an over-long symbol


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """What the parser saw in one file."""

    language: str
    definitions: tuple[Definition, ...]
    references: tuple[Reference, ...]
    problem: str = ""  # why the syntax tree was not used, if it was not


@dataclass(frozen=True, slots=True)
class Symbol:
    """A definition with its identity: what a search returns."""

    id: str  # the same across re-indexing while repo, path, qualified name and disambiguator are
    repo: str
    path: str  # relative to the repository root, with "/"
    language: str
    kind: str
    name: str
    qualified_name: str
    start_line: int
    end_line: int
    signature: str
    doc: str
    code: str  # its own text: a class without its methods, which are symbols themselves
    content_hash: str
    line_numbers: tuple[int, ...] = ()  # in the file, of each line of `code`


@dataclass(frozen=True, slots=True)
class Contribution:
    """One addend of a score, so that contributions always sum to it."""

    source: str  # "keyword.name", "exact", "signal.definition", …
    value: float
    detail: str = ""


@dataclass(frozen=True, slots=True)
class LineMatch:
    """A line of a file that an exact pattern matched."""

    line: int
    text: str
    spans: tuple[Span, ...]  # character offsets in `text`


@dataclass(frozen=True, slots=True)
class Hit:
    """One answer: a symbol, its score, and why."""

    rank: int
    score: float
    symbol: Symbol
    explanation: tuple[Contribution, ...] = ()
    matches: tuple[LineMatch, ...] = ()


class Embedded(NamedTuple):
    """How much of an index has vectors."""

    encoder: str
    symbols: int  # that have one
    total: int


@dataclass(frozen=True, slots=True)
class Answer:
    """Everything a search says: the hits and how they came about."""

    query: str
    mode: str
    hits: tuple[Hit, ...]
    total_candidates: int
    generation: int
    notes: tuple[str, ...] = field(default=())  # what was relaxed, left out, incomplete
    embedded: Embedded | None = None  # None where no encoder is in use

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)


class FileStamp(NamedTuple):
    """What tells cheaply whether a file changed."""

    size: int
    mtime_ns: int
    content_hash: str


class SymbolRecord(NamedTuple):
    """A symbol on its way into the store (a tuple: it crosses process borders by the thousand)."""

    key: str  # Symbol.id
    kind: str
    name: str
    qualified_name: str
    start_line: int
    end_line: int
    signature: str
    doc: str
    spans: tuple[Span, ...]
    content_hash: str
    terms: tuple[str, ...]  # one string of terms for each of KEYWORD_FIELDS
    doc_spans: tuple[Span, ...]
    vector_key: bytes  # names all that an encoder reads of it: equal keys, equal vectors


class FileRecord(NamedTuple):
    """A file on its way into the store."""

    key: str  # unique in the index: the path, or a corpus entry's id
    repo: str
    path: str
    language: str
    role: str
    size: int
    mtime_ns: int
    content_hash: str
    encoding: str
    lines: int
    problem: str
    packed_text: bytes
    references: bytes
    text: str
    symbols: tuple[SymbolRecord, ...]


class SymbolRow(NamedTuple):
    """A stored symbol as ranking sees it: all but its text."""

    row: int
    key: str
    repo: str
    path: str
    language: str
    role: str
    kind: str
    name: str
    qualified_name: str
    start_line: int
    end_line: int
    signature: str
    file_id: int


class Extents(NamedTuple):
    """Where the symbols of a file lie: three columns, by first line, outer before inner."""

    rows: list[int]
    starts: list[int]
    ends: list[int]


class StoredFile(NamedTuple):
    """A stored file as `status --files` lists it."""

    file_id: int
    repo: str
    path: str
    language: str
    role: str
    size: int
    mtime_ns: int
    encoding: str
    lines: int
    problem: str
    symbols: int


# The fields of the keyword index, in the order of SymbolRecord.terms.
KEYWORD_FIELDS = ("name", "context", "signature", "path", "body")
