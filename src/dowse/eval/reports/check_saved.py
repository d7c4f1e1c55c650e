"""Validation of a saved report: types, ranges and counts of every value.

A report may come from a repository that anybody wrote. What passes here can be rendered in every form.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

# Raises ValueError for an invalid value.
Check: TypeAlias = Callable[[Any], None]

# Rows × queries: each becomes an object, though the file names a query once. Real reports have 42,000.
MAX_CASES = 200_000
_MAX_DEPTH = 8
_MAX_TEXT = 100_000
_MAX_LINE = 1_000
_MAX_NUMBER = 1e9
# Values are rounded to six places: what is not 0 is not smaller, and 1 / x stays finite.
_LEAST_NUMBER = 1e-7
_METRIC = re.compile(r"[a-z_]{1,40}(?:@[0-9]{1,9})?")
# Of all metrics, only these are no share between 0 and 1.
_DISTANCE = "distance"


def check_report(data: Mapping[str, Any]) -> None:
    """Raise ValueError if a report has anything in it that `to_json` would not write."""
    _REPORT(data)
    cases = 0
    for each in data["sets"]:
        for row in each["rows"]:
            ids = row.get("ids", each["ids"])
            cases += len(ids)
            same = all(len(column) == len(ids) for column in row["values"].values())
            _require(same, f"{row['mode'][:60]} has not one value for each question")
            _require(cases <= MAX_CASES, "too many questions")


def _require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise ValueError(otherwise)


def _record(required: Mapping[str, Check], optional: Mapping[str, Check] | None = None) -> Check:
    """Check an object with these fields and no others."""
    fields = {**required, **(optional or {})}

    def check(value: object) -> None:
        names = _object(value).keys()
        _require(required.keys() <= names <= fields.keys(), "an object has other fields")
        for name, each in _object(value).items():
            fields[name](each)

    return check


def _list_of(element: Check) -> Check:
    def check(value: object) -> None:
        _require(type(value) is list, "no list")
        for each in value:  # type: ignore[attr-defined]
            element(each)

    return check


def _by_metric(element: Callable[[str], Check]) -> Check:
    """Check an object from metrics to values; the check of a value depends on its metric."""

    def check(value: object) -> None:
        for name, each in _object(value).items():
            _metric(name)
            element(name)(each)

    return check


def _object(value: object) -> dict[str, Any]:
    if type(value) is not dict:
        raise ValueError("no object")
    return value


def _number(least: float = -_MAX_NUMBER, most: float = _MAX_NUMBER) -> Check:
    def check(value: Any) -> None:  # noqa: ANN401
        # Not-a-number is in no range.
        _require(type(value) in (int, float) and least <= value <= most, "a number is out of range")
        _require(value == 0 or abs(value) >= _LEAST_NUMBER, "a number is too small")

    return check


def _text_up_to(length: int) -> Check:
    def check(value: object) -> None:
        _require(type(value) is str and len(value) <= length, "no text, or too long")

    return check


def _metric(value: object) -> None:
    _require(type(value) is str and _METRIC.fullmatch(value) is not None, "no name of a metric")


def _value_of(metric: str) -> Check:
    return _number(0.0, _MAX_NUMBER if _DISTANCE in metric else 1.0)


def _interval_of(metric: str) -> Check:
    def check(value: object) -> None:
        _list_of(_value_of(metric))(value)
        _require(len(value) == 2, "an interval has two ends")  # type: ignore[arg-type]

    return check


def _latency(value: object) -> None:
    for name, number in _object(value).items():
        _line(name)
        _number(0.0)(number)


def _count(value: object) -> None:
    _require(type(value) is int and 0 <= value <= _MAX_NUMBER, "no count")


def _boolean(value: object) -> None:
    _require(type(value) is bool, "neither true nor false")


def _plain_object(value: object) -> None:
    """Accept any object that is no deeper than reports have it: settings, facts of an index."""
    _object(value)
    _plain(value, _MAX_DEPTH)


def _plain(value: object, depth: int) -> None:
    _require(depth > 0, "nested too deeply")
    if type(value) is dict:
        for key, each in value.items():
            _line(key)
            _plain(each, depth - 1)
    elif type(value) is list:
        for each in value:
            _plain(each, depth - 1)
    elif type(value) is str:
        _text(value)
    elif value is not None and type(value) is not bool:
        _number(-1e15, 1e15)(value)


def _optional(check: Check) -> Check:
    return lambda value: None if value is None else check(value)


_line, _text = _text_up_to(_MAX_LINE), _text_up_to(_MAX_TEXT)
_lines = _list_of(_line)
_FIGURES: dict[str, Check] = {
    "mode": _line,
    "metrics": _by_metric(_value_of),
    "intervals": _by_metric(_interval_of),
    "latency": _latency,
}
_DIFFERENCE = _record({**dict.fromkeys(("mean", "low", "high", "p"), _number()), "real": _boolean})
_ROW = _record(
    {
        **_FIGURES,
        "values": _by_metric(lambda name: _list_of(_value_of(name))),
        "difference": _optional(_DIFFERENCE),
    },
    {"ids": _lines},
)
_DATASET = _record(
    {"name": _line},
    {
        **dict.fromkeys(("level", "counting", "half"), _line),
        **dict.fromkeys(("strip_docs", "graded"), _boolean),
        "metric": _metric,
        "cases": _count,
        "index": _plain_object,
        "notes": _list_of(_text),
    },
)
_CASE = _record({"id": _line}, {"query": _text, "found": _lines, "relevant": _lines})
_SET = _record(
    {"dataset": _DATASET, "against": _line, "ids": _lines, "rows": _list_of(_ROW)},
    {"worst": _record({}, {"mode": _line, "cases": _list_of(_CASE)})},
)
_REPORT = _record(
    {
        "dowse_report": lambda _: None,  # its reader checks the version first
        "about": _plain_object,
        "sets": _list_of(_SET),
        "means": _list_of(_record(_FIGURES)),
    }
)
