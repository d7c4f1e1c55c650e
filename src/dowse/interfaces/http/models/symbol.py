"""Symbols: by themselves, with source and neighbours, and what is like them."""

from __future__ import annotations

from pydantic import Field

from dowse.interfaces.http.models.answer import Hit, Note
from dowse.interfaces.http.models.base import Model


class OutlineEntry(Model):
    """One symbol of a file."""

    id: str
    kind: str
    name: str
    qualified_name: str
    start_line: int
    end_line: int
    signature: str


class SymbolRef(OutlineEntry):
    """A symbol without its text, and where it stands."""

    repo: str
    path: str
    language: str
    role: str = Field(description="test, example, docs, generated, vendored, benchmark, or empty.")


class Neighbour(Model):
    """A symbol that refers to another, or is referred to, and where."""

    symbol: SymbolRef
    path: str = Field(description="Of the file that the reference stands in.")
    line: int
    kind: str = Field(description="calls, uses, extends, …")
    confidence: str = Field(description="resolved, unique, ambiguous or possible.")
    certainty: str = Field(description="The same in words.")
    test: bool


class SymbolAnswer(Model):
    """A symbol with its source and what stands around it."""

    index: str
    generation: int
    symbol: SymbolRef
    doc: str
    code: str = Field(description="Its own text: a class without its methods.")
    code_lines: list[int] = Field(description="The number in the file of each line of `code`.")
    source: str = Field(description="All lines from the first to the last, as indexed.")
    lines: int = Field(description="Of the whole file.")
    file: str = Field(description="Where the file lies on the server's machine; empty for a corpus.")
    editor: str = Field(description="A link that opens it in an editor; empty where there is no file.")
    outline: list[OutlineEntry] = Field(description="The symbols of its file, in the order of their lines.")
    callers: list[Neighbour]
    callers_total: int
    callees: list[Neighbour]
    callees_total: int
    notes: list[Note] = Field(description="What was cut, taken together or can't be seen.")


class RelatedSymbol(Model):
    """The symbol that was asked about."""

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
    """A group of similar symbols."""

    number: int
    size: int
    words: list[str] = Field(description="That its names share.")
    members: list[Hit] = Field(description="Nearest to its middle first.")


class RelatedAnswer(Model):
    """What is like a symbol."""

    schema_: int = Field(alias="schema")
    dowse: str
    index: str
    symbol: RelatedSymbol
    neighbours: list[Hit]
    cluster: Cluster | None = Field(description="Null where none were fitted.")
