"""Output of an evaluation: its progress, and reports: printed, saved, and rendered from a saved one."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from dowse.errors import EvalError
from dowse.eval.datasets.jsonl import read_cases
from dowse.eval.files import write_text

# Imported before a run: one that can't be loaded must not fail after an hour.
from dowse.eval.reports.json_form import to_json
from dowse.eval.reports.model import Report
from dowse.eval.reports.saved import read_report
from dowse.eval.reports.text import render_text
from dowse.eval.run import Progress
from dowse.formats.style import choose_colors
from dowse.interfaces.cli.command import EXIT_FOUND
from dowse.interfaces.cli.printing import print_json, print_message
from dowse.progress import ProgressBar

# Activities that can take long before the first other output.
_LONG_ACTIVITIES = ("indexing", "embedding")


def check_output_path(path: str | None) -> None:
    """Refuse a file that can't be written, before anything is run."""
    if not path:
        return
    if Path(path).is_dir():
        raise EvalError(f"--report {path} is a folder; name a file in it")
    above = next(parent for parent in Path(path).absolute().parents if parent.exists())
    if not above.is_dir() or not os.access(above, os.W_OK):
        raise EvalError(f"--report {path}: nothing can be written to {above}; name another file")


def check_replaceable(path: Path, generated: Collection[str], name: str) -> None:
    """Refuse to overwrite anything but generated cases.

    Args:
        path: The file to write.
        generated: The sources of cases that can be generated again.
        name: The name of such cases in the message.
    """
    if not path.exists():
        return
    try:
        sources = {case.source for case in read_cases(path)}
    except EvalError:
        sources = {""}
    if not sources <= set(generated):
        raise EvalError(f"{path} exists and holds more than {name}; name another file, or remove it")


def write_report(report: Report, options: argparse.Namespace) -> None:
    """Print a report, and save it if a file is named."""
    # Each format has its own default number of worst queries.
    worst = {} if options.worst is None else {"worst": options.worst}
    if options.report:
        _save(options.report, json.dumps(to_json(report, **worst), ensure_ascii=False) + "\n")
    if options.json:
        print_json(to_json(report, **worst))
        return
    sys.stdout.write(render_text(report, colours=choose_colors(options.color, os.environ), **worst))


def _save(path: str, text: str) -> None:
    """Write a file, compressed if its name ends with .gz."""
    try:
        write_text(Path(path), text)
    except OSError as error:
        raise EvalError(f"{path} can't be written ({error.strerror}); name another file") from error
    print_message(f"wrote {path}")


def render_saved(options: argparse.Namespace) -> int:
    """Render a saved report."""
    check_output_path(options.report)
    write_report(read_report(options.saved), options)
    return EXIT_FOUND


@contextmanager
def progress(quiet: bool = False) -> Iterator[Callable[[Progress], None]]:
    """Yield a function that shows a bar for each activity; without a terminal, a line at its start."""
    bars: dict[str, ProgressBar] = {}  # one at most
    with ExitStack() as stack:

        def show(at: Progress) -> None:
            key = f"{at.doing} {at.what}"
            if key not in bars:
                stack.close()
                bars.clear()
                if at.doing in _LONG_ACTIVITIES and not quiet and not sys.stderr.isatty():
                    print_message(f"{at.doing} {at.total:,} {at.what}" if at.total else at.doing)
                bars[key] = stack.enter_context(ProgressBar(at.doing, at.what, quiet=quiet))
            bars[key].show(at)

        yield show
