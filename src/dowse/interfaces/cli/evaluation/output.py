"""Reports on their way out: printed, saved, and rendered again."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Collection
from pathlib import Path

from dowse.errors import EvalError
from dowse.eval.datasets.jsonl import read_cases
from dowse.eval.files import write_text

# Before a run: a renderer that can't be loaded must not show after an hour.
from dowse.eval.reports.html import render_html
from dowse.eval.reports.json_form import details, to_json
from dowse.eval.reports.markdown import render_markdown
from dowse.eval.reports.model import Report
from dowse.eval.reports.saved import joined, read_report
from dowse.eval.reports.text import Colours, render_text
from dowse.formats.style import choose_colors
from dowse.interfaces.cli.common import print_json, print_message
from dowse.interfaces.cli.exit_codes import EXIT_FOUND

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
        parents = Path(place).absolute().parents
        above = next(parent for parent in parents if parent.exists())
        if above == parents[-1] != parents[0]:
            raise EvalError(
                f"--{flag} {place}: there is no {parents[-2]}; make it first, or name another file"
            )
        if not above.is_dir() or not os.access(above, os.W_OK):
            raise EvalError(f"--{flag} {place}: nothing can be written to {above}; name another file")


def check_replaceable(place: Path, made: Collection[str], what: str) -> None:
    """Refuse to write over questions that somebody wrote, or over anything else.

    Args:
        place: Where cases are going to be written.
        made: The sources of cases that may be made again.
        what: What those are called.
    """
    if not place.exists():
        return
    try:
        sources = {case.source for case in read_cases(place)}
    except EvalError:
        sources = {""}
    if not sources <= set(made):
        raise EvalError(
            f"{place} is there already and holds more than {what}; name another file, or remove it"
        )


def deliver(report: Report, options: argparse.Namespace) -> None:
    """Print a report, and write it to every place that was asked for."""
    # Each form has a number of its own that suits it, unless one is asked for.
    worst = {} if options.worst is None else {"worst": options.worst}
    if options.report:
        save(options.report, json.dumps(to_json(report, **worst), ensure_ascii=False) + "\n")
    if options.markdown:
        save(options.markdown, render_markdown(report, **worst))
    if options.html:
        save(options.html, render_html(report, **worst))
    if options.details:
        lines = (json.dumps(line, ensure_ascii=False) + "\n" for line in details(report))
        save(options.details, "".join(lines))
    if options.json:
        print_json(to_json(report, **worst))
        return
    style = choose_colors(options.color, os.environ)
    colours = Colours(style.match, style.dim, style.bold, style.reset)
    sys.stdout.write(render_text(report, colours=colours, **worst))


def save(place: str, text: str) -> None:
    """Write a file, packed if its name ends with .gz, and say so."""
    try:
        write_text(Path(place), text)
    except OSError as error:
        raise EvalError(f"{place} can't be written ({error.strerror}); name another file") from error
    print_message(f"wrote {place}")


def render_saved(options: argparse.Namespace) -> int:
    """Render saved reports, several as one."""
    check_places(options)
    reports = [read_report(place) for place in options.saved]
    deliver(reports[0] if len(reports) == 1 else joined(reports), options)
    return EXIT_FOUND
