"""Score any tool on any questions: one search a case, one row of figures."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from itertools import islice

from dowse.errors import EvalError
from dowse.eval.matching import as_found, ranked_keys, shown
from dowse.eval.metrics import latency, score
from dowse.eval.stats import bootstrap
from dowse.eval.types import COUNTINGS, LEVELS, Case, CaseResult, Dataset, Interval, Result, Search

# Metrics look at no more than this: MRR is called mrr@100 for it.
DEPTH = 100
KS = (1, 5, 10)
# Results kept of each case, to show what was found instead of what should have been.
_KEPT = 10


def evaluate(
    search: Search,
    cases: Dataset | Iterable[Case],
    *,
    level: str = "",
    ks: Sequence[int] = KS,
    name: str = "",
    depth: int = DEPTH,
    on_case: Callable[[int], None] = lambda _: None,
) -> Result:
    """Ask every question and return how well it was answered.

    Args:
        search: Takes a question and how many results are wanted, returns them best first: `Hit`s, `Found`,
            paths, `path::name`, or mappings with the fields of `Found`.
        cases: A dataset, or cases, which are then scored at file level. Those without an answer at the level
            are left out.
        level: "file" or "symbol"; "" takes the dataset's.
        ks: Where recall, hit, precision and nDCG are cut.
        name: What the row is called.
        depth: How many results to ask for, or as many as the deepest cut needs; with fewer than 100, mrr@100
            sees no deeper either.
        on_case: Called after each case with how many are done.

    Raises:
        EvalError: There are cases, but none has an answer at the level; or level or ks make no sense.
    """
    dataset = cases if isinstance(cases, Dataset) else Dataset("", tuple(cases))
    level = level or dataset.level
    _check_choices(level, dataset.counting, ks)
    depth = max(depth, *ks)
    asked = [case for case in dataset.cases if any(grade > 0 for grade in case.judged(level).values())]
    if dataset.cases and not asked:
        other = next(each for each in LEVELS if each != level)
        raise EvalError(
            f"no question of {dataset.name or 'these'} has a relevant {level}; try level {other!r}"
        )
    graded = any(grade != 1 for case in asked for grade in case.judged(level).values())
    results = []
    for case in asked:
        results.append(_ask(search, case, level, dataset.counting, ks, depth, graded))
        on_case(len(results))
    return _row(name, dataset.name, level, results)


def _check_choices(level: str, counting: str, ks: Sequence[int]) -> None:
    """Refuse what would be scored as something else than it says."""
    for name, value, choices in (("level", level, LEVELS), ("counting", counting, COUNTINGS)):
        if value not in choices:
            raise EvalError(f"the {name} is one of {', '.join(choices)}, not {value!r}")
    if not ks or min(ks) < 1:
        raise EvalError(f"metrics can't be cut at {list(ks)}; name one or more depths, from 1 on")


def _ask(
    search: Search, case: Case, level: str, counting: str, ks: Sequence[int], depth: int, graded: bool
) -> CaseResult:
    started = time.perf_counter()
    results = list(islice(search(case.query, depth), depth))
    seconds = time.perf_counter() - started
    found = [as_found(result) for result in results]
    judged = case.judged(level)
    keys = ranked_keys(found, judged, level, counting)
    return CaseResult(
        id=case.id,
        query=case.query,
        values=score(keys, judged, ks, few_judgements=graded),
        found=tuple(dict.fromkeys(shown(each, level) for each in found))[:_KEPT],
        relevant=tuple(target for target, grade in judged.items() if grade > 0),
        seconds=seconds,
    )


def _row(name: str, dataset: str, level: str, cases: Sequence[CaseResult]) -> Result:
    names = list(cases[0].values) if cases else []
    columns = {metric: [case.values[metric] for case in cases] for metric in names}
    intervals = {metric: Interval(*bootstrap(values)) for metric, values in columns.items()}
    means = {metric: sum(values) / len(values) for metric, values in columns.items()}
    return Result(name, dataset, level, means, intervals, latency([c.seconds for c in cases]), tuple(cases))
