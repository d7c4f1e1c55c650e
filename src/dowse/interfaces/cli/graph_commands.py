"""`dowse callers`, `callees`, `implementers`, `subclasses`, `uses`, `impact` and `path`: the code graph."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from dowse.interfaces.cli import flags
from dowse.interfaces.cli.common import open_current_index, print_error
from dowse.interfaces.cli.exit_codes import EXIT_ERROR, EXIT_FOUND, EXIT_NOTHING
from dowse.interfaces.cli.output import output_format, write_graph
from dowse.interfaces.cli.parser import CommandParser

if TYPE_CHECKING:
    from dowse.graph.model import GraphAnswer
    from dowse.index import Index
    from dowse.symbol_lookup import AmbiguousName


def add_arguments(parser: CommandParser) -> None:
    """Add the flags of a graph command."""
    if parser.command == "path":
        parser.add_argument("start", help=f"first symbol: {flags.SYMBOL_HELP}")
        parser.add_argument("end", help="last symbol")
    else:
        parser.add_argument("symbol", help=flags.SYMBOL_HELP)
    flags.add_target(parser)
    parser.add_argument("--depth", type=int, metavar="N", help="hops to walk (docs/GRAPH.md)")
    if parser.command != "path":
        default = 200 if parser.command == "impact" else 50
        parser.add_argument(
            "-k", "--top-k", type=int, metavar="N", help=f"how many (0: all; default: {default})"
        )
    form = flags.add_output_format(parser)
    form.add_argument("--dot", action="store_true", help="a diagram for Graphviz")
    form.add_argument("--mermaid", action="store_true", help="a diagram for Mermaid")
    flags.add_show_secrets(parser)
    flags.add_refresh(parser)


def run(options: argparse.Namespace) -> int:
    """Query the code graph; an ambiguous name is an error that lists its candidates."""
    from dowse.symbol_lookup import AmbiguousName

    index = open_current_index(options, refresh=options.refresh)
    try:
        answer = _query(index, options)
    except AmbiguousName as error:
        _write_candidates(error, options)
        print_error(error)
        return EXIT_ERROR
    write_graph(answer, options, index.root)
    return EXIT_FOUND if answer.steps else EXIT_NOTHING


def _query(index: Index, options: argparse.Namespace) -> GraphAnswer:
    if options.command == "path":
        return index.path(options.start, options.end, options.depth)
    queries = {
        "callers": index.callers,
        "callees": index.callees,
        "uses": index.uses,
        "implementers": index.implementers,
        "subclasses": index.subclasses,
        "impact": index.impact,
    }
    return queries[options.command](options.symbol, options.depth, options.top_k)


def _write_candidates(error: AmbiguousName, options: argparse.Namespace) -> None:
    """Write the candidates of a name in a JSON format; the error lists them for the others."""
    form = output_format(options)
    if form in ("json", "jsonl"):
        from dowse.formats.json_format import candidates_to_json, json_document, json_line

        write = json_document if form == "json" else json_line
        sys.stdout.write(write(candidates_to_json(error.name, error.candidates)))
