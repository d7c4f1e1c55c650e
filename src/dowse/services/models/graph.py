"""Answers of the call graph (docs/JSON.md), as steps and as nodes and edges to draw."""

from __future__ import annotations

from pydantic import Field

from dowse.services.models.answer import Note
from dowse.services.models.base import Model
from dowse.services.models.symbol import SymbolRef


class Reference(Model):
    """One reference between two symbols."""

    kind: str
    line: int
    column: int
    confidence: str
    candidates: int


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
    notes: list[Note]
    steps: list[Step]
    nodes: list[Node]
    edges: list[Arrow]
