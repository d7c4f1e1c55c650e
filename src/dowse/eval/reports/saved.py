"""Read reports that `dowse eval --report` saved, and merge several into one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dowse.errors import EvalError
from dowse.eval.means import make_report
from dowse.eval.reports.json_form import from_json
from dowse.eval.reports.model import Report, SetFacts, SetReport
from dowse.eval.reports.unpack_saved import MAX_STORED, parse_saved
from dowse.security.safe_files import read_regular_file


def read_report(place: str) -> Report:
    """Read what `dowse eval --report` saved."""
    try:
        data = read_regular_file(place, MAX_STORED, follow_symlinks=True)
    except OSError as error:
        raise EvalError(f"{place} can't be read ({error.strerror}); check the path") from error
    try:
        return from_json(parse_saved(data, packed=place.endswith(".gz"))[0])
    except EvalError as error:
        raise EvalError(f"{place}: {error}") from error


def merge_reports(reports: Sequence[Report]) -> Report:
    """Merge reports: a set that is in several of them gets the rows of all."""
    found: dict[tuple[object, ...], SetReport] = {}
    for each in (each for report in reports for each in report.sets):
        key = _identity(each)
        found[key] = _with_rows(found[key], each) if key in found else each
    return make_report(_merge_about(reports), tuple(found.values()))


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
    found: dict[str, object] = {}
    for name in names:
        values = [report.about[name] for report in reports if name in report.about]
        different = [value for i, value in enumerate(values) if value not in values[:i]]
        found[name] = different[0] if len(different) == 1 else different
    return found
