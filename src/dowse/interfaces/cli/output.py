"""Writes an answer in the format that the flags name; its notes go to standard error."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dowse.formats.style import Style, choose_style
from dowse.interfaces.cli.common import environment, print_message, print_notes
from dowse.security.terminal import escape_name

if TYPE_CHECKING:
    from dowse.formats.locations import Location
    from dowse.graph.model import GraphAnswer
    from dowse.types import Answer

# Formats that carry the notes of an answer.
_WITH_NOTES = ("json", "sarif")


def write_answer(answer: Answer, options: argparse.Namespace, root: Path) -> None:
    """Write the answer of a search."""
    if options.files_with_matches:
        sys.stdout.write(format_files(answer))
        return
    form = output_format(options)
    if form not in _WITH_NOTES:
        print_notes(answer.notes)
    sys.stdout.write(format_answer(answer, options, root))
    if form == "text" and not answer.hits:
        print_message("nothing found")


def write_graph(answer: GraphAnswer, options: argparse.Namespace, root: Path) -> None:
    """Write an answer of the code graph."""
    form = output_format(options)
    if form not in _WITH_NOTES:
        print_notes(answer.notes)
    sys.stdout.write(_format_graph(answer, form, options, root))


def output_format(options: argparse.Namespace) -> str:
    """Return the output format that the flags name."""
    return "json" if options.json else options.format or "text"


def output_style(options: argparse.Namespace, root: Path) -> Style:
    """Return colours and hyperlinks for standard output."""
    color, links = getattr(options, "color", "auto"), getattr(options, "links", "auto")
    return choose_style(color, links, root, environment.get().variables)


def format_files(answer: Answer) -> str:
    """Return the files of an answer, each once, as the index names them."""
    return "".join(f"{escape_name(path)}\n" for path in dict.fromkeys(hit.symbol.path for hit in answer.hits))


def format_answer(answer: Answer, options: argparse.Namespace, root: Path) -> str:
    """Return the answer of a search in the format that the flags name."""
    form = output_format(options)
    if form in ("json", "jsonl"):
        from dowse.formats.json_format import answer_to_json

        return _format_json(form, answer_to_json(answer), "hits")
    if form == "sarif":
        from dowse.formats.sarif import answer_to_sarif

        return answer_to_sarif(answer, root)
    if form == "text":
        from dowse.formats.text import render_answer

        style = output_style(options, root)
        return render_answer(answer, style, context=options.context, explain=options.explain)
    from dowse.formats.locations import answer_locations

    return _format_lines(form, answer_locations(answer, root), options, root)


def _format_graph(answer: GraphAnswer, form: str, options: argparse.Namespace, root: Path) -> str:
    if form in ("json", "jsonl"):
        from dowse.formats.json_format import graph_to_json

        return _format_json(form, graph_to_json(answer), "steps")
    if form == "sarif":
        from dowse.formats.sarif import graph_to_sarif

        return graph_to_sarif(answer, root)
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


def _format_json(form: str, document: dict[str, Any], rows: str) -> str:
    from dowse.formats.json_format import json_document, json_line

    return json_document(document) if form == "json" else "".join(map(json_line, document[rows]))


def _format_lines(form: str, locations: Iterable[Location], options: argparse.Namespace, root: Path) -> str:
    from dowse.formats.locations import format_lines

    return format_lines(form, locations, options.path, root, terminal=sys.stdout.isatty())
