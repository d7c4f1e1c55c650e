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
    arguments: int = -1  # how many a call has, in languages where that chooses among functions of one name


class Fact(NamedTuple):
    """What a file says of a name: where it is imported from, which type it has, what it stands for."""

    # "import" and "export" (a name of another module), "type" (it has a written type), "made" (a call gives
    # it), "same" (another name for something), "local" (it is bound, nobody says to what), "package"
    kind: str
    name: str  # as this file calls it; "self.x" for a field
    value: str  # what is imported, the type, the callee, the other name; "!" for a literal
    origin: str  # the module it comes from, as written
    owner: int  # index of the innermost enclosing definition in the same file, -1 for none
    first: int  # the lines in which it holds; 0 and 0 where these are all of its owner's
    last: int


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
    facts: tuple[Fact, ...] = ()
    remainder: int = -1  # index of the definition that holds what stands outside all others


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
    masked: int = 0  # likely secrets whose characters are replaced by `*` in the texts above

    @property
    def numbered_lines(self) -> list[tuple[int, str]]:
        """Its own text line by line, with the numbers of the lines in the file."""
        texts = (text.rstrip("\r") for text in self.code.split("\n"))
        return list(zip(self.line_numbers, texts, strict=False))  # nothing follows the last line feed


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


class LaneScore(NamedTuple):
    """Where one lane put a symbol."""

    lane: str
    rank: int  # 1-based
    score: float  # as the lane gave it: BM25, a cosine, nearness in the graph
    normalised: float  # from 0 to 1, within this answer
    detail: str = ""  # what the lane has to say: "calls Cart.add in line 12, resolved"


@dataclass(frozen=True, slots=True)
class Hit:
    """One answer: a symbol, its score, and why."""

    rank: int
    score: float
    symbol: Symbol
    explanation: tuple[Contribution, ...] = ()
    matches: tuple[LineMatch, ...] = ()
    lanes: tuple[LaneScore, ...] = ()  # the lanes that found it
    confidence: float | None = None  # how likely it is relevant; None where meaning had no say


class Boost(NamedTuple):
    """The click feedback for a symbol, as reranking uses it."""

    same: float = 0.0  # for the same query: the sum of visitors' votes, those against subtracted
    similar: float = 0.0  # for similar queries: the same, each vote weighted by similarity
    others: float = 0.0  # of `similar`, what remains without the visitor with the highest vote
    detail: str = ""  # the same in words


class LaneReport(NamedTuple):
    """How one lane fared."""

    lane: str
    found: int
    milliseconds: float
    problem: str = ""  # why it is left out, if it is


@dataclass(frozen=True, slots=True)
class PlanReport:
    """How a query was understood, and how it was answered."""

    kind: str  # "name", "structure", "prose", "mixed", "pattern", "filter" or "forced"
    reason: str  # the same in words
    lanes: tuple[str, ...]
    fusion: str  # "" where one lane answered alone
    seeds: tuple[str, ...] = ()  # the symbols that the graph lane started from
    relation: str = ""  # what it was asked for: "callers", "subclasses", …
    expanded: tuple[str, ...] = ()  # terms that were added to the query


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
    plan: PlanReport | None = None
    lanes: tuple[LaneReport, ...] = field(default=(), compare=False)  # with times, which differ

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
    part: int = 0  # 1, 2 … for the later parts of an over-long symbol
    scope_key: int = 0  # hash of its qualified name and where that is looked for; 0 for never
    name_key: int = 0  # hash of its bare name among those of its kind and language; 0 for never
    overrides: bool = False  # whether its name may be that of a class defined elsewhere


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
    facts: bytes = b""  # what `dowse.graph` knows of its names, packed
    # (hash of a question << 32) + hash of the answer, for all that other files can ask about this one
    offers: tuple[int, ...] = ()
    marks: tuple[int, ...] = ()  # hashes under which the file as a whole is looked for


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


class Edge(NamedTuple):
    """One reference from a symbol to a symbol."""

    kind: str  # "calls", "extends", "implements", "uses" or "imports"
    source: int  # row of the symbol that the reference stands in
    target: int  # row of the symbol that is meant
    file_id: int  # where the reference stands
    line: int  # 1-based
    column: int  # 0-based, in bytes
    # "resolved" (import, scope, inheritance, written type), "unique" (only one symbol of that name could be
    # meant) or "ambiguous" (one of several)
    confidence: str
    candidates: int  # how many symbols could be meant: 1 unless ambiguous


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
