"""Immutable value types that all layers share, without behaviour of their own."""

from __future__ import annotations

from typing import Literal

from dowse.json_form import json_form
from dowse.lazy_classes import NamedTuple, dataclass

# A half-open range of bytes in a file's UTF-8 text.
Span = tuple[int, int]

# Kinds of symbols that can be a type: it has members, and others extend or implement it.
TYPE_KINDS = frozenset(["class", "interface", "struct", "enum", "trait", "type", "impl"])
# The module level of a file, a whole file, and prose: they have names and define nothing.
NON_DEFINITION_KINDS = frozenset(["module", "file", "section", "text"])


class Reference(NamedTuple):
    """A reference in a file to a name (a tuple: files hold thousands)."""

    # "call", "extends", "implements", "import", "use" (decorators, annotations), "value" (it may be a
    # function), "read" or "write"
    kind: str
    name: str  # the last segment of the name: "get" in `self.client.get()`
    qualifier: str  # what precedes it: "self.client"; for imports the module; else ""
    line: int  # 1-based
    column: int  # 0-based, in bytes
    owner: int  # index of the innermost enclosing definition in the same file, -1 for none
    arguments: int = -1  # number in a call, in languages where it selects an overload; else -1


class Fact(NamedTuple):
    """A binding of a name in a file: where it is imported from, its type, or what it is an alias of."""

    # "import" and "export" (a name of another module), "type" (it has a declared type), "made" (the result
    # of a call), "same" (an alias), "local" (bound to something unknown), "package"
    kind: str
    name: str  # in this file; "self.x" for a field
    value: str  # what is imported, the type, the callee, the aliased name; "!" for a literal
    origin: str  # the module it is imported from, as written
    owner: int  # index of the innermost enclosing definition in the same file, -1 for none
    first: int  # the lines of its scope; 0 and 0 for all lines of its owner
    last: int


class Definition(NamedTuple):
    """A searchable chunk of a file: a function, a class header, the module's remainder, a window of lines."""

    kind: str
    name: str
    qualified_name: str  # always joined with ".", whatever the language's separator
    start_line: int  # 1-based; includes decorators and the leading doc comment
    end_line: int  # inclusive
    signature: str  # one line, white space collapsed, no body
    doc: str  # docstring or doc comment without its marks
    spans: tuple[Span, ...]  # own text: without nested classes and methods, with documentation
    doc_spans: tuple[Span, ...]  # of the documentation, to leave it out on request
    part: int = 0  # 1, 2 … for the later parts of an over-long symbol


class Name(NamedTuple):
    """A definition that is no symbol of its own: a constant, a field, an enum member, a configuration key."""

    kind: str
    name: str
    qualified_name: str  # that of its owner, then its own
    line: int  # 1-based
    owner: int  # index of the innermost enclosing definition in the same file, -1 for none


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """The result of parsing one file."""

    language: str
    definitions: tuple[Definition, ...]
    references: tuple[Reference, ...]
    problem: str = ""  # why the syntax tree was not used, if so
    facts: tuple[Fact, ...] = ()
    remainder: int = -1  # index of the definition with the text outside all others
    names: tuple[Name, ...] = ()  # in the order of their lines


@json_form(hidden=("content_hash", "line_numbers"))
@dataclass(frozen=True, slots=True)
class Symbol:
    """A definition with its identity, as a search returns it."""

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

    @property
    def numbered_lines(self) -> list[tuple[int, str]]:
        """The lines of its own text with their line numbers in the file."""
        texts = (text.rstrip("\r") for text in self.code.split("\n"))
        return list(zip(self.line_numbers, texts, strict=False))  # nothing follows the last line feed


class Contribution(NamedTuple):
    """One addend of a score; the contributions of a hit sum to its score."""

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
    """The rank and score of a symbol in one lane."""

    lane: str
    rank: int  # 1-based
    score: float  # as the lane computed it: BM25, cosine, graph distance
    normalised: float  # from 0 to 1, within these results
    detail: str = ""  # an explanation: "calls Cart.add in line 12, resolved"


