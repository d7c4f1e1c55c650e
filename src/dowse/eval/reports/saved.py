"""Saved reports: read from a file, and merged into one."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from dowse.errors import EvalError
from dowse.eval.reports.aggregate import make_report
from dowse.eval.reports.json_form import from_json
from dowse.eval.reports.model import Report, SetFacts, SetReport
from dowse.security.terminal import first_line


def read_report(path: str) -> Report:
    """Read what `dowse eval --report` saved."""
    try:
        return from_json(read_saved(Path(path)))
    except EvalError as error:
        raise EvalError(f"{path}: {error}") from error


def read_saved(path: Path) -> dict[str, Any]:
    """Return the JSON of a report, packed if its name ends with .gz; raise EvalError if it is none."""
    try:
        data = path.read_bytes()
        text = gzip.decompress(data) if path.suffix == ".gz" else data
        report = json.loads(text, parse_constant=_refuse)
    except (OSError, EOFError, ValueError, RecursionError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or first_line(error)
        raise EvalError(
            f"no report ({reason}); check the path, or save one with `dowse eval --report FILE`"
        ) from error
    if not isinstance(report, dict):
        raise EvalError("no report; save one with `dowse eval --report FILE`")
    return report


def _refuse(constant: str) -> None:
    """Refuse what JSON has no number for."""
    raise ValueError(f"{constant} is no number")


def merge_reports(reports: Sequence[Report]) -> Report:
    """Merge reports: a set that is in several of them gets the rows of all."""
    sets: dict[tuple[object, ...], SetReport] = {}
    for each in (each for report in reports for each in report.sets):
        key = _identity(each)
        sets[key] = _with_rows(sets[key], each) if key in sets else each
    return make_report(_merge_about(reports), tuple(sets.values()))


def _identity(each: SetReport) -> tuple[object, ...]:
    """Return what makes two sets the same: how they are scored, and the ids of all queries."""
    of_run = ("index", "notes")  # of the run, not of the cases
    values = tuple(getattr(each.dataset, name) for name in SetFacts.__slots__ if name not in of_run)
    ids = tuple(case.id for row in each.results[:1] for case in row.cases)
    return (*values, ids)


def _with_rows(one: SetReport, other: SetReport) -> SetReport:
    twice = [row.mode for row in other.results if one.row(row.mode)]
    if twice:
        raise EvalError(
            f"{one.dataset.name} has the row {', '.join(twice)} in more than one report; render them apart, "
            "or compare them with `dowse eval gate --candidate A.json:ROW --baseline B.json:ROW`"
        )
    return replace(one, results=(*one.results, *other.results), against=one.against or other.against)


def _merge_about(reports: Sequence[Report]) -> dict[str, object]:
    """Return the provenance: values that all have in common once, others as lists."""
    names = dict.fromkeys(name for report in reports for name in report.about)
    about: dict[str, object] = {}
    for name in names:
        values = [report.about[name] for report in reports if name in report.about]
        different = [value for i, value in enumerate(values) if value not in values[:i]]
        about[name] = different[0] if len(different) == 1 else different
    return about
