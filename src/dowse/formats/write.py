"""Write an answer in the format that was asked for; nothing else decides what goes to standard output."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from dowse.formats.links import with_links
from dowse.formats.locations import Spot, answer_spots, escaped_spots, graph_spots
from dowse.formats.text import Style, print_json, render_answer
from dowse.interfaces.cli.common import say
from dowse.security.terminal import escape_name
from dowse.types import Answer

if TYPE_CHECKING:
    from dowse.graph.model import GraphAnswer


def chosen_format(options: argparse.Namespace) -> str:
    """Return the format that the flags of a command ask for."""
    if options.json:
        return "json"
    return options.format or "text"


def write_answer(answer: Answer, options: argparse.Namespace, root: Path) -> None:
    """Write the answer of a search, and beside it what there is to say about it."""
    form = chosen_format(options)
    if form == "json":
        from dowse.formats.answer_json import answer_to_json

        print_json(answer_to_json(answer))
        return
    if getattr(options, "files_with_matches", False):
        sys.stdout.write(file_lines(answer))
        return
    if form != "sarif":  # which carries its notes
        for note in answer.notes:
            say(str(note))
    sys.stdout.write(answer_text(answer, options, root))
    if form == "text" and not answer.hits:
        say("nothing found")


def file_lines(answer: Answer) -> str:
    """Return the files of an answer, each once, as the index has them: one a line."""
    return "".join(f"{escape_name(path)}\n" for path in dict.fromkeys(hit.symbol.path for hit in answer.hits))


def answer_text(answer: Answer, options: argparse.Namespace, root: Path) -> str:
    """Return the answer of a search in any format but one JSON document."""
    form = chosen_format(options)
    if form == "sarif":
        from dowse.formats.sarif import answer_to_sarif

        return answer_to_sarif(answer, root)
    if form == "jsonl":
        from dowse.formats.answer_json import answer_to_json
        from dowse.formats.jsonl import write_jsonl

        return write_jsonl(answer_to_json(answer)["hits"])
    if form == "text":
        style = with_links(Style.choose(options.color), options, root)
        return render_answer(answer, style, context=options.context, explain=options.explain)
    return _lines(form, answer_spots(answer, root), options.path, root)


def write_graph(answer: GraphAnswer, options: argparse.Namespace, root: Path) -> None:
    """Write an answer of the graph, and beside it what there is to say about it."""
    form = chosen_format(options)
    if form == "json":
        from dowse.formats.graph_json import graph_to_json

        print_json(graph_to_json(answer))
        return
    if form != "sarif":
        for note in answer.notes:
            say(str(note))
    sys.stdout.write(_graph_text(answer, form, options, root))


def _graph_text(answer: GraphAnswer, form: str, options: argparse.Namespace, root: Path) -> str:
    if form == "sarif":
        from dowse.formats.sarif import graph_to_sarif

        return graph_to_sarif(answer, root)
    if form == "jsonl":
        from dowse.formats.graph_json import graph_to_json
        from dowse.formats.jsonl import write_jsonl

        return write_jsonl(graph_to_json(answer)["steps"])
    if form != "text":
        return _lines(form, graph_spots(answer), options.path, root)
    if options.dot or options.mermaid:
        from dowse.graph.diagrams import to_dot, to_mermaid

        return to_dot(answer) if options.dot else to_mermaid(answer)
    if not answer.steps:
        return ""
    from dowse.formats.graph_text import render_graph

    return render_graph(answer, with_links(Style.choose(options.color), options, root))


def _lines(form: str, spots: Iterable[Spot], place: str, root: Path) -> str:
    """Return places in one of the formats that are read line by line."""
    found = escaped_spots(spots, place, root, terminal=sys.stdout.isatty())
    if form == "path":
        from dowse.formats.paths import write_paths

        return write_paths(found)
    if form == "grep":
        from dowse.formats.grep import write_grep

        return write_grep(found)
    from dowse.formats.vimgrep import write_vimgrep

    return write_vimgrep(found)
