"""How much of what is relevant an agent has read after so many tokens (docs/EVALUATION.md, "Budgets").

An agent reads what a tool shows, in its order, and pays for every byte of it: names of files, headings, code.
After N tokens it stops, in the middle of a line if need be; a line counts once all of it was shown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from dowse.errors import EvalError
from dowse.eval.budget_pages import Place, ShownLine
from dowse.eval.types import SearchResult
from dowse.token_estimate import BYTES_PER_TOKEN, byte_length

# The share of relevant targets that were read, and the share of all their lines.
READ, READ_LINES = "read", "read_lines"
KINDS = (READ, READ_LINES)
# A target counts as read once so many of its lines were shown, or all if it has fewer: a signature, what it
# is for and a little of how. The name of a file, or one line of a class, is not yet read code.
ENOUGH = 5
# How tokens are counted, for reports.
TOKENS = f"an estimate: {BYTES_PER_TOKEN} bytes of UTF-8 each"
# More than any model reads at once; beyond it a number is a slip.
_MOST = 1_000_000_000
_METRIC = re.compile(rf"({READ}|{READ_LINES})@([1-9][0-9]*)\Z")


def read_budgets(text: str) -> tuple[int, ...]:
    """Return the numbers of tokens that a list such as 500,1000,2000 names, each once, the smallest first.

    Raises:
        EvalError: It is no such list.
    """
    parts = [part.strip().replace("_", "") for part in text.split(",")]
    if not all(part.isascii() and part.isdigit() and 0 < int(part) <= _MOST for part in parts):
        raise EvalError(f"--budget is a list of tokens such as 500,1000,2000, each from 1 on, not {text!r}")
    return tuple(sorted(set(map(int, parts))))


def budget_of(metric: str) -> tuple[str, int] | None:
    """Return which share a metric is and after how many tokens; None if it is about something else."""
    found = _METRIC.match(metric)
    return (found[1], int(found[2])) if found else None


@dataclass(frozen=True, slots=True)
class BudgetMetrics:
    """Measures answers by what is read of them within some budgets."""

    budgets: Sequence[int]
    code: Mapping[str, frozenset[Place]]  # the lines of every relevant target
    show: Callable[[Sequence[SearchResult]], Iterable[ShownLine]]  # what an agent sees of an answer

    def __call__(
        self, ranked: Sequence[str], qrels: Mapping[str, float], found: Sequence[SearchResult]
    ) -> dict[str, float]:
        """Return the shares of one answer.

        Args:
            ranked: Not looked at: what was read decides, whatever a result is called.
            judged: The grade of whatever was judged.
            found: The results, best first.
        """
        wanted = [self.code.get(target, frozenset()) for target, grade in qrels.items() if grade > 0]
        costs = first_shown(self.show(found), max(self.budgets, default=0))
        ways = ((READ, targets_read), (READ_LINES, lines_read))
        return {f"{kind}@{n}": share(wanted, costs, n) for kind, share in ways for n in self.budgets}


def first_shown(lines: Iterable[ShownLine], most: int) -> dict[Place, int]:
    """Return the bytes that an agent has paid when it has first seen each line of code, up to a budget."""
    costs: dict[Place, int] = {}
    paid = 0
    for place, text in lines:
        paid += byte_length(text) + 1  # a line ends, too
        if paid > most * BYTES_PER_TOKEN:
            break
        if place is not None:
            costs.setdefault(place, paid)
    return costs


def targets_read(
    wanted: Sequence[frozenset[Place]], costs: Mapping[Place, int], budget: int, enough: int = ENOUGH
) -> float:
    """Return which share of targets was read after so many tokens; what has no lines never is.

    Args:
        wanted: The lines of each target.
        costs: What had been paid when each line was shown.
        budget: Tokens.
        enough: So many lines make a target read, or all if it has fewer.
    """
    read = (bool(lines) and _seen(lines, costs, budget) >= min(enough, len(lines)) for lines in wanted)
    return sum(read) / len(wanted) if wanted else 0.0


def lines_read(wanted: Sequence[frozenset[Place]], costs: Mapping[Place, int], budget: int) -> float:
    """Return which share of the lines of all targets was shown, each line once, after so many tokens."""
    every = frozenset().union(*wanted)
    return _seen(every, costs, budget) / len(every) if every else 0.0


def _seen(lines: frozenset[Place], costs: Mapping[Place, int], budget: int) -> int:
    limit = budget * BYTES_PER_TOKEN
    return sum(line in costs and costs[line] <= limit for line in lines)
