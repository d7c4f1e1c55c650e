"""Symbols, related symbols, answers of the call graph (docs/JSON.md), and problems (RFC 9457)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from dowse.services.models.answer import Hit, Model, Note

# A path has two ends, and so an address of its own.
Relation = Literal["callers", "callees", "uses", "implementers", "subclasses", "supertypes", "impact"]
EdgeKind = Literal["calls", "uses", "extends", "implements", "imports", "overrides"]


class OutlineEntry(Model):
    """One symbol in the outline of a file."""

    id: str
    kind: str
    name: str
    qualified_name: str
    start_line: int
    end_line: int
    signature: str


class SymbolRef(OutlineEntry):
    """A symbol without its text."""

    repo: str
    path: str
    language: str
    role: str = Field(description="test, example, docs, generated, vendored, benchmark, or empty.")


class Neighbour(Model):
    """A caller or callee, and the location of the reference."""

    symbol: SymbolRef
    path: str = Field(description="The file of the reference.")
    line: int
    kind: str = Field(description="calls, uses, extends, …")
    confidence: str = Field(description="resolved, unique, ambiguous or possible.")
    certainty: str = Field(description="The same in words.")
    test: bool


class Mention(Model):
    """A line with the name of a symbol that is not known to refer to it."""

    path: str
    line: int
    text: str
    symbol: SymbolRef = Field(description="The innermost symbol around the line, or the file.")


class SymbolAnswer(Model):
    """A symbol with its source, the outline of its file, its callers and callees."""

    index: str
    generation: int
    symbol: SymbolRef
    doc: str
    code: str = Field(description="Its own text: a class without its methods.")
    code_lines: list[int] = Field(description="The line numbers of `code` in the file.")
    source: str = Field(description="All lines from the first to the last, as indexed.")
    lines: int = Field(description="Of the whole file.")
    file: str = Field(description="The path on the server's machine; empty for a corpus.")
    editor: str = Field(description="A link that opens it in an editor; empty without a file.")
    outline: list[OutlineEntry] = Field(description="The symbols of its file, by line.")
    callers: list[Neighbour]
    callers_total: int
    callers_tests: int = Field(description="Of all callers, how many are tests; they come last.")
    mentions: list[Mention] = Field(description="Mentions of its name, if no call of it is certain.")
    total_mentions: int
    callees: list[Neighbour]
    callees_total: int
    callees_tests: int = Field(description="Of all callees, how many are tests.")
    notes: list[Note] = Field(description="What was truncated, merged or can't be seen.")


class RelatedSymbol(Model):
    """The symbol of the request."""

    key: str
    repo: str
    path: str
    language: str
    kind: str
    name: str
    qualified_name: str
    start_line: int
    end_line: int
    signature: str


class Cluster(Model):
    """A cluster of similar symbols."""

    number: int
    size: int
    words: list[str] = Field(description="Words that its names share.")
    members: list[Hit] = Field(description="Nearest to the centroid first.")


class RelatedAnswer(Model):
    """The symbols nearest to one by embedding."""

    schema_: int = Field(alias="schema")
    dowse: str
    index: str
    symbol: RelatedSymbol
    neighbours: list[Hit]
    cluster: Cluster | None = Field(description="Null if no clusters were fitted.")


class Reference(Model):
    """One reference between two symbols."""

    kind: str
    line: int
    column: int
    confidence: str
    candidates: int
    reason: str = Field(description="Why only the name is known; empty otherwise.")


class Step(Model):
    """A symbol that was reached, and the references that lead to it."""

    number: int
    depth: int
    parent: int = Field(description="The number of the step before it; 0 for the seed.")
    symbol: SymbolRef
    path: str = Field(description="The file of the most certain reference.")
    line: int
    kind: str
    other: str = Field(description="The qualified name at the other end of the reference.")
    confidence: str
    certainty: str
    through: str
    test: bool
    references: list[Reference]


class Node(Model):
    """A symbol of the drawing."""

    id: str
    kind: str
    name: str
    qualified_name: str
    path: str
    language: str
    role: str
    start_line: int
    depth: int = Field(description="Hops from the seed, which has 0.")
    test: bool
    seed: bool


class Arrow(Model):
    """All references of one kind between two symbols; the target is the one that is used."""

    source: str
    target: str
    kind: str
    line: int = Field(description="Of the most certain reference.")
    sure: bool
    certainty: str


class GraphAnswer(Model):
    """The steps of a graph traversal, nearest first, and their drawing."""

    schema_: int = Field(alias="schema")
    dowse: str
    index: str
    relation: str
    generation: int
    depth: int
    seeds: list[SymbolRef]
    target: SymbolRef | None
    total: int = Field(description="Number of steps, of which the first are here.")
    total_tests: int = Field(description="Of these, how many are tests.")
    total_by_depth: list[int] = Field(description="Of the others, how many are 1, 2, … hops away.")
    notes: list[Note]
    steps: list[Step]
    total_mentions: int
    mentions: list[Mention] = Field(description="Mentions of the seed's name, if no reference is certain.")
    nodes: list[Node]
    edges: list[Arrow]


class FieldProblem(Model):
    """An invalid parameter or field."""

    field: str = Field(description="query.k, body.kind, …")
    message: str


class Candidate(SymbolRef):
    """A symbol that a name could mean."""

    index: str


class Problem(Model):
    """An error."""

    type: str = Field(description="The kind of problem, as a relative URL.")
    title: str
    status: int
    detail: str
    remedy: str = Field(description="What to do about it.")
    position: int | None = Field(default=None, description="The offset in the query, from 0.")
    fields: list[FieldProblem] | None = Field(default=None, description="The invalid parameters and fields.")
    candidates: list[Candidate] | None = Field(
        default=None, description="The symbols that a name could mean."
    )
    request_id: str | None = Field(
        default=None, description="That of the header `X-Request-ID`, and of the server's log."
    )
