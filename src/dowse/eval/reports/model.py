"""The data of a report: sets of cases, a row for each configuration or tool, and its provenance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dowse.eval.types import CaseResult, Dataset, Result
from dowse.lazy_classes import dataclass, field

# The prefix of rows of means over all sets: mean:hybrid.
MEAN = "mean:"
# Decimal places of values in saved reports.
PLACES = 6


@dataclass(frozen=True, slots=True)
class SetFacts:
    """The facts of a dataset, without its cases."""

    name: str
    level: str = "file"
    counting: str = "distinct"
    metric: str = "ndcg@10"  # the headline: rows are ordered, compared and plotted by it
    half: str = "all"
    cases: int = 0
    strip_docs: bool = False
    graded: bool = False  # whether judgements are graded, not binary
    index: Mapping[str, object] = field(default_factory=dict)  # files, symbols, settings, …
    notes: Sequence[str] = ()  # problems: targets that are not in the index, …

    @classmethod
    def of(
        cls, dataset: Dataset, index: Mapping[str, object] | None = None, notes: Sequence[str] = ()
    ) -> SetFacts:
        """Return the facts of a dataset, with those of the index that was searched, and notes on problems."""
        same = ("name", "level", "counting", "metric", "half", "strip_docs", "graded")
        return cls(
            **{name: getattr(dataset, name) for name in same},
            cases=len(dataset.scored_cases),
            index=dict(index or {}),
            notes=list(notes),
        )


@dataclass(frozen=True, slots=True)
class SetReport:
    """All rows of one set."""

    dataset: SetFacts
    results: tuple[Result, ...]
    against: str = ""  # the baseline; "" is the first row

    @property
    def metric(self) -> str:
        """The headline metric."""
        return self.dataset.metric

    @property
    def baseline(self) -> Result | None:
        """The row of the baseline, if it was run."""
        return self.row(self.against) if self.against else next(iter(self.results), None)

    @property
    def baseline_mode(self) -> str:
        """The mode of the baseline, "" if it was not run."""
        return self.baseline.mode if self.baseline else ""

    @property
    def best(self) -> Result | None:
        """The row with the highest headline; of equals the baseline, or else the first."""
        rows = [row for row in self.results if self.metric in row.metrics]
        base = self.baseline_mode
        return max(rows, key=lambda row: (row.metrics[self.metric], row.mode == base), default=None)

    @property
    def detailed_mode(self) -> str:
        """The mode whose worst queries are listed: the named baseline, or else the best.

        A saved report holds the queries of one row only.
        """
        rows = [row for row in (self.row(self.against) if self.against else None, self.best) if row]
        known = (row for row in rows if any(case.query for case in row.cases))
        chosen = next(known, next(iter(rows), None))
        return chosen.mode if chosen else ""

    def row(self, mode: str) -> Result | None:
        """Return the row of a mode."""
        return next((row for row in self.results if row.mode == mode), None)

    def worst(self, mode: str, count: int) -> list[CaseResult]:
        """Return the worst queries of a mode; of equals first those that another mode answered well.

        Of a saved report most are known by their ids alone; these are left out.
        """
        row = self.row(mode)
        cases = [case for case in row.cases if self.metric in case.values] if row else []
        missed = [case for case in cases if case.query and case.values[self.metric] < 1]
        others: dict[str, float] = {}
        for case in (case for each in self.results if each.mode != mode for case in each.cases):
            others[case.id] = max(others.get(case.id, 0.0), case.values.get(self.metric, 0.0))

        # Rounded, so that a saved report gives the same ones.
        def order(case: CaseResult) -> tuple[float, float, str]:
            own, best = case.values[self.metric], others.get(case.id, 0.0)
            return round(own, PLACES), -round(best, PLACES), case.id

        return sorted(missed, key=order)[:count]


@dataclass(frozen=True, slots=True)
class Report:
    """One run of an evaluation."""

    about: Mapping[str, object]  # the provenance: commit, encoder, settings, machine, command, date
    sets: tuple[SetReport, ...]
    means: tuple[Result, ...] = ()  # rows called `mean:MODE`, over all sets; empty for a single one

    @property
    def modes(self) -> tuple[str, ...]:
        """Every mode that has a row, in the order they first appear."""
        return tuple(dict.fromkeys(row.mode for each in self.sets for row in each.results))

    @property
    def against(self) -> str:
        """The baseline, as the first set names it."""
        return self.sets[0].baseline_mode if self.sets else ""

    def headline(self, mode: str) -> float | None:
        """Return the mean of every set's own headline metric; None where the mode was left out of a set."""
        rows = [(each.metric, each.row(mode)) for each in self.sets]
        values = [row.metrics[metric] for metric, row in rows if row and metric in row.metrics]
        return sum(values) / len(values) if values and len(values) == len(self.sets) else None


def first_rank(case: CaseResult) -> int | None:
    """Return the rank of the first relevant result, None if there is none in the first 100."""
    reciprocal = case.values.get("mrr@100", 0.0)
    return round(1 / reciprocal) if reciprocal > 0 else None
