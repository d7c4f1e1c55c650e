"""`dowse eval gate`: exit 0 if a candidate may replace a baseline, 1 if not."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence

from dowse.errors import EvalError
from dowse.eval.gate import Verdict, as_dict, render_gate, render_gate_markdown
from dowse.eval.gate import gate as decide
from dowse.eval.reports.model import Report
from dowse.eval.reports.saved import read_report
from dowse.interfaces.cli.common import print_json
from dowse.interfaces.cli.evaluation.output import check_places, save
from dowse.interfaces.cli.evaluation.rows import ways_named
from dowse.interfaces.cli.evaluation.run import named_entries, run
from dowse.interfaces.cli.exit_codes import EXIT_FOUND, EXIT_NOTHING

# A row of a saved report: `FILE.json`, if it has but one, or `FILE.json:ROW`.
_IN_FILE = re.compile(r"(?P<file>.+\.json(?:\.gz)?)(?::(?P<row>.+))?\Z")


def gate(options: argparse.Namespace) -> int:
    """Decide, and say why."""
    check_places(argparse.Namespace(markdown=options.markdown))
    verdict = _verdict(options)
    if options.markdown:
        save(options.markdown, render_gate_markdown(verdict))
    if options.json:
        print_json(as_dict(verdict))
    else:
        sys.stdout.write(render_gate(verdict))
    return EXIT_FOUND if verdict.passed else EXIT_NOTHING


def _verdict(options: argparse.Namespace) -> Verdict:
    (candidate, ours), (baseline, theirs) = _row(options.candidate), _row(options.baseline)
    files = [report for report in (ours, theirs) if report]
    # A row without a file stands in the report of the other, unless one is named for it.
    if len(files) == 2 or (files and not _names_a_report(options)):
        shared = files[0]
    else:
        loose = [row for row, report in ((candidate, ours), (baseline, theirs)) if not report]
        shared = _shared_report(options, loose)
    ours, theirs = ours or shared, theirs or shared
    return decide(
        ours,
        candidate,
        baseline,
        metric=options.metric,
        within_noise=options.within_noise,
        baseline_report=None if theirs is ours else theirs,
    )


def _row(text: str) -> tuple[str, Report | None]:
    """Return which row is meant, and the report it stands in if that is named."""
    named = _IN_FILE.match(text)
    if not named:
        return text, None
    report = read_report(named["file"])
    if not named["row"] and len(report.modes) != 1:
        raise EvalError(
            f"{text} has several rows; write {text}:ROW, where ROW is one of {', '.join(report.modes)}"
        )
    return named["row"] or report.modes[0], report


def _names_a_report(options: argparse.Namespace) -> bool:
    return bool(options.report or options.manifest or options.dataset)


def _shared_report(options: argparse.Namespace, rows: Sequence[str]) -> Report:
    """Return the report that holds these rows: the saved one, or one that is made now."""
    if not _names_a_report(options):
        raise EvalError("name what to compare on: --report FILE, --manifest FILE or --dataset D")
    if options.report:
        return read_report(options.report)
    return run(named_entries(options), options, ways_named(rows))
