"""Two reports of evaluations over the same questions, before a change and after it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from dowse.eval.reports.json_form import to_json
from dowse.eval.reports.model import Report
from eval.report_samples import dataset, report, set_report

KEYWORD = [3, 0, 2, 9, 0, 4, 5, 7, 0, 2, 6, 3]
BEFORE = [2, 2, 1, 1, 3, 1, 2, 2, 0, 1, 1, 5]
AFTER = [1, 2, 1, 1, 3, 1, 1, 2, 0, 1, 1, 1]


def write_reports(folder: Path) -> Path:
    """Write both into a folder."""
    for name, date, auto in (("before", "2026-01-31", BEFORE), ("after", "2026-02-28", AFTER)):
        made = _report(auto)
        told = replace(made, about={**made.about, "date": date, "commit": f"{name}-change"})
        (folder / f"{name}.json").write_text(json.dumps(to_json(told)))
    return folder


def _report(auto: list[int]) -> Report:
    rows = {"keyword": KEYWORD, "auto": auto}
    return report(*(set_report(dataset(name, 12), rows, "keyword") for name in ("loaves", "rolls")))
