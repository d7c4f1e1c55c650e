"""What a search says (docs/JSON.md): the command line's fields, and those of pages and several indexes."""

from __future__ import annotations

from pydantic import Field

from dowse.interfaces.http.models.base import Model
from dowse.types import NoteCode


class Note(Model):
    """A remark about an answer."""

    code: NoteCode = Field(description="For programs.")
    text: str = Field(description="For people, with what helps.")


class Embedded(Model):
    """How much can be found by meaning."""

    encoder: str = Field(description="The id of the encoder: its weights and what it reads.")
    symbols: int = Field(description="Symbols that have a vector.")
    total: int = Field(description="Symbols of the index.")


class Plan(Model):
    """How a query was understood."""

    kind: str = Field(description="name, structure, prose, mixed, pattern, filter or forced.")
    reason: str = Field(description="The same in words.")
    lanes: list[str] = Field(description="Those that were asked.")
    fusion: str = Field(description="How their answers became one; empty where one lane answered alone.")
    seeds: list[str] = Field(description="The names that the graph lane started from.")
    relation: str = Field(description="What it was asked for: callers, subclasses, …; else empty.")
    expanded: list[str] = Field(description="Terms that were added to the query.")


class LaneReport(Model):
    """How one lane fared."""

    lane: str
    found: int = Field(description="How many candidates it gave.")
    milliseconds: float = Field(description="Until it answered, waiting included.")
    problem: str = Field(description="Why it is left out, if it is; else empty.")


class LanePlace(Model):
    """Where one lane put a hit."""

    lane: str
    rank: int
    score: float = Field(description="As the lane gave it: BM25, a cosine, nearness in the graph.")
    normalised: float = Field(description="From 0 to 1, within this answer.")
    detail: str = Field(description="What the lane has to say.")


class Contribution(Model):
    """One addend of a score."""

    source: str
    value: float
    detail: str


class LineMatch(Model):
    """A line that a phrase or regex matched."""

    line: int
    text: str
    spans: list[tuple[int, int]] = Field(description="Character ranges in the text.")


class Hit(Model):
    """One answer: a symbol, its score, and why."""

    rank: int
    score: float = Field(description="Compares within one answer of one index only.")
    id: str = Field(description="The symbol, the same across re-indexing.")
    index: str = Field(description="The index that it comes from.")
    repo: str
    path: str
    start_line: int
    end_line: int
    language: str
    kind: str
    name: str
    qualified_name: str
    signature: str
    doc: str
    code: str = Field(description="Its own text: a class without its methods.")
    confidence: float | None = Field(description="How likely it is relevant; null where meaning had no say.")
    lanes: list[LanePlace] = Field(description="The lanes that found it.")
    explanation: list[Contribution] = Field(description="The values sum to the score.")
    matches: list[LineMatch]


class IndexAnswer(Model):
    """What one index had to say, where several were asked."""

    index: str
    mode: str
    generation: int
    candidates: int
    notes: list[Note]
    embedded: Embedded | None
    plan: Plan | None
    lanes: list[LaneReport]
    problem: str = Field(description="Why it is left out, if it is; else empty.")


class SearchAnswer(Model):
    """A page of hits, and how they came about."""

    schema_: int = Field(alias="schema", description="Raised when a field changes its meaning or goes away.")
    dowse: str = Field(description="The version that answered.")
    query: str
    mode: str = Field(description="How it was answered.")
    generation: int = Field(description="The state of the index; of several the highest.")
    candidates: int = Field(description="How many symbols were ranked.")
    notes: list[Note] = Field(description="What was relaxed, left out or is incomplete.")
    embedded: Embedded | None = Field(description="Null where no encoder is in use.")
    plan: Plan | None
    lanes: list[LaneReport]
    hits: list[Hit] = Field(description="Best first.")
    offset: int = Field(description="How many hits come before these.")
    more: bool = Field(description="Whether another page exists.")
    took_ms: float
    indexes: list[IndexAnswer] = Field(description="What each index said, in the order they are served.")
