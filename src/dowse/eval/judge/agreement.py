"""Inter-annotator agreement: Cohen's kappa with quadratic weights (Cohen 1968)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from dowse.errors import EvalError
from dowse.eval.judge.judgements import Judgement


class Agreement(NamedTuple):
    """How two judges compare on the results that both graded."""

    results: int
    same: float  # the share with equal grades
    kappa: float  # 1 is perfect, 0 is what chance gives; from .6 on judgements are usually trusted


def agreement(one: Iterable[Judgement], other: Iterable[Judgement]) -> Agreement:
    """Compare the grades of two judges; what only one of them graded does not count."""
    ours = {each.key: each.grade for each in one if each.grade is not None}
    theirs = {each.key: each.grade for each in other if each.grade is not None}
    pairs = [(grade, theirs[key]) for key, grade in ours.items() if key in theirs]
    if not pairs:
        raise EvalError("the two judges graded nothing in common; let both judge the same questions")
    seen = sum((a - b) ** 2 for a, b in pairs) / len(pairs)
    by_chance = _expected(Counter(a for a, _ in pairs), Counter(b for _, b in pairs)) / len(pairs) ** 2
    # Where both give everything the same grade, chance would agree too: nothing speaks against them.
    kappa = 1 - seen / by_chance if by_chance else 1.0
    return Agreement(len(pairs), sum(a == b for a, b in pairs) / len(pairs), kappa)


def _expected(ours: Counter[int], theirs: Counter[int]) -> float:
    """Return the sum of squared differences between all grades of one and all of the other."""
    return sum((a - b) ** 2 * n * m for a, n in ours.items() for b, m in theirs.items())
