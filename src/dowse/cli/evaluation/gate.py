"""`dowse eval gate`: exit 0 if a candidate may replace a baseline, 1 if not."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from dowse.cli.evaluation.output import read_report, save
from dowse.cli.evaluation.run import run, single, ways_named
from dowse.cli.main import FOUND, NOTHING
from dowse.cli.output import print_json
from dowse.errors import EvalError
from dowse.eval.gate import Verdict, as_dict, render_gate, render_gate_markdown
from dowse.eval.gate import gate as decide
from dowse.eval.manifest import read_manifest
from dowse.eval.reports.model import Report


def gate(options: argparse.Namespace) -> int:
    """Decide, and say why."""
    verdict = _verdict(options)
    if options.markdown:
        save(options.markdown, render_gate_markdown(verdict))
    if options.json:
        print_json(as_dict(verdict))
    else:
        sys.stdout.write(render_gate(verdict))
    return FOUND if verdict.passed else NOTHING


def _verdict(options: argparse.Namespace) -> Verdict:
    candidate, candidate_report = _row(options.candidate)
    baseline, baseline_report = _row(options.baseline)
    report = candidate_report or _shared_report(options, candidate, baseline)
    if candidate_report and not baseline_report:
        baseline_report = read_report(options.report) if options.report else None
    return decide(
        report,
        candidate,
        baseline,
        metric=options.metric,
        within_noise=options.within_noise,
        baseline_report=baseline_report,
    )


def _row(text: str) -> tuple[str, Report | None]:
    """Return which row is meant, and the report it stands in if that is named: `FILE.json[:ROW]`."""
    place, _, row = text.partition(".json")
    if place == text:
        return text, None
    report = read_report(f"{place}.json")
    row = row.removeprefix(":")
    if not row and len(report.modes) != 1:
        raise EvalError(
            f"{place}.json has several rows; write {place}.json:ROW, of {', '.join(report.modes)}"
        )
    return row or report.modes[0], report


def _shared_report(options: argparse.Namespace, *rows: str) -> Report:
    """Return the report that holds both rows: the saved one, or one that is made now."""
    if options.report:
        return read_report(options.report)
    if not options.manifest and not options.dataset:
        raise EvalError("name what to compare on: --report FILE, --manifest FILE or --dataset D")
    entries = read_manifest(Path(options.manifest)) if options.manifest else [single(options)]
    return run(entries, options, ways_named(rows, options.rerank))
