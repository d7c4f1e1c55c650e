"""Reports of evaluations (docs/report.schema.json), and their questions one by one."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, JsonValue

from dowse.interfaces.http.models.base import Model


class Figures(Model):
    """What one way of searching scored."""

    mode: str
    metrics: dict[str, float] = Field(description="mrr@100, ndcg@10, recall@10, …: means over all questions.")
    intervals: dict[str, tuple[float, float]] = Field(description="95 % intervals of the same.")
    latency: dict[str, float] = Field(description="p50_ms, p95_ms, p99_ms.")


class Difference(Model):
    """How far a row is from the one that it is compared with, over the same questions."""

    mean: float
    low: float
    high: float
    p: float
    real: bool


class EvalRow(Figures):
    """One way of searching on one set."""

    difference: Difference | None = Field(description="Null for the row that others are compared with.")


class EvalSet(Model):
    """One set of questions, and how each way of searching did."""

    name: str
    level: str = Field(description="file or symbol: what the answers are.")
    metric: str = Field(description="The headline: what rows are compared by.")
    half: str
    cases: int
    strip_docs: bool
    graded: bool
    index: dict[str, JsonValue] = Field(description="What was searched: files, symbols, settings.")
    notes: list[str]
    against: str = Field(description="The row that others are compared with.")
    best: str = Field(description="The row with the highest headline.")
    rows: list[EvalRow]


class EvalSummary(Model):
    """One report, in short."""

    id: str
    name: str
    source: Literal["shipped", "own"] = Field(description="Measured by the makers, or by whoever runs this.")
    date: str
    commit: str
    encoder: str
    machine: str
    sets: list[str]
    modes: list[str]
    cases: int = Field(description="Questions of all sets.")
    against: str
    means: list[Figures] = Field(description="Every set counts the same; of one set, its rows.")


class Evals(Model):
    """All reports that are at hand."""

    reports: list[EvalSummary] = Field(description="Own ones first, the latest first.")
    problems: list[str] = Field(description="Files that can't be read as reports, and why.")


class EvalReport(Model):
    """One report in full, but for its questions."""

    summary: EvalSummary
    about: dict[str, JsonValue] = Field(description="Where the figures come from.")
    sets: list[EvalSet]


class EvalOther(Model):
    """How the same question fared in another row."""

    value: float | None
    rank: int | None


class EvalCase(Model):
    """One question, and what became of it."""

    id: str
    query: str = Field(description="Empty where the report keeps the id alone.")
    value: float = Field(description="By the metric that was asked for.")
    values: dict[str, float]
    rank: int | None = Field(description="Of the first right answer; null where none was found.")
    found: list[str]
    relevant: list[str]
    other: EvalOther | None = Field(description="The row it is compared with, if one was named.")


class EvalCases(Model):
    """One page of the questions of one row."""

    report: str
    set: str
    mode: str
    metric: str
    metrics: list[str] = Field(description="Those whose value is known for every question.")
    total: int
    offset: int
    more: bool
    cases: list[EvalCase]
