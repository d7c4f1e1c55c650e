"""What is done with a snapshot or a report that somebody has tampered with: all that dowse would do."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from archive_mutations import Frames, read_frames
from dowse import Index
from dowse.config import Settings
from dowse.eval.reports.html import render_html
from dowse.eval.reports.json_form import details, to_json
from dowse.eval.reports.markdown import render_markdown
from dowse.eval.reports.saved import read_report
from dowse.eval.reports.text import render_text
from dowse.services.models.evaluation import CasesQuery, EvalCases, EvalReport, Evals
from dowse.services.reports import Reports, cases_page, list_reports, report_page
from dowse.storage.protocol import Backend
from dowse.transfer.export_snapshot import TransferReport, export
from dowse.transfer.import_snapshot import import_snapshot
from dowse.transfer.validate import Header, open_snapshot

from helpers import write_tree

# Keyword search alone: no vectors, nothing is computed twice.
SETTINGS = Settings(encoder="none", refresh="never")
# Code that prints the most memory a process has had, in megabytes. What `getrusage` says of a new process can
# be that of the one which started it.
PRINT_PEAK = """
import resource, sys
from pathlib import Path
status = Path("/proc/self/status")
lines = status.read_text().splitlines() if status.exists() else []
peak = next((int(line.split()[1]) // 1024 for line in lines if line.startswith("VmHWM")), None)
print(peak or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> (20 if sys.platform == "darwin" else 10))
"""
ENCODER = "tiny-0123456789ab"
TREE = {
    "shop/order.py": 'from shop.bread import Bread\n\n\nclass Order:\n    """An order."""\n\n'
    "    def bake(self, loaf: Bread):\n        made = loaf.rise()\n        return made\n",
    "shop/bread.py": "class Bread:\n    def rise(self):\n        return order_bread(1)\n\n\n"
    "def order_bread(count):\n    return [Bread() for _ in range(count)]\n",
    "web/page.js": "import { draw } from './draw.js';\nexport function show(x) { return draw(x); }\n",
}
_QUERIES = ("order bread", "def bake", "/order/")


def small_snapshot(folder: Path) -> Frames:
    """Return the frames of a snapshot of three small files, with references, facts and vectors."""
    import numpy as np

    tree = write_tree(folder / "tree", TREE)
    index = Index.open(tree, index_dir=str(folder / "index"), refresh="never", encoder="none")
    index.update()
    with index.backend.reader() as reader:
        keys = [key for _, key in reader.missing_vectors(ENCODER)]
    with index.backend.vector_writer(ENCODER, 8) as writer:
        writer.put(keys, np.random.default_rng(0).standard_normal((len(keys), 8)).astype(np.float32))
    export(index.backend, folder / "good.snap")
    index.backend.close()
    return read_frames(folder / "good.snap")


def import_file(path: Path, backend: Backend, settings: Settings, root: Path | None = None) -> TransferReport:
    """Validate and import a snapshot."""
    with open_snapshot(path) as (snapshot, header):
        return import_snapshot(snapshot, header, backend, settings, root=root)


def read_header(path: Path) -> Header:
    """Return the header of a valid snapshot."""
    with open_snapshot(path) as (_, header):
        return header


def use_snapshot(data: bytes, folder: Path) -> bool:
    """Import a snapshot and read all of the index back; raises DowseError where it is refused.

    Returns whether anything was imported at all.
    """
    shutil.rmtree(folder, ignore_errors=True)
    tree = folder / "tree"
    tree.mkdir(parents=True)
    file = folder / "x.snap"
    file.write_bytes(data)
    with Index.open(tree, index_dir=str(folder / "index"), refresh="never", encoder="none") as index:
        import_file(file, index.backend, SETTINGS, root=tree)
        read_index(index)
    return True


def read_index(index: Index) -> None:
    """Ask an index for all that it holds."""
    index.status()
    for query in _QUERIES:
        for hit in index.search(query):
            _ = hit.symbol.numbered_lines
    with index.backend.reader() as reader:
        ids = [file.file_id for file in reader.files()]
        rows = reader.rows_of_files(ids)
        reader.symbols(rows)
        reader.documents([row.row for row in rows])
        reader.edges([row.row for row in rows])
        for file_id in ids:
            reader.references(file_id)
        reader.fingerprints(), reader.skipped(), reader.counts(), reader.meta()
        if rows:
            list(reader.symbol_ranges(ids))


def written_outside(folder: Path, allowed: Iterable[str] = ("tree", "x.snap", "index")) -> list[str]:
    """Return what lies beside the index after an import."""
    return sorted(entry.name for entry in folder.iterdir() if entry.name not in set(allowed))


def use_report(data: bytes, packed: bool, folder: Path) -> bool:
    """Show a report in every form; raises DowseError where it is refused."""
    shutil.rmtree(folder, ignore_errors=True)
    place = folder / "repo" / ".dowse" / "reports"
    place.mkdir(parents=True)
    file = place / ("x.json.gz" if packed else "x.json")
    file.write_bytes(data)
    _serve_reports(folder / "repo", place)
    report = read_report(str(file))
    render_text(report)
    render_markdown(report)
    render_html(report)
    json.dumps(to_json(report), allow_nan=False).encode()
    for each in details(report):
        json.dumps(each, allow_nan=False)
    return True


def _serve_reports(repository: Path, place: Path) -> None:
    """Answer as the server does, with the models that check what it sends."""
    reports = Reports([], [(repository, place)], shipped=repository / "none")
    listed: dict[str, Any] = list_reports(reports)
    Evals.model_validate(listed).model_dump_json()
    for saved in listed["reports"]:
        EvalReport.model_validate(report_page(reports.get(saved["id"]))).model_dump_json()
        if saved["sets"] and saved["against"]:
            found = cases_page(reports, saved["id"], CasesQuery(metric=_metric(reports, saved["id"])))
            EvalCases.model_validate(found).model_dump_json()


def _metric(reports: Reports, report_id: str) -> str:
    """Return a metric that every question has."""
    row = reports.get(report_id).report.sets[0].baseline
    return next(iter(row.cases[0].values), "") if row and row.cases else ""
