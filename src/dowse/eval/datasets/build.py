"""Make a dataset of cases: level, headline metric, and the half of the held-out split."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from dowse.errors import EvalError
from dowse.eval.types import LEVELS, Case, Dataset, check_choice
from dowse.lazy_classes import replace


def make_dataset(
    name: str,
    cases: Sequence[Case],
    files: tuple[Path, ...],
    *,
    root: Path | None = None,
    counting: str = "distinct",
    strip_docs: bool = False,
) -> Dataset:
    """Return a dataset at file level, or at symbol level if no files were judged."""
    level = "file" if any(case.files for case in cases) else "symbol"
    metric = _main_metric(cases, level)
    return Dataset(name, tuple(cases), level, counting, metric, root, strip_docs, files=files)


def at_level(dataset: Dataset, level: str) -> Dataset:
    """Return a dataset at another level; "" leaves it. Raises EvalError if nothing was judged there."""
    if level in ("", dataset.level):
        return dataset
    check_choice("level", level, LEVELS)
    if not any(case.qrels(level) for case in dataset.cases):
        raise EvalError(f"{dataset.name} has no answers at {level} level; ask for {dataset.level} level")
    return replace(dataset, level=level, metric=_main_metric(dataset.cases, level))


def _main_metric(cases: Sequence[Case], level: str) -> str:
    """Return the headline: MRR where one of many functions is relevant, else nDCG."""
    graded = any(grade not in (0, 1) for case in cases for grade in case.qrels(level).values())
    return "mrr@100" if level == "symbol" and not graded else "ndcg@10"


def half_of(case_id: str) -> str:
    """Return the half of a case: "tune" or "report"."""
    return "tune" if hashlib.sha1(case_id.encode(), usedforsecurity=False).digest()[0] % 2 else "report"


def take_half(dataset: Dataset, half: str) -> Dataset:
    """Return a dataset with the cases of one half; "all" keeps it whole."""
    if half == "all":
        return dataset
    kept = tuple(case for case in dataset.cases if half_of(case.id) == half)
    return replace(dataset, cases=kept, half=half)
