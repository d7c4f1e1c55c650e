"""Writes an answer in the format that the flags name; its notes go to standard error."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from dowse.formats.style import Style, choose_style
from dowse.interfaces.cli.common import print_json, print_message
from dowse.interfaces.cli.environment import environment_variables
from dowse.security.terminal import escape_name

if TYPE_CHECKING:
    from dowse.formats.locations import Location
    from dowse.graph.model import GraphAnswer
    from dowse.types import Answer


def write_answer(answer: Answer, options: argparse.Namespace, root: Path) -> None:
    """Write the answer of a search."""
    form = output_format(options)
    if form == "json":
        from dowse.formats.json_format import answer_to_json

        print_json(answer_to_json(answer))
        return
    if options.files_with_matches:
        sys.stdout.write(format_files(answer))
        return
    if form != "sarif":  # SARIF carries the notes
        for note in answer.notes:
            print_message(str(note))
    sys.stdout.write(format_answer(answer, options, root))
    if form == "text" and not answer.hits:
        print_message("nothing found")


def write_graph(answer: GraphAnswer, options: argparse.Namespace, root: Path) -> None:
    """Write an answer of the code graph."""
    form = output_format(options)
    if form == "json":
        from dowse.formats.json_format import graph_to_json

        print_json(graph_to_json(answer))
        return
    if form != "sarif":
        for note in answer.notes:
            print_message(str(note))
    sys.stdout.write(_format_graph(answer, form, options, root))


def output_format(options: argparse.Namespace) -> str:
    """Return the output format that the flags name."""
    return "json" if options.json else options.format or "text"


def output_style(options: argparse.Namespace, root: Path) -> Style:
    """Return colours and hyperlinks for standard output."""
    color, links = getattr(options, "color", "auto"), getattr(options, "links", "auto")
    return choose_style(color, links, root, environment_variables())


def format_files(answer: Answer) -> str:
    """Return the files of an answer, each once, as the index names them."""
    return "".join(f"{escape_name(path)}\n" for path in dict.fromkeys(hit.symbol.path for hit in answer.hits))


def format_answer(answer: Answer, options: argparse.Namespace, root: Path) -> str:
    """Return the answer of a search in any format but one JSON document."""
    form = output_format(options)
    if form == "sarif":
        from dowse.formats.sarif import answer_to_sarif

        return answer_to_sarif(answer, root)
    if form == "jsonl":
        from dowse.formats.json_format import answer_to_json, json_line

        return "".join(map(json_line, answer_to_json(answer)["hits"]))
    if form == "text":
        from dowse.formats.text import render_answer

        style = output_style(options, root)
        return render_answer(answer, style, context=options.context, explain=options.explain)
    from dowse.formats.locations import answer_locations

    return _format_lines(form, answer_locations(answer, root), options, root)


def _format_graph(answer: GraphAnswer, form: str, options: argparse.Namespace, root: Path) -> str:
    if form == "sarif":
        from dowse.formats.sarif import graph_to_sarif

        return graph_to_sarif(answer, root)
    if form == "jsonl":
        from dowse.formats.json_format import graph_to_json, json_line

        return "".join(map(json_line, graph_to_json(answer)["steps"]))
    if form != "text":
        from dowse.formats.locations import graph_locations

        return _format_lines(form, graph_locations(answer), options, root)
    if options.dot or options.mermaid:
        from dowse.graph.diagrams import to_dot, to_mermaid

        return to_dot(answer) if options.dot else to_mermaid(answer)
    if not answer.steps:
        return ""
    from dowse.formats.graph_text import render_graph

    return render_graph(answer, output_style(options, root))


def _format_lines(form: str, locations: Iterable[Location], options: argparse.Namespace, root: Path) -> str:
    from dowse.formats.line_formats import format_lines

    return format_lines(form, locations, options.path, root, terminal=sys.stdout.isatty())
