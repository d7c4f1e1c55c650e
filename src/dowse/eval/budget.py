"""How much of what is relevant an agent has read after so many tokens (docs/EVALUATION.md, "Budgets").

An agent reads what a tool shows, in its order, and pays for every byte of it: names of files, headings, code.
After N tokens it stops, in the middle of a line if need be; a line counts once all of it was shown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from dowse.errors import EvalError
from dowse.eval.types import Result, SearchResult
from dowse.token_estimate import BYTES_PER_TOKEN, byte_length

# A line of code: the id of its file, and its number.
CodeLine = tuple[int, int]
# A line that is shown, and which line of code it is; None for anything else, which costs as much.
ShownLine = tuple[CodeLine | None, str]
# The share of relevant targets that were read, and the share of all their lines.
READ, READ_LINES = "read", "read_lines"
KINDS = (READ, READ_LINES)
# A target counts as read once so many of its lines were shown, or all if it has fewer: a signature, what it
# is for and a little of how. The name of a file, or one line of a class, is not yet read code.
ENOUGH = 5
# How tokens are counted, for reports.
TOKENS = f"an estimate: {BYTES_PER_TOKEN} bytes of UTF-8 each"
# More than any model reads at once; a larger number is a typing error.
_MAX_BUDGET = 1_000_000_000
_METRIC = re.compile(rf"({READ}|{READ_LINES})@([1-9][0-9]*)\Z")


def read_budgets(text: str) -> tuple[int, ...]:
    """Return the budgets of a list such as 500,1000,2000, each once, the smallest first.

    Raises:
        EvalError: It is no such list.
    """
    parts = [part.strip().replace("_", "") for part in text.split(",")]
    if not all(part.isascii() and part.isdigit() and 0 < int(part) <= _MAX_BUDGET for part in parts):
        raise EvalError(f"--budget is a list of tokens such as 500,1000,2000, each from 1 on, not {text!r}")
    return tuple(sorted(set(map(int, parts))))


def budget_of(metric: str) -> tuple[str, int] | None:
    """Return the kind and the budget of a metric; None if it is no metric of a budget."""
    match = _METRIC.match(metric)
    return (match[1], int(match[2])) if match else None


def budget_metrics_only(row: Result) -> Result:
    """Return a row with the metrics of budgets alone, for a tool that ranks files to open and no answers."""

    def only(values: Mapping[str, float]) -> dict[str, float]:
        return {name: value for name, value in values.items() if budget_of(name)}

    cases = tuple(replace(case, values=only(case.values)) for case in row.cases)
    intervals = {name: ends for name, ends in row.intervals.items() if budget_of(name)}
    return replace(row, metrics=only(row.metrics), intervals=intervals, cases=cases)


@dataclass(frozen=True, slots=True)
class BudgetMetrics:
    """Measures answers by what is read of them within some budgets."""

    budgets: Sequence[int]
    code: Mapping[str, frozenset[CodeLine]]  # the lines of every relevant target
    show: Callable[[Sequence[SearchResult]], Iterable[ShownLine]]  # what an agent sees of an answer

    def __call__(
        self, ranked: Sequence[str], qrels: Mapping[str, float], results: Sequence[SearchResult]
    ) -> dict[str, float]:
        """Return the shares of one answer; the lines that are shown decide, whatever a result is called."""
        wanted = [self.code.get(target, frozenset()) for target, grade in qrels.items() if grade > 0]
        costs = first_shown(self.show(results), max(self.budgets, default=0))
        shares = ((READ, targets_read), (READ_LINES, lines_read))
        return {f"{kind}@{n}": share(wanted, costs, n) for kind, share in shares for n in self.budgets}


def first_shown(lines: Iterable[ShownLine], budget: int) -> dict[CodeLine, int]:
    """Return the bytes that an agent has paid when each line of code is first shown, up to a budget."""
    costs: dict[CodeLine, int] = {}
    paid = 0
    for line, text in lines:
        paid += byte_length(text) + 1  # and the line break
        if paid > budget * BYTES_PER_TOKEN:
            break
        if line is not None:
            costs.setdefault(line, paid)
    return costs


def targets_read(
    wanted: Sequence[frozenset[CodeLine]], costs: Mapping[CodeLine, int], budget: int, enough: int = ENOUGH
) -> float:
    """Return the share of targets that was read within a budget; a target without lines never is.

    A target is read after `enough` of its lines were shown, or all if it has fewer. `costs` says what had
    been paid when each line was shown.
    """
    read = (bool(lines) and _shown(lines, costs, budget) >= min(enough, len(lines)) for lines in wanted)
    return sum(read) / len(wanted) if wanted else 0.0


def lines_read(wanted: Sequence[frozenset[CodeLine]], costs: Mapping[CodeLine, int], budget: int) -> float:
    """Return the share of the lines of all targets that was shown within a budget, each line once."""
    lines = frozenset().union(*wanted)
    return _shown(lines, costs, budget) / len(lines) if lines else 0.0


def _shown(lines: frozenset[CodeLine], costs: Mapping[CodeLine, int], budget: int) -> int:
    limit = budget * BYTES_PER_TOKEN
    return sum(line in costs and costs[line] <= limit for line in lines)
