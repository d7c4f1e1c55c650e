"""Reports on their way out: printed, saved, rendered, and read again."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from dowse.cli.main import FOUND
from dowse.cli.output import Style, print_json
from dowse.cli.prepare import say
from dowse.errors import EvalError
from dowse.eval.means import aggregate_by_mode
from dowse.eval.reports.json_form import details, from_json, to_json
from dowse.eval.reports.model import Report


def deliver(report: Report, options: argparse.Namespace) -> None:
    """Print a report, and write it to every place that was asked for."""
    if options.report:
        save(options.report, json.dumps(to_json(report), ensure_ascii=False) + "\n")
    if options.markdown:
        from dowse.eval.reports.markdown import render_markdown

        save(options.markdown, render_markdown(report))
    if options.html:
        from dowse.eval.reports.html import render_html

        save(options.html, render_html(report))
    if options.details:
        lines = (json.dumps(line, ensure_ascii=False) + "\n" for line in details(report))
        save(options.details, "".join(lines))
    if options.json:
        print_json(to_json(report))
        return
    from dowse.eval.reports.text import render_text

    sys.stdout.write(
        render_text(report, worst=options.worst, row=report.against, colours=Style.choose(options.color))
    )


def save(place: str, text: str) -> None:
    """Write a file and say so."""
    path = Path(place)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    say(f"wrote {place}")


def read_report(place: str) -> Report:
    """Read what `dowse eval --report` saved."""
    try:
        return from_json(json.loads(Path(place).read_text(encoding="utf-8")))
    except (ValueError, KeyError, TypeError) as error:
        raise EvalError(f"{place} is no report of `dowse eval --report` ({error})") from error


def render_saved(options: argparse.Namespace) -> int:
    """Render saved reports, several as one."""
    reports = [read_report(place) for place in options.saved]
    sets = tuple(each for report in reports for each in report.sets)
    means = reports[0].means
    if len(reports) > 1:
        means = tuple(aggregate_by_mode(row for each in sets for row in each.results).values())
    deliver(Report(reports[0].about, sets, means), options)
    return FOUND
