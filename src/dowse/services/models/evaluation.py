"""Evaluation reports (docs/report.schema.json), and pages of their cases."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field, JsonValue

from dowse.services.models.answer import Model


class Figures(Model):
    """The metrics of one row: a search mode or another system."""

    mode: str
    metrics: dict[str, float] = Field(description="mrr@100, ndcg@10, recall@10, …: means over all cases.")
    intervals: dict[str, tuple[float, float]] = Field(description="95 % confidence intervals.")
    latency: dict[str, float] = Field(description="p50_ms, p95_ms, p99_ms.")


class Difference(Model):
    """The difference of a row from the baseline, over the same cases."""

    mean: float
    low: float
    high: float
    p: float
    real: bool


class EvalRow(Figures):
    """The metrics of one row on one set."""

    difference: Difference | None = Field(description="Null for the baseline.")


class EvalSet(Model):
    """One evaluation set, with its rows."""

    name: str
    level: str = Field(description="What is retrieved: file or symbol.")
    metric: str = Field(description="The headline metric.")
    half: str
    cases: int
    strip_docs: bool
    graded: bool
    index: dict[str, JsonValue] = Field(description="The index that was searched: files, symbols, settings.")
    notes: list[str]
    against: str = Field(description="The baseline.")
    best: str = Field(description="The row with the highest headline metric.")
    rows: list[EvalRow]


class EvalSummary(Model):
    """The summary of a report."""

    id: str
    name: str
    source: Literal["shipped", "own"] = Field(description="Shipped with dowse, or the user's own.")
    date: str
    commit: str
    encoder: str
    machine: str
    sets: list[str]
    modes: list[str]
    cases: int = Field(description="Number of cases of all sets.")
    against: str
    means: list[Figures] = Field(description="Macro averages over sets; of one set, its rows.")


class Evals(Model):
    """All reports."""

    reports: list[EvalSummary] = Field(description="Own reports first, the latest first.")
    problems: list[str] = Field(description="Invalid files, and what is wrong with them.")


class EvalReport(Model):
    """One report without its cases."""

    summary: EvalSummary
    about: dict[str, JsonValue] = Field(description="How it was measured.")
    sets: list[EvalSet]


_Row = Annotated[str, Field(max_length=200)]


class CasesQuery(BaseModel):
    """Which cases of a report to list."""

    name: str = Field("", alias="set", max_length=500, description="The set; by default the first.")
    mode: _Row = Field("", description="The row; by default the baseline.")
    metric: _Row = Field("", description="By default the set's headline metric.")
    other: _Row = Field("", description="A report to compare with, of the same set.")
    other_mode: _Row = Field("", description="The row to compare with.")
    order: Literal["worst", "best", "lost", "won", "name"] = Field(
        "worst", description="lost and won sort by the difference from the other row."
    )
    k: int = Field(50, ge=1, le=200, description="Number of cases.")
    offset: int = Field(0, ge=0, description="Cases to skip.")


class EvalOther(Model):
    """The same case in another row."""

    value: float | None
    rank: int | None


class EvalCase(Model):
    """One case: a query, and what was found."""

    id: str
    query: str = Field(description="Empty if the report stores only the id.")
    value: float = Field(description="The requested metric.")
    values: dict[str, float]
    rank: int | None = Field(description="Of the first relevant result; null if none was found.")
    found: list[str]
    relevant: list[str]
    other: EvalOther | None = Field(description="The same case in the row to compare with.")


class EvalCases(Model):
    """A page of the cases of one row."""

    report: str
    set: str
    mode: str
    metric: str
    metrics: list[str] = Field(description="Metrics that are stored for every case.")
    total: int
    offset: int
    more: bool
    cases: list[EvalCase]
