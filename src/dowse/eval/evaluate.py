"""Score any tool on any cases: one search a case, one row of metrics."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from itertools import islice

from dowse.errors import EvalError
from dowse.eval.matching import display_name, ranked_keys, to_search_result
from dowse.eval.metrics import latency, score
from dowse.eval.stats import bootstrap
from dowse.eval.types import (
    COUNTINGS,
    LEVELS,
    Case,
    CaseResult,
    Dataset,
    Interval,
    Result,
    Search,
    check_choice,
)
from dowse.lazy_classes import replace

# How many results are requested; metrics look no deeper: MRR is called mrr@100 for it.
DEPTH = 100
KS = (1, 5, 10)
# Results kept of each case, to show what was retrieved instead of the relevant targets.
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
    """Run every query and return the scores.

    Args:
        search: Takes a query and how many results are wanted, returns them best first: `Hit`s,
            `SearchResult`s, paths or `path::name`.
        cases: A dataset, or cases, which are then scored at file level. Cases without a relevant target at
            the level are left out.
        level: "file" or "symbol"; "" takes the dataset's.
        ks: The cut-offs of recall, hit rate, precision and nDCG.
        name: What the row is called.
        depth: How many results to request, or as many as the deepest cut-off needs; with fewer than 100,
            mrr@100 sees no deeper either.
        on_case: Called after each case with how many are done.

    Raises:
        EvalError: There are cases, but none has a relevant target at the level; or level or ks are invalid.
    """
    dataset = cases if isinstance(cases, Dataset) else Dataset("", tuple(cases))
    dataset = replace(dataset, level=level or dataset.level)
    check_choice("level", dataset.level, LEVELS)
    check_choice("counting", dataset.counting, COUNTINGS)
    if not ks or min(ks) < 1:
        raise EvalError(f"metrics can't be cut at {list(ks)}; name one or more depths, from 1 on")
    depth, scored = max(depth, *ks), dataset.scored_cases
    if dataset.cases and not scored:
        other = next(each for each in LEVELS if each != dataset.level)
        raise EvalError(
            f"no question of {dataset.name or 'these'} has a relevant {dataset.level}; try level {other!r}"
        )
    results = []
    for case in scored:
        results.append(_run_case(search, case, depth, dataset, ks))
        on_case(len(results))
    return _aggregate(name, dataset, results)


def _run_case(search: Search, case: Case, depth: int, dataset: Dataset, ks: Sequence[int]) -> CaseResult:
    started = time.perf_counter()
    results = list(islice(search(case.query, depth), depth))
    seconds = time.perf_counter() - started
    answer = [to_search_result(result) for result in results]
    qrels = case.qrels(dataset.level)
    keys = ranked_keys(answer, qrels, dataset.level, dataset.counting)
    return CaseResult(
        id=case.id,
        query=case.query,
        values=score(keys, qrels, ks, few_judgements=dataset.graded),
        found=tuple(dict.fromkeys(display_name(each, dataset.level) for each in answer))[:_KEPT],
        relevant=tuple(target for target, grade in qrels.items() if grade > 0),
        seconds=seconds,
    )


def _aggregate(name: str, dataset: Dataset, cases: Sequence[CaseResult]) -> Result:
    names = cases[0].values if cases else ()
    columns = {metric: [case.values[metric] for case in cases] for metric in names}
    intervals = {metric: Interval(*bootstrap(values)) for metric, values in columns.items()}
    means = {metric: sum(values) / len(values) for metric, values in columns.items()}
    # Rounded to the microsecond, as saved reports are: both must read the same.
    times = {each: round(value, 3) for each, value in latency([c.seconds for c in cases]).items()}
    return Result(name, dataset.name, dataset.level, means, intervals, times, tuple(cases))
