"""`dowse eval gate`: exit 0 if a candidate may replace a baseline, 1 if not."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence

from dowse.errors import EvalError
from dowse.eval.gate import Verdict, render_gate
from dowse.eval.gate import gate as decide
from dowse.eval.reports.model import Report
from dowse.eval.reports.saved import read_report
from dowse.interfaces.cli.command import EXIT_FOUND, EXIT_NOTHING
from dowse.interfaces.cli.evaluation.parser import named_configurations
from dowse.interfaces.cli.evaluation.run import named_entries, run
from dowse.interfaces.cli.printing import print_json
from dowse.json_form import document

# A row of a saved report: `FILE.json`, if it has only one, or `FILE.json:ROW`.
_SAVED_ROW = re.compile(r"(?P<file>.+\.json(?:\.gz)?)(?::(?P<row>.+))?\Z")


def gate(options: argparse.Namespace) -> int:
    """Compare a candidate with a baseline, and print the verdict with its reasons."""
    verdict = _verdict(options)
    if options.json:
        print_json(document(verdict))
    else:
        sys.stdout.write(render_gate(verdict))
    return EXIT_FOUND if verdict.passed else EXIT_NOTHING


def _verdict(options: argparse.Namespace) -> Verdict:
    candidate, candidate_report = _row(options.candidate)
    baseline, baseline_report = _row(options.baseline)
    saved = [report for report in (candidate_report, baseline_report) if report]
    # A row without a file is in the report of the other, unless a report is named for it.
    if len(saved) == 2 or (saved and not _names_a_report(options)):
        shared = saved[0]
    else:
        rows = ((candidate, candidate_report), (baseline, baseline_report))
        shared = _shared_report(options, [row for row, report in rows if not report])
    candidate_report, baseline_report = candidate_report or shared, baseline_report or shared
    return decide(
        candidate_report,
        candidate,
        baseline,
        metric=options.metric,
        within_noise=options.within_noise,
        baseline_report=None if baseline_report is candidate_report else baseline_report,
    )


def _row(text: str) -> tuple[str, Report | None]:
    """Return a row, and its report if a file is named."""
    match = _SAVED_ROW.match(text)
    if not match:
        return text, None
    report = read_report(match["file"])
    if not match["row"] and len(report.modes) != 1:
        raise EvalError(
            f"{text} has several rows; write {text}:ROW, where ROW is one of {', '.join(report.modes)}"
        )
    return match["row"] or report.modes[0], report


def _names_a_report(options: argparse.Namespace) -> bool:
    return bool(options.report or options.manifest or options.dataset)


def _shared_report(options: argparse.Namespace, rows: Sequence[str]) -> Report:
    """Return the report with these rows: a saved one, or a new run."""
    if not _names_a_report(options):
        raise EvalError("name a report or a dataset: --report FILE, --manifest FILE or --dataset D")
    if options.report:
        return read_report(options.report)
    return run(named_entries(options), options, named_configurations(rows))
