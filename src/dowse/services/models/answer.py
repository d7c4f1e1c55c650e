"""The base classes of all models; the answer of a search (docs/JSON.md), and suggestions."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from dowse.types import NoteCode


class Model(BaseModel):
    """Immutable data without unknown fields."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class RequestModel(Model):
    """What clients send: strict types, no text for a number."""

    model_config = ConfigDict(strict=True)


class Note(Model):
    """A remark about an answer."""

    code: NoteCode = Field(description="For programs.")
    text: str = Field(description="For people.")
    remedy: str = Field(default="", description="The command or flag that helps at a prompt, if any.")


class EmbeddingCoverage(Model):
    """How much of an index has vectors."""

    encoder: str = Field(description="The id of the encoder: its weights and its view.")
    symbols: int = Field(description="Symbols that have a vector.")
    total: int = Field(description="Symbols of the index.")
    encoded: int = Field(description="Candidates without a vector that were encoded for this query.")
    candidates_missing: int = Field(description="Its candidates by words that still have no vector.")
    approximate: bool = Field(description="Whether symbols or candidates have approximate vectors.")


class Plan(Model):
    """How a query was understood."""

    kind: str = Field(description="name, structure, prose, mixed, pattern, filter or forced.")
    reason: str = Field(description="The same in words.")
    lanes: list[str] = Field(description="The lanes that ran.")
    fusion: str = Field(description="How the lanes were fused; empty for a single lane.")
    seeds: list[str] = Field(description="The symbols that the graph lane started from.")
    relation: str = Field(
        description="What the graph lane was asked for: callers, subclasses, …; else empty."
    )
    expanded: list[str] = Field(description="Terms added by query expansion.")


class LaneReport(Model):
    """The result of one lane."""

    lane: str
    found: int = Field(description="Number of candidates.")
    milliseconds: float = Field(description="Latency, waiting included.")
    problem: str = Field(description="Why it failed; empty if it did not.")


class LaneScore(Model):
    """The rank and score of a hit in one lane."""

    lane: str
    rank: int
    score: float = Field(description="BM25, cosine similarity, or proximity in the graph.")
    normalised: float = Field(description="From 0 to 1, within this answer.")
    detail: str = Field(description="An explanation.")


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


class Location(Model):
    """A line of a file."""

    path: str
    line: int


class Hit(Model):
    """One answer: a symbol, its score, and why."""

    rank: int
    score: float = Field(description="Compares within one answer of one index only.")
    id: str = Field(description="The id of the symbol, stable across re-indexing.")
    index: str = Field(description="The index that holds it.")
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
    confidence: float | None = Field(description="Probability that it is relevant; null without embeddings.")
    lanes: list[LaneScore] = Field(description="The lanes that found it.")
    explanation: list[Contribution] = Field(description="The values sum to the score.")
    matches: list[LineMatch]
    also_in: list[Location] = Field(
        default=[], description="Near-identical symbols that this one stands for: copies, built output."
    )


class IndexAnswer(Model):
    """The answer of one index, without its hits."""

    index: str
    mode: str
    generation: int
    candidates: int
    notes: list[Note]
    embedded: EmbeddingCoverage | None
    plan: Plan | None
    lanes: list[LaneReport]
    problem: str = Field(description="Why it failed; empty if it did not.")


class SearchAnswer(Model):
    """A page of hits."""

    schema_: int = Field(alias="schema", description="Raised when a field changes its meaning or goes away.")
    dowse: str = Field(description="The version that answered.")
    query: str
    mode: str = Field(description="The search mode that was used.")
    generation: int = Field(description="The generation of the index; of several the highest.")
    candidates: int = Field(description="Number of symbols that were ranked.")
    notes: list[Note] = Field(description="What was relaxed, is missing or incomplete.")
    embedded: EmbeddingCoverage | None = Field(description="Null without an encoder.")
    plan: Plan | None
    lanes: list[LaneReport]
    hits: list[Hit] = Field(description="Best first.")
    offset: int = Field(description="Number of hits before this page.")
    more: bool = Field(description="Whether another page exists.")
    took_ms: float
    indexes: list[IndexAnswer] = Field(description="The answer of each index.")


class Suggestion(Model):
    """One suggestion."""

    kind: Literal["name", "query", "filter"]
    text: str = Field(description="The text to show.")
    query: str = Field(description="The whole query when it is accepted.")
    detail: str = Field(
        description="The symbol's kind and location, how often a query was asked, or what a filter does."
    )
    index: str = Field(default="", description="The index of a name; empty for others.")
    id: str = Field(default="", description="The symbol id if only one symbol has the name; else empty.")


class Suggestions(Model):
    """Suggestions, best first."""

    query: str
    suggestions: list[Suggestion]
    took_ms: float
