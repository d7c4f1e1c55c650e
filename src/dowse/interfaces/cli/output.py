"""Writes an answer in the format that the flags name; its notes go to standard error."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from dowse.formats.style import Style, choose_style
from dowse.interfaces.cli.common import environment
from dowse.interfaces.cli.printing import print_json, print_message, print_notes
from dowse.json_form import document
from dowse.lazy_classes import replace
from dowse.security.terminal import escape_name

if TYPE_CHECKING:
    from dowse.answer import Answer
    from dowse.formats.locations import Location
    from dowse.graph.model import GraphAnswer
    from dowse.index import Index
    from dowse.interfaces.cli.places import Place


def write_answer(answer: Answer, options: argparse.Namespace, index: Index) -> None:
    """Write the answer of a search."""
    if options.files_with_matches or options.count:
        sys.stdout.write(format_files(answer, options))
        return
    form = output_format(options)
    if form == "json":  # which has the notes
        print_json(document(answer))
        return
    print_notes(answer.notes)
    sys.stdout.write(_format_answer(answer, form, options, index))
    if form == "text" and not answer.hits:
        print_message("nothing found")


def write_graph(answer: GraphAnswer, options: argparse.Namespace, root: Path) -> None:
    """Write an answer of the code graph."""
    form = output_format(options)
    if form == "json":  # which has the notes
        print_json(document(answer))
        return
    print_notes(answer.notes)
    sys.stdout.write(_format_graph(answer, form, options, root))


def output_format(options: argparse.Namespace) -> str:
    """Return the output format that the flags name."""
    return "json" if options.json else options.format or "text"


def output_style(options: argparse.Namespace, root: Path) -> Style:
    """Return colours and hyperlinks for standard output."""
    style = choose_style(getattr(options, "color", "auto"), root, environment.get().variables)
    return replace(style, openable=partial(_openable, options)) if options.place.below else style


def format_files(answer: Answer, options: argparse.Namespace) -> str:
    """Return the files of an answer, each once; with `-c` the number of matching lines, or hits, of each."""
    counts: Counter[str] = Counter()
    for hit in answer.hits:
        counts[hit.symbol.path] += len(hit.matches) or 1
    openable = partial(_openable, options) if options.place.below else str
    return "".join(
        escape_name(openable(path)) + (f":{count}\n" if options.count else "\n")
        for path, count in counts.items()
    )


def _format_answer(answer: Answer, form: str, options: argparse.Namespace, index: Index) -> str:
    if form == "text":
        from dowse.formats.snippets import SNIPPET_LINES, Window
        from dowse.formats.text import render_answer
        from dowse.interfaces.cli.grep_flags import context_lines

        lines = SNIPPET_LINES if options.snippet_lines is None else options.snippet_lines
        window = Window(lines, context_lines(options), lru_cache(1)(index.contents.lines))
        return render_answer(answer, output_style(options, index.root), window, explain=options.explain)
    from dowse.formats.locations import answer_locations

    return _format_lines(form, answer_locations(answer, index.root), options)


def _format_graph(answer: GraphAnswer, form: str, options: argparse.Namespace, root: Path) -> str:
    if form != "text":
        from dowse.formats.locations import graph_locations

        return _format_lines(form, graph_locations(answer), options)
    if not (answer.steps or answer.mentions):
        return ""
    from dowse.formats.graph_text import render_graph

    return render_graph(answer, output_style(options, root))


def _format_lines(form: str, locations: Iterable[Location], options: argparse.Namespace) -> str:
    from dowse.formats.locations import format_lines

    return format_lines(form, locations, partial(_openable, options), terminal=sys.stdout.isatty())


def _openable(options: argparse.Namespace, path: str) -> str:
    """Return a path of the index as one that can be opened from the current folder, as ripgrep prints it."""
    place: Place = options.place
    return place.openable(path, options.path)
