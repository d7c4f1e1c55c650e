"""Saved reports: read within limits, so that a decompression bomb is refused, and merged into one."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from dowse.errors import EvalError
from dowse.eval.reports.aggregate import make_report
from dowse.eval.reports.json_form import from_json
from dowse.eval.reports.model import Report, SetFacts, SetReport
from dowse.security.limited_json import parse_json_limited
from dowse.security.safe_files import read_regular_file
from dowse.security.terminal import first_line

# Real reports have up to 0.3 MB packed and 1.3 MB plain, with 170,000 values.
MAX_STORED = 20_000_000
MAX_PLAIN = 20_000_000
MAX_VALUES = 1_000_000
# Columns of zeros shrink to a fiftieth; small files may shrink as they like.
_RATIO, _ALLOWANCE = 100, 1_000_000
_GZIP = 16 + zlib.MAX_WBITS


def read_report(path: str) -> Report:
    """Read what `dowse eval --report` saved."""
    try:
        data = read_regular_file(path, MAX_STORED, follow_symlinks=True)
    except OSError as error:
        raise EvalError(f"{path} can't be read ({error.strerror}); check the path") from error
    try:
        return from_json(parse_saved(data, packed=path.endswith(".gz"))[0])
    except EvalError as error:
        raise EvalError(f"{path}: {error}") from error


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


def parse_saved(data: bytes, *, packed: bool) -> tuple[dict[str, Any], int]:
    """Return the JSON of a report, which may be gzip, and its size; raise EvalError if it is none."""
    try:
        plain = _unpack(data) if packed else data
        if len(plain) > MAX_PLAIN:
            raise ValueError("too large for a report")
        report = parse_json_limited(plain, max_memory=2 * MAX_PLAIN, max_elements=MAX_VALUES)
        if not isinstance(report, dict):
            raise ValueError("no object")
    except (ValueError, zlib.error) as error:
        raise EvalError(
            f"no report; save one with `dowse eval --report FILE` ({first_line(error)})"
        ) from error
    return report, len(plain)


def most_plain(stored: int) -> int:
    """Return how many bytes a packed file of some size may unpack to."""
    return min(MAX_PLAIN, _ALLOWANCE + _RATIO * stored)


def _unpack(data: bytes) -> bytes:
    unpacker = zlib.decompressobj(_GZIP)
    most = most_plain(len(data))
    plain = unpacker.decompress(data, most + 1)
    if len(plain) > most:
        raise ValueError("too large for a report")
    if not unpacker.eof or unpacker.unused_data:
        raise ValueError("cut short, or more than one file")
    return plain
