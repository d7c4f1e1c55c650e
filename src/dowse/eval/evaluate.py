"""Score any tool on any questions: one search a case, one row of figures."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice

from dowse.errors import EvalError
from dowse.eval.choices import COUNTINGS, LEVELS, check_choice
from dowse.eval.matching import ranked_keys, shown, to_search_result
from dowse.eval.metrics import latency, score
from dowse.eval.stats import bootstrap
from dowse.eval.types import Case, CaseResult, Dataset, Interval, MetricFunction, Result, Search, SearchResult

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
    also: MetricFunction = lambda *_: {},
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
        also: What else to measure of every answer; its time does not count.
        on_case: Called after each case with how many are done.

    Raises:
        EvalError: There are cases, but none has an answer at the level; or level or ks make no sense.
    """
    dataset = cases if isinstance(cases, Dataset) else Dataset("", tuple(cases))
    dataset = replace(dataset, level=level or dataset.level)
    _check(dataset, ks)
    depth, asked, graded = max(depth, *ks), dataset.asked, dataset.graded
    if dataset.cases and not asked:
        other = next(each for each in LEVELS if each != dataset.level)
        raise EvalError(
            f"no question of {dataset.name or 'these'} has a relevant {dataset.level}; try level {other!r}"
        )

    def measure(
        keys: Sequence[str], qrels: Mapping[str, float], found: Sequence[SearchResult]
    ) -> Mapping[str, float]:
        return {**score(keys, qrels, ks, few_judgements=graded), **also(keys, qrels, found)}

    results = []
    for case in asked:
        found, seconds = _timed(search, case.query, depth)
        results.append(_scored(case, found, seconds, dataset, measure))
        on_case(len(results))
    return _row(name, dataset.name, dataset.level, results)


def _check(dataset: Dataset, ks: Sequence[int]) -> None:
    """Refuse what would be scored as something else than it says."""
    check_choice("level", dataset.level, LEVELS)
    check_choice("counting", dataset.counting, COUNTINGS)
    if not ks or min(ks) < 1:
        raise EvalError(f"metrics can't be cut at {list(ks)}; name one or more depths, from 1 on")


def _timed(search: Search, query: str, depth: int) -> tuple[list[SearchResult], float]:
    """Return what was found, and the seconds until all of it was there."""
    started = time.perf_counter()
    results = list(islice(search(query, depth), depth))
    seconds = time.perf_counter() - started
    return [to_search_result(result) for result in results], seconds


def _scored(
    case: Case, found: Sequence[SearchResult], seconds: float, dataset: Dataset, measure: MetricFunction
) -> CaseResult:
    qrels = case.qrels(dataset.level)
    keys = ranked_keys(found, qrels, dataset.level, dataset.counting)
    return CaseResult(
        id=case.id,
        query=case.query,
        values=measure(keys, qrels, found),
        found=tuple(dict.fromkeys(shown(each, dataset.level) for each in found))[:_KEPT],
        relevant=tuple(target for target, grade in qrels.items() if grade > 0),
        seconds=seconds,
    )


def _row(name: str, dataset: str, level: str, cases: Sequence[CaseResult]) -> Result:
    # What could not be measured of every answer has no mean.
    names = [each for each in cases[0].values if all(each in c.values for c in cases)] if cases else []
    columns = {metric: [case.values[metric] for case in cases] for metric in names}
    intervals = {metric: Interval(*bootstrap(values)) for metric, values in columns.items()}
    means = {metric: sum(values) / len(values) for metric, values in columns.items()}
    # To the microsecond, as reports keep them: a saved one must read the same.
    times = {each: round(value, 3) for each, value in latency([c.seconds for c in cases]).items()}
    return Result(name, dataset, level, means, intervals, times, tuple(cases))
