"""Reports of evaluations that a server shows: the shipped ones, and those in folders of the user."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

from dowse.errors import EvalError
from dowse.eval.reports.json_form import from_json
from dowse.eval.reports.model import Report
from dowse.eval.reports.unpack_saved import MAX_STORED, most_plain, parse_saved
from dowse.interfaces.http.models.evaluation import EvalRow, EvalSummary
from dowse.interfaces.http.problems import NotFound
from dowse.security.safe_files import FileTooLarge, read_regular_file
from dowse.security.terminal import first_line

_ENDINGS = (".json", ".json.gz")
# Reports that one folder may have, and their bytes together: what is read stays in memory, and what turns
# out to be no report is read again the next time.
MAX_FILES = 200
MAX_KEPT_BYTES = 20_000_000
MAX_READ_BYTES = 100_000_000
# Entries of a folder that are looked at to find them.
_MAX_ENTRIES = 5_000


@dataclass(frozen=True, slots=True)
class Saved:
    """One report and where it comes from."""

    id: str
    name: str
    source: str  # "shipped" or "own"
    stamp: tuple[int, int]  # size and time of the file
    report: Report
    data: dict[str, Any]  # as it was written: differences take long to compute again
    plain: int  # bytes before packing


# Where reports come from, the folder, and the repository that it must not lead out of.
_Folder: TypeAlias = tuple[str, Path, Path | None]


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
        self._folders: list[_Folder] = [
            *(("own", folder, None) for folder in folders),
            *(("own", folder, root) for root, folder in within),
            ("shipped", ours, None),
        ]
        self._known: dict[str, Saved] = {}
        self._lock = threading.Lock()

    def all(self) -> tuple[list[Saved], list[str]]:
        """Return every report, own ones first, and what is wrong with files that are none."""
        return self._read_folders(self._folders)

    def read_shipped(self) -> None:
        """Read the reports that come with the package, so that the first who asks need not wait.

        Those of a repository are read when somebody asks for reports, and not before.
        """
        self._read_folders([each for each in self._folders if each[0] == "shipped"])

    def _read_folders(self, folders: Iterable[_Folder]) -> tuple[list[Saved], list[str]]:
        problems: list[str] = []
        found: dict[str, Saved] = {}
        with self._lock:
            for folder in folders:
                self._read_folder(folder, found, problems)
            self._known = found
        return sorted(found.values(), key=_order), problems

    def _read_folder(self, folder: _Folder, found: dict[str, Saved], problems: list[str]) -> None:
        """Read the reports of one folder, as many as may be kept in memory."""
        source, place, root = folder
        kept = read = 0
        for count, path in enumerate(_files(folder)):
            if count >= MAX_FILES or kept > MAX_KEPT_BYTES or read > MAX_READ_BYTES:
                problems.append(f"{place.name}: too many reports; only the first {count} are looked at")
                return
            try:
                saved = self._read(source, path, root)
            except (EvalError, OSError) as error:
                problems.append(f"{_printable(path.name)}: {error}")
                read += _read_bytes(path)
                continue
            kept += saved.plain
            found[saved.id] = saved

    def get(self, report_id: str) -> Saved:
        """Return one report."""
        found = next((saved for saved in self.all()[0] if saved.id == report_id), None)
        if found is None:
            raise NotFound(f"there is no report {report_id!r}; /api/eval lists those there are")
        return found

    def _read(self, source: str, path: Path, root: Path | None) -> Saved:
        name = _printable(path.name).removesuffix(".gz").removesuffix(".json").removeprefix("eval-")
        digest = hashlib.blake2b(os.fsencode(path), digest_size=6).hexdigest()
        report_id = name if source == "shipped" else digest
        facts = path.stat(follow_symlinks=root is None)
        stamp = (facts.st_size, facts.st_mtime_ns)
        known = self._known.get(report_id)
        if known is not None and known.stamp == stamp:
            return known
        try:
            stored = read_regular_file(path, MAX_STORED, follow_symlinks=root is None)
        except FileTooLarge:
            raise EvalError("too large for a report") from None
        data, size = parse_saved(stored, packed=path.name.endswith(".gz"))
        saved = Saved(report_id, name, source, stamp, from_json(data), data, size)
        _check(saved)
        return saved


def _files(folder: _Folder) -> Iterator[Path]:
    """Give the files of a folder that may be reports, in the order of their names."""
    source, place, root = folder
    if not place.is_dir() or not _is_within(place, root):
        return
    with os.scandir(place) as entries:
        names = sorted(entry.name for entry in islice(entries, _MAX_ENTRIES) if entry.name.endswith(_ENDINGS))
    for name in names:
        path = place / name
        # Inside a repository a link is not followed, wherever it leads.
        is_file = path.is_file() and not (root is not None and path.is_symlink())
        if is_file and _fits(source, path):
            yield path


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


def _check(saved: Saved) -> None:
    """Refuse what could not be shown: one bad file must not hide the others."""
    try:
        EvalSummary.model_validate(summary(saved))
        for each in saved.data["sets"]:
            for row in each["rows"]:
                EvalRow.model_validate({**figures(row), "difference": row["difference"]})
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise EvalError(f"the report is damaged ({first_line(error)}); run the evaluation again") from None


def _read_bytes(path: Path) -> int:
    """Return how many bytes were looked at, at most, to find out that a file is no report."""
    size = path.lstat().st_size
    return most_plain(size) if path.name.endswith(".gz") else min(size, MAX_STORED)


def _printable(name: str) -> str:
    """Return a file name that can be sent as JSON; bytes that are no text become escapes."""
    return name.encode("utf-8", "backslashreplace").decode()


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
