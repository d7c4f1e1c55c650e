"""Evaluation reports that a server shows: the shipped ones, and those in folders that the user named."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from dowse.errors import EvalError
from dowse.eval.reports.json_form import from_json
from dowse.eval.reports.model import Report, SetReport, first_rank
from dowse.eval.reports.saved import read_saved
from dowse.eval.types import CaseResult, Result
from dowse.security.terminal import first_line
from dowse.services.errors import NotFound
from dowse.services.models.evaluation import CasesQuery, EvalRow, EvalSummary

_ENDINGS = (".json", ".json.gz")
# Reports that are kept in memory with all their cases: two that somebody compares.
MAX_OPEN = 2
# Of a set, as the page shows it.
_COPIED = ("name", "level", "metric", "half", "cases", "strip_docs", "graded", "index", "notes")


class _Folder(NamedTuple):
    source: str  # "shipped" or "own"
    path: Path


@dataclass(frozen=True, slots=True)
class SavedReport:
    """What is kept of a report, and where it comes from."""

    id: str
    name: str
    folder: _Folder
    path: Path
    stamp: tuple[int, int]  # size and time of the file
    summary: dict[str, Any]


class OpenReport(NamedTuple):
    """A report with all its cases."""

    saved: SavedReport
    report: Report
    data: dict[str, Any]  # as it was written: differences take long to compute again


class Reports:
    """All reports: their summaries are kept, their cases read when somebody asks for them."""

    def __init__(self, folders: Iterable[Path], shipped: Path | None = None) -> None:
        """Name the folders, and that of the shipped reports (None finds it); nothing is read yet."""
        self._folders = [
            *(_Folder("own", folder) for folder in folders),
            _Folder("shipped", shipped_folder() if shipped is None else shipped),
        ]
        self._known: dict[str, SavedReport] = {}
        self._opened: list[OpenReport] = []  # the last ones
        self._lock = threading.Lock()

    def all(self) -> tuple[list[SavedReport], list[str]]:
        """Return every report, own ones first, and the problems of invalid files."""
        problems: list[str] = []
        reports: dict[str, SavedReport] = {}
        with self._lock:
            for folder in self._folders:
                for path in _files(folder):
                    try:
                        saved = self._read(folder, path)
                    except (EvalError, OSError) as error:
                        problems.append(f"{_printable(path.name)}: {error}")
                    else:
                        reports[saved.id] = saved
            self._known = reports
        return sorted(reports.values(), key=_sort_key), problems

    def get(self, report_id: str) -> OpenReport:
        """Return one report."""
        saved = next((saved for saved in self.all()[0] if saved.id == report_id), None)
        if saved is None:
            raise NotFound(f"there is no report {report_id!r}; /api/eval lists them")
        with self._lock:
            found = next((each for each in self._opened if each.saved == saved), None)
            found = found or _open(saved.folder, saved.path)
            self._opened = [found, *(each for each in self._opened if each.saved.id != report_id)][:MAX_OPEN]
        return found

    def _read(self, folder: _Folder, path: Path) -> SavedReport:
        known = self._known.get(_id(folder, path))
        if known is not None and known.stamp == _stamp(path):
            return known
        return _open(folder, path).saved


def _open(folder: _Folder, path: Path) -> OpenReport:
    """Read a report; raises EvalError if it could not be shown: one bad file must not hide the others."""
    stamp = _stamp(path)
    data = read_saved(path)
    report = from_json(data)
    name, report_id = _name(path), _id(folder, path)
    try:
        summary = {"id": report_id, "name": name, "source": folder.source, **_summary(report, data)}
        EvalSummary.model_validate(summary)
        for each in data["sets"]:
            for row in each["rows"]:
                EvalRow.model_validate({**figures(row), "difference": row["difference"]})
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise EvalError(f"the report is damaged ({first_line(error)}); run the evaluation again") from None
    return OpenReport(SavedReport(report_id, name, folder, path, stamp, summary), report, data)


def _name(path: Path) -> str:
    return _printable(path.name).removesuffix(".gz").removesuffix(".json").removeprefix("eval-")


def _id(folder: _Folder, path: Path) -> str:
    digest = hashlib.blake2b(os.fsencode(path), digest_size=6).hexdigest()
    return _name(path) if folder.source == "shipped" else digest


def _stamp(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_size, status.st_mtime_ns


def _files(folder: _Folder) -> Iterator[Path]:
    """Give the files of a folder that may be reports, sorted by name."""
    for path in sorted(folder.path.iterdir()) if folder.path.is_dir() else ():
        # The repository of dowse has results of other benchmarks in the same folder.
        may_be = folder.source == "own" or path.name.startswith("eval-")
        if may_be and path.name.endswith(_ENDINGS) and path.is_file():
            yield path


def shipped_folder() -> Path:
    """Return the folder of the shipped reports: in the package, or in the repository it is run from."""
    packaged = Path(__file__).with_name("reports_data")
    return packaged if packaged.is_dir() else Path(__file__).parents[3] / "bench" / "results"


def _summary(report: Report, data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the summary of a report."""
    rows = data["means"] or [row for each in data["sets"][:1] for row in each["rows"]]
    return {
        **{name: _join(report.about.get(name, "")) for name in ("date", "commit", "encoder", "machine")},
        "sets": [each.dataset.name for each in report.sets],
        "modes": list(report.modes),
        "cases": sum(each.dataset.cases for each in report.sets),
        "against": report.against,
        "means": [figures(row) for row in rows],
    }


