"""Reports as JSON and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dowse.errors import EvalError
from dowse.eval.files import REPORT
from dowse.eval.reports.aggregate import differences
from dowse.eval.reports.model import PLACES, Report, SetFacts, SetReport
from dowse.eval.stats import Difference
from dowse.eval.types import CaseResult, Interval, Result
from dowse.lazy_classes import asdict
from dowse.security.terminal import first_line

# Raised when a field changes its meaning or goes away.
SCHEMA = 1
# Metrics whose value of every query is kept, beside the set's headline: what gates and plots need.
_KEPT = ("mrr@100", "ndcg@10", "recall@10")
# Queries kept with their text and results, so that a page made from the file can show what went wrong.
WORST = 20


def to_json(report: Report, worst: int = WORST) -> dict[str, Any]:
    """Return a report as plain data (docs/report.schema.json); the worst queries are kept with their text."""
    return {
        REPORT: SCHEMA,
        "about": dict(report.about),
        "sets": [_set(each, worst) for each in report.sets],
        "means": [_figures(row) for row in report.means],
    }


def from_json(data: Mapping[str, Any]) -> Report:
    """Parse a report; of the queries only ids, kept values and the worst are known.

    Raises:
        EvalError: If it is no report, or one of a format we do not know.
    """
    version = data.get(REPORT) if isinstance(data, Mapping) else None
    if version is None:
        raise EvalError("this is no report of dowse; write one with `dowse eval … --json`")
    if version != SCHEMA or type(version) is not int:
        raise EvalError(
            f"the report has format {ascii(version)[:20]}, this dowse reads {SCHEMA}; "
            "run the evaluation again"
        )
    try:
        sets = tuple(_read_set(each) for each in data["sets"])
        means = tuple(_read_row(row, "", "", ()) for row in data["means"])
        return Report(data["about"], sets, means)
    except (LookupError, TypeError, ValueError, AttributeError) as problem:
        raise EvalError(f"the report is damaged ({first_line(problem)}); run the evaluation again") from None


def _set(each: SetReport, count: int) -> dict[str, Any]:
    by_mode = differences((each,), each.baseline_mode)
    first = each.results[0].cases if each.results else ()
    ids = [case.id for case in first]
    worst = [_case_json(case) for case in each.worst(each.detailed_mode, count)]
    kept = tuple(dict.fromkeys((*_KEPT, each.metric)))
    return {
        "dataset": asdict(each.dataset),
        "against": each.against,
        "ids": ids,
        "rows": [_row(row, kept, ids, by_mode.get(row.mode)) for row in each.results],
        "worst": {"mode": each.detailed_mode, "cases": worst},
    }


def _row(
    row: Result, wanted: Sequence[str], ids: Sequence[str], difference: Difference | None
) -> dict[str, Any]:
    own = [case.id for case in row.cases]
    kept = [name for name in wanted if all(name in case.values for case in row.cases)]
    return {
        **_figures(row),
        **({"ids": own} if own != ids else {}),
        "values": {name: [round(value, PLACES) for value in row.values(name)] for name in kept},
        "difference": difference_json(difference) if difference else None,
    }


def _figures(row: Result) -> dict[str, Any]:
    return {
        "mode": row.mode,
        "metrics": _rounded(row.metrics),
        "intervals": {
            name: [round(low, PLACES), round(high, PLACES)] for name, (low, high) in row.intervals.items()
        },
        "latency": {name: round(value, 3) for name, value in row.latency.items()},
    }


def difference_json(difference: Difference) -> dict[str, Any]:
    """Return a difference as plain data."""
    numbers = {name: getattr(difference, name) for name in ("mean", "low", "high", "p")}
    return {**_rounded(numbers), "real": bool(difference.real)}


def _case_json(case: CaseResult) -> dict[str, Any]:
    return {
        "id": case.id,
        "query": case.query,
        "found": list(case.found),
        "relevant": list(case.relevant),
    }


def _rounded(values: Mapping[str, float]) -> dict[str, float]:
    return {name: round(float(value), PLACES) for name, value in values.items()}


def _read_set(data: Mapping[str, Any]) -> SetReport:
    facts = SetFacts(**data["dataset"])
    worst = data.get("worst", {})
    detailed = {case["id"]: case for case in worst.get("cases", ())}
    rows = []
    for row in data["rows"]:
        cases = _read_cases(row, data["ids"], detailed if row["mode"] == worst.get("mode") else {})
        rows.append(_read_row(row, facts.name, facts.level, cases))
    return SetReport(facts, tuple(rows), data["against"])


def _read_row(row: Mapping[str, Any], name: str, level: str, cases: tuple[CaseResult, ...]) -> Result:
    intervals = {metric: Interval(*ends) for metric, ends in row["intervals"].items()}
    return Result(row["mode"], name, level, row["metrics"], intervals, row["latency"], cases)


def _read_cases(
    row: Mapping[str, Any], ids: Sequence[str], detailed: Mapping[str, Mapping[str, Any]]
) -> tuple[CaseResult, ...]:
    ids = row.get("ids", ids)
    values: Mapping[str, Sequence[float]] = row["values"]
    cases = []
    for i, name in enumerate(ids):
        known = detailed.get(name, {})
        cases.append(
            CaseResult(
                id=name,
                query=known.get("query", ""),
                values={metric: column[i] for metric, column in values.items()},
                found=tuple(known.get("found", ())),
                relevant=tuple(known.get("relevant", ())),
            )
        )
    return tuple(cases)
