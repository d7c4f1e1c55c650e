"""Symbols, the page of one symbol, and related symbols."""

from __future__ import annotations

from pydantic import Field

from dowse.services.models.answer import Hit, Note
from dowse.services.models.base import Model


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
    callees: list[Neighbour]
    callees_total: int
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