class Place(NamedTuple):
    """A line of a file."""

    path: str
    line: int  # 1-based


@json_form(inline=("symbol",))
@dataclass(frozen=True, slots=True)
class Hit:
    """One search result: a symbol, its score, and the explanation."""

    rank: int
    score: float
    symbol: Symbol
    explanation: tuple[Contribution, ...] = ()
    matches: tuple[LineMatch, ...] = ()
    lanes: tuple[LaneScore, ...] = ()  # the lanes that returned it
    confidence: float | None = None  # probability of relevance; None without embeddings
    also_in: tuple[Place, ...] = ()  # built or vendored copies of the symbol


class Boost(NamedTuple):
    """The click feedback for a symbol, as reranking uses it."""

    same: float = 0.0  # for the same query: the sum of visitors' votes, those against subtracted
    similar: float = 0.0  # for similar queries: the same, each vote weighted by similarity
    others: float = 0.0  # of `similar`, what remains without the visitor with the highest vote
    detail: str = ""  # the same in words
    rank: int = 0  # the lowest rank at which it was chosen for the same query; 0 for unknown


class LaneReport(NamedTuple):
    """The outcome of one lane."""

    lane: str
    found: int
    milliseconds: float
    problem: str = ""  # why it is left out, if it is


class StageTime(NamedTuple):
    """How long one stage of a search took."""

    stage: str  # "plan", "exact", "lanes", "fusion", "ranking", "refinement", "confidence" or "texts"
    milliseconds: float


@dataclass(frozen=True, slots=True)
class PlanReport:
    """How a query was classified, and how it was answered."""

    kind: str  # "trace", "report", "name", "structure", "prose", "mixed", "pattern", "filter" or "forced"
    reason: str  # the same in words
    lanes: tuple[str, ...]
    fusion: str  # "" where one lane answered alone
    seeds: tuple[str, ...] = ()  # the start symbols of the graph lane
    relation: str = ""  # of the graph lane: "callers", "subclasses", …
    expanded: tuple[str, ...] = ()  # terms added by query expansion


NoteCode = Literal[
    "nothing-relevant",  # the hits are only the nearest ones
    "unknown-name",  # the query is a name that no symbol has
    "below-min-score",  # `min_score` left no hit
    "plain-text",  # parts of the query are no query language and count as words
    "relaxed",  # the query was relaxed: edit distance, split words
    "graph",  # what a name was resolved to; what the call graph found or cannot see
    "trace",  # the query was read as a stack trace, compiler output or diff
    "truncated",  # there are more results than the answer holds, or there was no time for a step
    "partly-embedded",  # some symbols have no vector yet
    "incomplete-index",  # the first indexing run was interrupted
    "refreshing",  # changed files are not in the index yet
    "lane-failed",  # a lane failed or timed out
    "index-failed",  # one of several indexes could not answer
    "feedback",  # recorded feedback could not be read
    "other",
]


@dataclass(frozen=True, slots=True)
class Note:
    """A remark about an answer. Programs read the code, people the text; the remedy is for a prompt."""

    code: NoteCode
    text: str
    remedy: str = ""  # the command or flag that helps at a prompt

    def __str__(self) -> str:
        return f"{self.text}; {self.remedy}" if self.remedy else self.text


INCOMPLETE_INDEX = Note(
    "incomplete-index", "only a part of the files is searched yet", "`dowse index` waits for the rest"
)
UNLINKED_GRAPH = Note("graph", "the call graph is not built yet", "`dowse index` builds it")


class EmbeddingCoverage(NamedTuple):
    """How many symbols of an index have vectors."""

    encoder: str
    symbols: int  # that have one
    total: int
    encoded: int = 0  # candidates that were encoded for this query
    candidates_missing: int = 0  # its candidates by words that still have none
    approximate: bool = False  # whether symbols, or the candidates of this query, have approximate ones


