"""Reports of evaluations that a server shows: the shipped ones, and those in folders of the user."""

from __future__ import annotations

import gzip
import hashlib
import json
import threading
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dowse.errors import EvalError
from dowse.eval.reports.json_form import from_json
from dowse.eval.reports.model import Report
from dowse.serve.models.evaluation import EvalRow, EvalSummary
from dowse.serve.problems import NotFound

_ENDINGS = (".json", ".json.gz")
# Larger files are no reports, packed or not; reading them would fill the memory.
_MOST_BYTES = 50_000_000
_MOST_PLAIN = 200_000_000


@dataclass(frozen=True, slots=True)
class Saved:
    """One report and where it comes from."""

    id: str
    name: str
    source: str  # "shipped" or "own"
    stamp: tuple[int, int]  # size and time of the file
    report: Report
    data: dict[str, Any]  # as it was written: differences take long to compute again


class Reports:
    """All reports at hand; a file is read again when it has changed."""

    def __init__(
        self, folders: Iterable[Path], within: Iterable[tuple[Path, Path]] = (), shipped: Path | None = None
    ) -> None:
        """Name the folders; nothing is read yet.

        Args:
            folders: Those that the user named.
            within: A repository and a folder of it, which may be anybody's work: no link may lead out of it.
            shipped: Those that come with the package; None finds them.
        """
        ours = shipped_folder() if shipped is None else shipped
        self._folders: list[tuple[str, Path, Path | None]] = [
            *(("own", folder, None) for folder in folders),
            *(("own", folder, root) for root, folder in within),
            ("shipped", ours, None),
        ]
        self._known: dict[str, Saved] = {}
        self._lock = threading.Lock()

    def all(self) -> tuple[list[Saved], list[str]]:
        """Return every report, own ones first, and what is wrong with files that are none."""
        problems: list[str] = []
        found: dict[str, Saved] = {}
        with self._lock:
            for source, path in self._files():
                try:
                    saved = self._read(source, path)
                except (EvalError, OSError) as error:
                    problems.append(f"{path.name}: {error}")
                    continue
                found[saved.id] = saved
            self._known = found
        return sorted(found.values(), key=_order), problems

    def get(self, report_id: str) -> Saved:
        """Return one report."""
        found = next((saved for saved in self.all()[0] if saved.id == report_id), None)
        if found is None:
            raise NotFound(f"there is no report {report_id!r}; /api/eval lists those there are")
        return found

    def _files(self) -> Iterator[tuple[str, Path]]:
        for source, folder, root in self._folders:
            found = sorted(folder.iterdir()) if folder.is_dir() and _is_within(folder, root) else ()
            for path in found:
                is_file = path.name.endswith(_ENDINGS) and path.is_file()
                if is_file and _fits(source, path) and _is_within(path, root):
                    yield source, path

    def _read(self, source: str, path: Path) -> Saved:
        name = path.name.removesuffix(".gz").removesuffix(".json").removeprefix("eval-")
        digest = hashlib.blake2b(str(path).encode(), digest_size=6).hexdigest()
        report_id = name if source == "shipped" else digest
        facts = path.stat()
        stamp = (facts.st_size, facts.st_mtime_ns)
        known = self._known.get(report_id)
        if known is not None and known.stamp == stamp:
            return known
        if facts.st_size > _MOST_BYTES:
            raise EvalError("too large for a report")
        data = _read_json(path)
        saved = Saved(report_id, name, source, stamp, from_json(data), data)
        _check(saved)
        return saved


def shipped_folder() -> Path:
    """Return where the measured figures lie: in the package, or in the repository it is run from."""
    packaged = Path(__file__).with_name("reports_data")
    return packaged if packaged.is_dir() else Path(__file__).parents[3] / "bench" / "results"


def summary(saved: Saved) -> dict[str, Any]:
    """Return a report in short."""
    report, about = saved.report, saved.report.about
    rows = saved.data["means"] or [row for each in saved.data["sets"][:1] for row in each["rows"]]
    return {
        "id": saved.id,
        "name": saved.name,
        "source": saved.source,
        **{name: _line(about.get(name, "")) for name in ("date", "commit", "encoder", "machine")},
        "sets": [each.dataset.name for each in report.sets],
        "modes": list(report.modes),
        "cases": sum(each.dataset.cases for each in report.sets),
        "against": report.against,
        "means": [figures(row) for row in rows],
    }


def figures(row: dict[str, Any]) -> dict[str, Any]:
    """Return what one way of searching scored, without its questions."""
    kept = {name: row[name] for name in ("metrics", "intervals", "latency")}
    return {"mode": row["mode"].removeprefix("mean:"), **kept}


def _read_json(path: Path) -> dict[str, Any]:
    """Read a file that may be packed; what is no JSON is no report."""
    try:
        with gzip.open(path) if path.name.endswith(".gz") else path.open("rb") as file:
            plain = file.read(_MOST_PLAIN + 1)
        if len(plain) > _MOST_PLAIN:
            raise EvalError("too large for a report")
        found = json.loads(plain, parse_constant=_no_number)
    except (OSError, EOFError, zlib.error, ValueError, RecursionError) as error:
        raise EvalError(f"no report; save one with `dowse eval --report FILE` ({error})") from error
    if not isinstance(found, dict):
        raise EvalError("no report; save one with `dowse eval --report FILE`")
    return found


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no number")


def _check(saved: Saved) -> None:
    """Refuse what could not be shown: one bad file must not hide the others."""
    try:
        EvalSummary.model_validate(summary(saved))
        for each in saved.data["sets"]:
            for row in each["rows"]:
                EvalRow.model_validate({**figures(row), "difference": row["difference"]})
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        said = str(error).partition("\n")[0]
        raise EvalError(f"the report is damaged ({said}); run the evaluation again") from None


def _is_within(path: Path, root: Path | None) -> bool:
    """Whether no link leads out of a folder; anywhere is right where none is given."""
    return root is None or path.resolve().is_relative_to(root.resolve())


def _fits(source: str, path: Path) -> bool:
    """Whether a file may be a report: in the repository, other measurements lie beside ours."""
    return source == "own" or (path.name.startswith("eval-") and "-before" not in path.name)


def _line(value: object) -> str:
    """Return one line for what may be several values, where several runs were joined."""
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _order(saved: Saved) -> tuple[bool, list[int], str]:
    date = _line(saved.report.about.get("date", ""))
    return saved.source != "own", [-ord(char) for char in date], saved.name
