"""Evaluation reports that a server shows: the shipped ones, and those in folders that the user named."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from dowse.errors import EvalError
from dowse.eval.reports.json_form import from_json
from dowse.eval.reports.model import Report, SetReport, first_rank
from dowse.eval.reports.saved import read_saved
from dowse.eval.types import CaseResult, Result
from dowse.json_form import to_json
from dowse.lazy_classes import NamedTuple, dataclass
from dowse.security.terminal import first_line
from dowse.services.errors import NotFound
from dowse.services.schemas import model

_ENDINGS = (".json", ".json.gz")
# Reports that are kept in memory with all their cases: two that somebody compares.
MAX_OPEN = 2
# Of a set, as the page shows it.
_COPIED = ("name", "level", "metric", "half", "cases", "strip_docs", "graded")


@dataclass(frozen=True, slots=True)
class Figures:
    """The metrics of one row: a search mode or another system."""

    mode: str
    metrics: dict[str, float]  # mrr@100, ndcg@10, recall@10, …: means over all cases
    intervals: dict[str, tuple[float, float]]  # 95 % confidence intervals
    latency: dict[str, float]  # p50_ms, p95_ms, p99_ms


@dataclass(frozen=True, slots=True)
class EvalDifference:
    """The difference of a row from the baseline, over the same cases."""

    mean: float
    low: float
    high: float
    p: float
    real: bool


@dataclass(frozen=True, slots=True)
class EvalRow(Figures):
    """The metrics of one row on one set."""

    difference: EvalDifference | None  # None for the baseline


@dataclass(frozen=True, slots=True)
class EvalSet:
    """One evaluation set, with its rows."""

    name: str
    level: str  # what is retrieved: file or symbol
    metric: str  # the headline metric
    half: str
    cases: int
    strip_docs: bool
    graded: bool
    index: dict[str, Any]  # that was searched: files, symbols, settings
    notes: tuple[str, ...]
    against: str  # the baseline
    best: str  # the row with the highest headline metric
    rows: tuple[EvalRow, ...]


@dataclass(frozen=True, slots=True)
class EvalSummary:
    """The summary of a report."""

    id: str
    name: str
    source: Literal["shipped", "own"]  # shipped with dowse, or the user's own
    date: str
    commit: str
    encoder: str
    machine: str
    sets: tuple[str, ...]
    modes: tuple[str, ...]
    cases: int  # of all sets
    against: str
    means: tuple[Figures, ...]  # macro averages over sets; of one set, its rows


@dataclass(frozen=True, slots=True)
class Evals:
    """All reports."""

    reports: tuple[EvalSummary, ...]  # own reports first, the latest first
    problems: tuple[str, ...]  # invalid files, and what is wrong with them


@dataclass(frozen=True, slots=True)
class EvalReport:
    """One report without its cases."""

    summary: EvalSummary
    about: dict[str, Any]  # how it was measured
    sets: tuple[EvalSet, ...]


_Row = Annotated[str, Field(max_length=200)]


class CasesQuery(BaseModel):
    """Which cases of a report to list."""

    name: str = Field("", alias="set", max_length=500, description="The set; by default the first.")
    mode: _Row = Field("", description="The row; by default the baseline.")
    metric: _Row = Field("", description="By default the set's headline metric.")
    other: _Row = Field("", description="A report to compare with, of the same set.")
    other_mode: _Row = Field("", description="The row to compare with.")
    order: Literal["worst", "best", "lost", "won", "name"] = Field(
        "worst", description="lost and won sort by the difference from the other row."
    )
    k: int = Field(50, ge=1, le=200, description="Number of cases.")
    offset: int = Field(0, ge=0, description="Cases to skip.")


@dataclass(frozen=True, slots=True)
class OtherCase:
    """The same case in another row."""

    value: float | None
    rank: int | None


@dataclass(frozen=True, slots=True)
class EvalCase:
    """One case: a query, and what was found."""

    id: str
    query: str  # "" if the report stores only the id
    value: float  # of the requested metric
    values: dict[str, float]
    rank: int | None  # of the first relevant result; None if none was found
    found: tuple[str, ...]
    relevant: tuple[str, ...]
    other: OtherCase | None  # in the row to compare with


@dataclass(frozen=True, slots=True)
class EvalCases:
    """A page of the cases of one row."""

    report: str
    set: str
    mode: str
    metric: str
    metrics: tuple[str, ...]  # that are stored for every case
    total: int
    offset: int
    more: bool
    cases: tuple[EvalCase, ...]


class _Folder(NamedTuple):
    source: Literal["shipped", "own"]
    path: Path


@dataclass(frozen=True, slots=True)
class SavedReport:
    """What is kept of a report, and where it comes from."""

    id: str
    name: str
    folder: _Folder
    path: Path
    stamp: tuple[int, int]  # size and time of the file
    summary: EvalSummary


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
            raise NotFound(f"there is no report {report_id!r}; /api/v1/eval lists them")
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
        summary = _summary(report_id, name, folder.source, report, data)
        found = OpenReport(SavedReport(report_id, name, folder, path, stamp, summary), report, data)
        model(EvalReport).model_validate(to_json(report_page(found)))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise EvalError(f"the report is damaged ({first_line(error)}); run the evaluation again") from None
    return found


def _name(path: Path) -> str:
    return _printable(path.name).removesuffix(".gz").removesuffix(".json")


def _id(folder: _Folder, path: Path) -> str:
    digest = hashlib.blake2b(os.fsencode(path), digest_size=6).hexdigest()
    return _name(path) if folder.source == "shipped" else digest


def _stamp(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_size, status.st_mtime_ns


def _files(folder: _Folder) -> Iterator[Path]:
    """Give the files of a folder that may be reports, sorted by name."""
    for path in sorted(folder.path.iterdir()) if folder.path.is_dir() else ():
        if path.name.endswith(_ENDINGS) and path.is_file():
            yield path


def shipped_folder() -> Path:
    """Return the folder of the shipped reports: in the package, or in the repository it is run from."""
    packaged = Path(__file__).with_name("reports_data")
    return packaged if packaged.is_dir() else Path(__file__).parents[3] / "bench" / "figures" / "reports"


def _summary(
    report_id: str, name: str, source: Literal["shipped", "own"], report: Report, data: Mapping[str, Any]
) -> EvalSummary:
    rows = data["means"] or [row for each in data["sets"][:1] for row in each["rows"]]
    date, commit, encoder, machine = (
        _join(report.about.get(each, "")) for each in ("date", "commit", "encoder", "machine")
    )
    return EvalSummary(
        report_id,
        name,
        source,
        date,
        commit,
        encoder,
        machine,
        sets=tuple(each.dataset.name for each in report.sets),
        modes=tuple(report.modes),
        cases=sum(each.dataset.cases for each in report.sets),
        against=report.against,
        means=tuple(Figures(**_figures(row)) for row in rows),
    )


def _figures(row: Mapping[str, Any]) -> dict[str, Any]:
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
    return saved.folder.source != "own", [-ord(char) for char in saved.summary.date], saved.name


def list_reports(reports: Reports) -> Evals:
    """Return the summaries of all reports, and the problems of invalid files."""
    saved, problems = reports.all()
    return Evals(tuple(each.summary for each in saved), tuple(problems))


def report_page(found: OpenReport) -> EvalReport:
    """Return one report without its cases."""
    sets = [_set(each, data) for each, data in zip(found.report.sets, found.data["sets"], strict=True)]
    return EvalReport(found.saved.summary, dict(found.report.about), tuple(sets))


def cases_page(reports: Reports, report: str, query: CasesQuery) -> EvalCases:
    """Return a page of the cases of one row, each beside the same case of another row if one is named."""
    found = reports.get(report)
    each = _find_set(found, query.name)
    row = _find_row(each, query.mode)
    metrics = tuple(row.cases[0].values) if row.cases else ()
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
    return EvalCases(
        found.saved.id,
        each.dataset.name,
        row.mode,
        metric,
        metrics,
        total=len(cases),
        offset=query.offset,
        more=len(cases) > end,
        cases=tuple(cases[query.offset : end]),
    )


def _set(each: SetReport, data: Mapping[str, Any]) -> EvalSet:
    best, base = each.best, each.baseline
    return EvalSet(
        **{name: getattr(each.dataset, name) for name in _COPIED},
        index=dict(each.dataset.index),
        notes=tuple(each.dataset.notes),
        against=base.mode if base else "",
        best=best.mode if best else "",
        rows=tuple(
            EvalRow(**_figures(row), difference=row["difference"] and EvalDifference(**row["difference"]))
            for row in data["rows"]
        ),
    )


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


def _case(case: CaseResult, metric: str, other: CaseResult | None) -> EvalCase:
    return EvalCase(
        case.id,
        case.query,
        case.values[metric],
        dict(case.values),
        first_rank(case),
        tuple(case.found),
        tuple(case.relevant),
        OtherCase(other.values.get(metric), first_rank(other)) if other else None,
    )


def _case_order(order: str, case: EvalCase) -> tuple[float, str]:
    other = case.other.value if case.other else None
    gain = case.value - other if other is not None else 0.0
    keys = {"worst": case.value, "best": -case.value, "lost": gain, "won": -gain, "name": 0.0}
    return keys[order], case.id
