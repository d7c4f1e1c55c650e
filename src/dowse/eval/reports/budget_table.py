"""The table of token budgets: the shares that were read after so many tokens, a row for each tool."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from dowse.eval.budget import ENOUGH, KINDS, READ, READ_LINES, budget_of
from dowse.eval.reports.model import MEAN, Report, SetReport
from dowse.eval.reports.wording import NOTHING, format_score, one_line
from dowse.eval.systems.ripgrep import WHOLE
from dowse.eval.types import Result

_TARGETS = {"file": "files", "symbol": "symbols"}


@dataclass(frozen=True, slots=True)
class BudgetTable:
    """The rows of one set, or the means of all."""

    name: str
    targets: str  # what is to be read: "files", "symbols"
    budgets: tuple[int, ...]
    rows: tuple[Result, ...]
    against: str  # the row whose reading is compared with the others'

    @property
    def title(self) -> str:
        """What the figures are."""
        return f"{self.name}: relevant {self.targets} that an agent has read after so many tokens"

    @property
    def note(self) -> str:
        """What one must know to read the figures."""
        return (
            f"read: {ENOUGH} lines of it were shown, or all if it has fewer; lines: the share of all relevant"
            " lines; every byte that is shown is paid for, names and headings too"
        )

    @property
    def kinds(self) -> tuple[str, ...]:
        """The shares that were measured."""
        names = {name for row in self.rows for name in row.metrics}
        return tuple(kind for kind in KINDS if any(f"{kind}@{budget}" in names for budget in self.budgets))

    def label(self, kind: str) -> str:
        """Return what a share is called."""
        return {READ: f"{self.targets} read", READ_LINES: "lines read"}[kind]

    def grid(self, kind: str, width: int = 0) -> list[list[str]]:
        """Return the figures as cells: a head, then a line a row; names cut to a width if that is given."""
        grid = [[self.label(kind), *(f"{budget:,}" for budget in self.budgets)]]
        for row in self.rows:
            shares = (format_score(row.metrics.get(f"{kind}@{budget}")) for budget in self.budgets)
            grid.append([one_line(row.mode, width), *shares])
        return grid

    @property
    def conclusions(self) -> tuple[str, ...]:
        """How much more one has read than with ripgrep and whole files, where both were run."""
        by_mode = {row.mode: row for row in self.rows}
        ours, theirs = by_mode.get(self.against), by_mode.get(WHOLE)
        if ours is None or theirs is None or ours is theirs:
            return ()
        return tuple(
            f"{self.label(kind)}, {ours.mode} against {WHOLE}: "
            + ", ".join(f"{_times(ours, theirs, kind, budget)} at {budget:,}" for budget in self.budgets)
            for kind in self.kinds
        )


def set_budget(each: SetReport) -> BudgetTable | None:
    """Return the table of one set; None where budgets were not measured."""
    return _table(each.dataset.name, {each.dataset.level}, each.results, each.baseline_mode)


def mean_budget(report: Report) -> BudgetTable | None:
    """Return the table of the means of all sets; None where there are none."""
    levels = {each.dataset.level for each in report.sets}
    return _table(f"mean of {len(report.sets)} sets", levels, report.means, report.against)


def _table(name: str, levels: set[str], results: Iterable[Result], against: str) -> BudgetTable | None:
    measured = (row for row in results if any(map(budget_of, row.metrics)))
    rows = [replace(row, mode=row.mode.removeprefix(MEAN)) for row in measured]
    metrics = (budget_of(name) for row in rows for name in row.metrics)
    budgets = sorted({each[1] for each in metrics if each})
    targets = _TARGETS.get(next(iter(levels)), "targets") if len(levels) == 1 else "targets"
    return BudgetTable(name, targets, tuple(budgets), tuple(rows), against) if rows else None


def _times(ours: Result, theirs: Result, kind: str, budget: int) -> str:
    mine, other = (row.metrics.get(f"{kind}@{budget}") for row in (ours, theirs))
    return f"{mine / other:.1f}×" if mine is not None and other else NOTHING
