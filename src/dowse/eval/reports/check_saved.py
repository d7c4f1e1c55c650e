"""Checks of a saved report before anything is made from it: types, ranges and counts of every value.

A report may come from a repository that anybody wrote. What passes here can be rendered in every form.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

Check: TypeAlias = Callable[[Any], None]

# Rows × questions: each becomes an object, though the file names a question once. Real reports have 42,000.
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
    _require(_keys(data, {"dowse_report", "about", "sets", "means"}), "a report has other parts")
    _plain_object(data["about"])
    cases = sum(_check_set(each) for each in _list(data["sets"]))
    _require(cases <= MAX_CASES, "too many questions")
    for row in _list(data["means"]):
        _figures(row)


def _check_set(value: object) -> int:
    """Check one set; return how many questions all its rows have together."""
    each = _object(value)
    _require(_keys(each, {"dataset", "against", "ids", "rows"}, {"worst"}), "a set has other parts")
    dataset = _object(each["dataset"])
    _require("name" in dataset and dataset.keys() <= _DATASET.keys(), "a set has other facts")
    for name, found in dataset.items():
        _DATASET[name](found)
    _line(each["against"])
    ids = _lines(each["ids"])
    count = 0
    for row in _list(each["rows"]):
        count += _check_row(row, ids)
        _require(count <= MAX_CASES, "too many questions")
    _check_worst(each.get("worst", {}))
    return count


def _check_row(value: object, ids: list[str]) -> int:
    row = _object(value)
    _figures({name: row.get(name) for name in _FIGURES})
    _require(_keys(row, {*_FIGURES, "values", "difference"}, {"ids"}), "a row has other parts")
    own = _lines(row["ids"]) if "ids" in row else ids
    for name, column in _object(row["values"]).items():
        _metric(name)
        _require(len(_list(column)) == len(own), f"{row['mode'][:60]} has not one value for each question")
        for number in column:
            _value_of(name, number)
    if row["difference"] is not None:
        _check_difference(_object(row["difference"]))
    return len(own)


def _check_difference(found: dict[str, Any]) -> None:
    _require(_keys(found, {"mean", "low", "high", "p", "real"}), "a difference has other parts")
    for name in ("mean", "low", "high", "p"):
        _number(found[name])
    _boolean(found["real"])


def _check_worst(value: object) -> None:
    worst = _object(value)
    _require(_keys(worst, set(), {"mode", "cases"}), "the worst questions have other parts")
    _line(worst.get("mode", ""))
    for each in _list(worst.get("cases", [])):
        case = _object(each)
        _require(_keys(case, {"id"}, {"query", "found", "relevant"}), "a question has other parts")
        _line(case["id"])
        _text(case.get("query", ""))
        _lines(case.get("found", []))
        _lines(case.get("relevant", []))


_FIGURES = ("mode", "metrics", "intervals", "latency")


def _figures(value: object) -> None:
    row = _object(value)
    _require(_keys(row, set(_FIGURES)), "figures have other parts")
    _line(row["mode"])
    for name, number in _object(row["metrics"]).items():
        _metric(name)
        _value_of(name, number)
    for name, ends in _object(row["intervals"]).items():
        _metric(name)
        _require(len(_list(ends)) == 2, "an interval has two ends")
        for number in ends:
            _value_of(name, number)
    for name, number in _object(row["latency"]).items():
        _line(name)
        _number(number, 0.0)


def _value_of(metric: str, value: object) -> None:
    _number(value, 0.0, _MAX_NUMBER if _DISTANCE in metric else 1.0)


def _metric(value: object) -> None:
    _require(type(value) is str and bool(_METRIC.fullmatch(value)), "no name of a metric")


def _number(value: object, least: float = -_MAX_NUMBER, most: float = _MAX_NUMBER) -> None:
    is_number = type(value) is float or type(value) is int
    # Not-a-number is in no range.
    _require(is_number and least <= value <= most, "a number is out of range")  # type: ignore[operator]
    _require(value == 0 or abs(value) >= _LEAST_NUMBER, "a number is too small")  # type: ignore[arg-type]


def _count(value: object) -> None:
    _require(type(value) is int and 0 <= value <= _MAX_NUMBER, "no count")


def _boolean(value: object) -> None:
    _require(type(value) is bool, "neither true nor false")


def _text(value: object) -> None:
    _require(type(value) is str and len(value) <= _MAX_TEXT, "no text, or too long")


def _line(value: object) -> None:
    _require(type(value) is str and len(value) <= _MAX_LINE, "no text, or too long")


def _lines(value: object) -> list[str]:
    found = _list(value)
    for each in found:
        _line(each)
    return found


def _texts(value: object) -> None:
    for each in _list(value):
        _text(each)


def _list(value: object) -> list[Any]:
    if type(value) is not list:
        raise ValueError("no list")
    return value


def _object(value: object) -> dict[str, Any]:
    if type(value) is not dict:
        raise ValueError("no object")
    return value


def _plain_object(value: object) -> None:
    """Accept an object of whatever is no deeper than reports have it: settings, facts of an index."""
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
        _number(value, -1e15, 1e15)


def _keys(found: Mapping[str, Any], required: set[str], optional: set[str] | None = None) -> bool:
    return required <= found.keys() <= required | (optional or set())


def _require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise ValueError(otherwise)


_DATASET: dict[str, Check] = {
    "name": _line,
    "level": _line,
    "counting": _line,
    "metric": _metric,
    "half": _line,
    "cases": _count,
    "strip_docs": _boolean,
    "graded": _boolean,
    "index": _plain_object,
    "notes": _texts,
}
