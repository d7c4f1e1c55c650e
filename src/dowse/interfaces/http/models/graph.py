"""What the graph says (docs/JSON.md), and the same as nodes and edges to draw."""

from __future__ import annotations

from pydantic import Field

from dowse.interfaces.http.models.answer import Note
from dowse.interfaces.http.models.base import Model
from dowse.interfaces.http.models.symbol import SymbolRef


class Reference(Model):
    """One reference between two symbols."""

    kind: str
    line: int
    column: int
    confidence: str
    candidates: int


class Step(Model):
    """A symbol that was reached, and how."""

    number: int
    depth: int
    parent: int = Field(description="The number of the step before it; 0 for the seed.")
    symbol: SymbolRef
    path: str = Field(description="Of the file that the surest reference stands in.")
    line: int
    kind: str
    other: str = Field(description="Qualified name at the reference's other end.")
    confidence: str
    certainty: str
    through: str
    test: bool
    references: list[Reference]


class Node(Model):
    """A symbol of the picture."""

    id: str
    kind: str
    name: str
    qualified_name: str
    path: str
    language: str
    role: str
    start_line: int
    depth: int = Field(description="Hops from the seed, which has 0.")
    seed: bool


class Arrow(Model):
    """All references of one kind between two symbols; it points to what is used."""

    source: str
    target: str
    kind: str
    line: int = Field(description="Of the surest reference.")
    sure: bool
    certainty: str


class GraphAnswer(Model):
    """The steps of a walk, nearest first, and the picture of them."""

    schema_: int = Field(alias="schema")
    dowse: str
    index: str
    relation: str
    generation: int
    depth: int
    seeds: list[SymbolRef]
    target: SymbolRef | None
    total: int = Field(description="Steps found, of which the first are here.")
    notes: list[Note]
    steps: list[Step]
    nodes: list[Node]
    edges: list[Arrow]