class FileFingerprint(NamedTuple):
    """Size, time and hash of a file, for cheap change detection."""

    size: int
    mtime_ns: int
    content_hash: str


class SymbolRecord(NamedTuple):
    """A symbol to be stored (a tuple: thousands are sent between processes)."""

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
    vector_key: bytes  # hash of all that an encoder reads of it: equal keys, equal vectors
    part: int = 0  # 1, 2 … for the later parts of an over-long symbol
    scope_key: int = 0  # hash of its qualified name and the scope it is looked up in; 0 for none
    name_key: int = 0  # hash of its bare name, kind and language; 0 for none
    overrides: bool = False  # whether its name may be that of a class in another file


class NameRecord(NamedTuple):
    """A name to be stored."""

    key: str  # unique in the index, and the same across re-indexing
    kind: str
    name: str
    qualified_name: str
    line: int
    scope_key: int = 0  # as those of `SymbolRecord`, of names alone: calls never see them
    name_key: int = 0


class FileRecord(NamedTuple):
    """A file to be stored."""

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
    facts: bytes = b""  # bindings of its names for `dowse.graph`, packed
    # (hash of a lookup << 31) | hash of its result, for all lookups of other files in this one
    offers: tuple[int, ...] = ()
    marks: tuple[int, ...] = ()  # hashes under which the file as a whole is looked up
    # Whether its references and trigrams are stored later (`GraphPart`): words are searchable sooner so.
    is_deferred: bool = False
    names: tuple[NameRecord, ...] = ()


class GraphPart(NamedTuple):
    """The part of a file's record that only the call graph needs; the fields are those of `FileRecord`."""

    references: bytes
    facts: bytes
    offers: tuple[int, ...]
    marks: tuple[int, ...]
    keys: tuple[tuple[int, int, bool], ...]  # of each symbol: scope_key, name_key, overrides
    name_keys: tuple[tuple[str, int, int], ...] = ()  # of each name: key, scope_key, name_key


class DeferredFile(NamedTuple):
    """A file whose graph part is not stored yet."""

    file_id: int
    repo: str
    path: str
    language: str
    size: int
    problem: str


@json_form(hidden=("row", "file_id"), renamed={"key": "id"})
class SymbolRow(NamedTuple):
    """A stored symbol without its text, for ranking; or a name."""

    row: int  # negative for a name, 0 for a file as a whole
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
    signature: str  # "" for a name
    file_id: int


def is_test(symbol: SymbolRow) -> bool:
    """Whether a symbol belongs to the tests, by its file or, in Rust, by the module around it."""
    modules = symbol.qualified_name.split(".")[:-1]
    return symbol.role == "test" or (symbol.language == "rust" and bool({"test", "tests"} & set(modules)))


# Why a reference is uncertain; "" if it must mean a symbol of the index with its name.
REASONS = ("", "receiver", "inherited", "import", "undefined", "variable", "value")


@json_form(hidden=("source", "target", "file_id"))
class Edge(NamedTuple):
    """A resolved reference from a symbol to a symbol: an edge of the code graph."""

    kind: str  # "calls", "extends", "implements", "uses" (types, decorators), "imports", "reads" or "writes"
    source: int  # row of the symbol that holds the reference
    target: int  # row of the symbol that it refers to
    file_id: int  # the file of the reference
    line: int  # 1-based
    column: int  # 0-based, in bytes
    # "resolved" (by import, scope, inheritance or declared type), "unique" (the only symbol of that name),
    # "possible" (a function used as a value) or "ambiguous" (one of several)
    confidence: str
    candidates: int  # how many symbols it could refer to: 1 unless ambiguous, 0 for a value
    reason: str = ""  # why it is not certain: one of REASONS


class SymbolRanges(NamedTuple):
    """The line ranges of the symbols of a file: three columns, by first line, outer before inner."""

    rows: list[int]
    starts: list[int]
    ends: list[int]


class StoredFile(NamedTuple):
    """A stored file, for `status --files`."""

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
