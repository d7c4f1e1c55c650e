"""Reports on their way out: printed, saved, and rendered again."""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

from dowse.cli.main import FOUND
from dowse.cli.output import Style, print_json
from dowse.cli.prepare import say
from dowse.errors import EvalError
from dowse.eval.files import write_text
from dowse.eval.reports.json_form import details, to_json
from dowse.eval.reports.model import Report
from dowse.eval.reports.saved import joined, read_report

# Flags that name a file to write.
_FILES = ("report", "markdown", "html", "details")


def check_places(options: argparse.Namespace) -> None:
    """Refuse places that can't be written to before anything is run."""
    for flag in _FILES:
        place = getattr(options, flag, None)
        if not place:
            continue
        if Path(place).is_dir():
            raise EvalError(f"--{flag} {place} is a folder; name a file in it")
        above = next(parent for parent in Path(place).absolute().parents if parent.exists())
        if not above.is_dir() or not os.access(above, os.W_OK):
            raise EvalError(f"--{flag} {place}: nothing can be written to {above}; name another file")


def deliver(report: Report, options: argparse.Namespace, worst_of: str = "") -> None:
    """Print a report, and write it to every place that was asked for.

    Args:
        report: What was found.
        options: Where it goes, and how it looks.
        worst_of: The row whose worst questions are printed; "" takes the best.
    """
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
    from dowse.eval.reports.text import Colours, render_text

    style = Style.choose(options.color)
    colours = Colours(style.match, style.dim, style.bold, style.reset)
    sys.stdout.write(render_text(report, worst=options.worst, row=worst_of, colours=colours))


def save(place: str, text: str) -> None:
    """Write a file, packed if its name ends with .gz, and say so."""
    try:
        write_text(Path(place), text)
    except OSError as error:
        raise EvalError(f"{place} can't be written ({error.strerror}); name another file") from error
    say(f"wrote {place}")


def render_saved(options: argparse.Namespace) -> int:
    """Render saved reports, several as one."""
    check_places(options)
    reports = [read_report(place) for place in options.saved]
    deliver(reports[0] if len(reports) == 1 else joined(reports), options)
    return FOUND
