"""Reports on their way out: printed, saved, rendered, and read again."""

from __future__ import annotations

import argparse
import gzip
import json
import os
import sys
import zlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from dowse.cli.main import FOUND
from dowse.cli.output import Style, print_json
from dowse.cli.prepare import say
from dowse.errors import EvalError
from dowse.eval.means import aggregate_by_mode
from dowse.eval.reports.json_form import details, from_json, to_json
from dowse.eval.reports.model import Report, SetFacts, SetReport

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
    from dowse.eval.reports.text import render_text

    colours = Style.choose(options.color)
    sys.stdout.write(render_text(report, worst=options.worst, row=worst_of, colours=colours))


def save(place: str, text: str) -> None:
    """Write a file, packed if its name ends with .gz, and say so."""
    path = Path(place)
    data = text.encode("utf-8", "backslashreplace")  # names of files that are no UTF-8 are lone surrogates
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)
    except OSError as error:
        raise EvalError(f"{place} can't be written ({error.strerror}); name another file") from error
    say(f"wrote {place}")


def read_report(place: str) -> Report:
    """Read what `dowse eval --report` saved."""
    try:
        data = Path(place).read_bytes()
    except OSError as error:
        raise EvalError(f"{place} can't be read ({error.strerror}); check the path") from error
    try:
        plain = gzip.decompress(data) if place.endswith(".gz") else data
        return from_json(json.loads(plain.decode("utf-8")))
    except (OSError, EOFError, zlib.error, ValueError, RecursionError, EvalError) as error:
        raise EvalError(f"{place}: no report; save one with `dowse eval --report FILE` ({error})") from error


def render_saved(options: argparse.Namespace) -> int:
    """Render saved reports, several as one."""
    check_places(options)
    reports = [read_report(place) for place in options.saved]
    deliver(reports[0] if len(reports) == 1 else joined(reports), options)
    return FOUND


def joined(reports: Sequence[Report]) -> Report:
    """Return several reports as one: a set that was asked in several runs has the rows of all."""
    found: dict[tuple[object, ...], SetReport] = {}
    for each in (each for report in reports for each in report.sets):
        key = _identity(each)
        found[key] = _with_rows(found[key], each) if key in found else each
    sets = tuple(found.values())
    means = tuple(aggregate_by_mode(row for each in sets for row in each.results).values())
    return Report(_joined_about(reports), sets, means if len(sets) > 1 else ())


def _identity(each: SetReport) -> tuple[object, ...]:
    """Return what makes two sets the same: how they were asked and scored, and every question."""
    facts = replace(each.dataset, index={})
    values = tuple(getattr(facts, name) for name in SetFacts.__slots__ if name != "index")
    ids = tuple(case.id for row in each.results[:1] for case in row.cases)
    return (*values, ids)


def _with_rows(one: SetReport, other: SetReport) -> SetReport:
    twice = [row.mode for row in other.results if one.row(row.mode)]
    if twice:
        raise EvalError(
            f"{one.dataset.name} has the row {', '.join(twice)} in more than one report; render them apart, "
            "or compare them with `dowse eval gate --candidate A.json:ROW --baseline B.json:ROW`"
        )
    return replace(one, results=(*one.results, *other.results), against=one.against or other.against)


def _joined_about(reports: Sequence[Report]) -> dict[str, object]:
    """Return where the figures come from: what all have in common once, the rest of each."""
    names = dict.fromkeys(name for report in reports for name in report.about)
    found: dict[str, object] = {}
    for name in names:
        values = [report.about[name] for report in reports if name in report.about]
        different = [value for i, value in enumerate(values) if value not in values[:i]]
        found[name] = different[0] if len(different) == 1 else different
    return found