def figures(row: dict[str, Any]) -> dict[str, Any]:
    """Return the metrics of one row, without its cases."""
    metrics = {name: row[name] for name in ("metrics", "intervals", "latency")}
    return {"mode": row["mode"].removeprefix("mean:"), **metrics}


def _printable(name: str) -> str:
    """Return a file name that can be sent as JSON; undecodable bytes are escaped."""
    return name.encode("utf-8", "backslashreplace").decode()


def _join(value: object) -> str:
    """Return one line for one or several values: several where several runs were merged."""
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _sort_key(saved: SavedReport) -> tuple[bool, list[int], str]:
    """Own reports first, then the latest, then by name."""
    return saved.folder.source != "own", [-ord(char) for char in saved.summary["date"]], saved.name


def list_reports(reports: Reports) -> dict[str, Any]:
    """Return the summaries of all reports, and the problems of invalid files."""
    saved, problems = reports.all()
    return {"reports": [each.summary for each in saved], "problems": problems}


def report_page(found: OpenReport) -> dict[str, Any]:
    """Return one report without its cases."""
    sets = [_set(each, data) for each, data in zip(found.report.sets, found.data["sets"], strict=True)]
    return {"summary": found.saved.summary, "about": dict(found.report.about), "sets": sets}


def cases_page(reports: Reports, report: str, query: CasesQuery) -> dict[str, Any]:
    """Return a page of the cases of one row, each beside the same case of another row if one is named."""
    found = reports.get(report)
    each = _find_set(found, query.name)
    row = _find_row(each, query.mode)
    metrics = list(row.cases[0].values) if row.cases else []
    metric = query.metric or each.metric
    if row.cases and metric not in metrics:
        raise NotFound(f"{metric} is not stored for every case; there are {', '.join(metrics)}")
    others: dict[str, CaseResult] = {}
    if query.other or query.other_mode:
        other_set = _find_set(reports.get(query.other) if query.other else found, each.dataset.name)
        others = {case.id: case for case in _find_row(other_set, query.other_mode).cases}
    cases = sorted(
        (_case(case, metric, others.get(case.id)) for case in row.cases),
        key=lambda case: _case_order(query.order, case),
    )
    end = query.offset + query.k
    return {
        "report": found.saved.id,
        "set": each.dataset.name,
        "mode": row.mode,
        "metric": metric,
        "metrics": metrics,
        "total": len(cases),
        "offset": query.offset,
        "more": len(cases) > end,
        "cases": cases[query.offset : end],
    }


def _set(each: SetReport, data: Mapping[str, Any]) -> dict[str, Any]:
    best, base = each.best, each.baseline
    return {
        **{name: getattr(each.dataset, name) for name in _COPIED},
        "notes": list(each.dataset.notes),
        "against": base.mode if base else "",
        "best": best.mode if best else "",
        "rows": [{**figures(row), "difference": row["difference"]} for row in data["rows"]],
    }


def _find_set(found: OpenReport, name: str) -> SetReport:
    sets = found.report.sets
    for each in sets:
        if not name or each.dataset.name == name:
            return each
    known = ", ".join(each.dataset.name for each in sets)
    raise NotFound(f"{found.saved.name} has no set {name!r}; there are {known}")


def _find_row(each: SetReport, mode: str) -> Result:
    row = each.row(mode) if mode else each.baseline
    if row is None:
        known = ", ".join(row.mode for row in each.results)
        raise NotFound(f"{each.dataset.name} has no row {mode!r}; there are {known}")
    return row


def _case(case: CaseResult, metric: str, other: CaseResult | None) -> dict[str, Any]:
    return {
        "id": case.id,
        "query": case.query,
        "value": case.values[metric],
        "values": dict(case.values),
        "rank": first_rank(case),
        "found": list(case.found),
        "relevant": list(case.relevant),
        "other": {"value": other.values.get(metric), "rank": first_rank(other)} if other else None,
    }


def _case_order(order: str, case: Mapping[str, Any]) -> tuple[float, str]:
    value, other = case["value"], case["other"]
    gain = value - other["value"] if other and other["value"] is not None else 0.0
    keys = {"worst": value, "best": -value, "lost": gain, "won": -gain, "name": 0.0}
    return keys[order], case["id"]
