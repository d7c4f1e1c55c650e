"""`dowse symbols` and `related`, and the commands of the code graph: `callers`, `impact` and so on."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from dowse.interfaces.cli import flags
from dowse.interfaces.cli.command import EXIT_ERROR, EXIT_FOUND, EXIT_NOTHING, CommandParser
from dowse.interfaces.cli.common import embed_briefly, located, open_current_index
from dowse.interfaces.cli.output import output_format, output_style, write_graph
from dowse.interfaces.cli.printing import print_error, print_json, print_message
from dowse.json_form import document
from dowse.query.languages import KINDS
from dowse.security.terminal import escape_name

if TYPE_CHECKING:
    from dowse.graph.model import GraphAnswer
    from dowse.index import Index
    from dowse.symbol_lookup import AmbiguousName
    from dowse.types import SymbolRow

# Most that are read: of all, and of one name to find those of a folder.
_MAX_SYMBOLS = 100_000


def add_arguments(parser: CommandParser) -> None:
    """Add the flags of one of these commands."""
    if parser.command == "symbols":
        parser.add_argument("pattern", help="a part of a name, or a whole one with the wildcards * and ?")
        flags.add(parser, "target")
        parser.add_argument(
            "--kind", action="append", choices=KINDS, metavar="K", help="only these kinds: field, method, …"
        )
        parser.add_argument(
            "-k", "--top-k", type=int, default=50, metavar="N", help="how many (0: all; default: 50)"
        )
        flags.add(parser, "--json")
    elif parser.command == "related":
        parser.add_argument("symbol", help=flags.SYMBOL_HELP)
        flags.add(parser, "target", "--encoder")
        flags.add_top_k(parser, 10)
        flags.add(parser, "--json")
    else:
        _add_graph_arguments(parser)


def _add_graph_arguments(parser: CommandParser) -> None:
    if parser.command == "path":
        parser.add_argument("start", help=f"first symbol: {flags.SYMBOL_HELP}")
        parser.add_argument("end", help="last symbol")
    else:
        parser.add_argument("symbol", help=flags.SYMBOL_HELP)
    flags.add(parser, "target")
    parser.add_argument("--depth", type=int, metavar="N", help="hops to walk (docs/GRAPH.md)")
    if parser.command != "path":
        default = 200 if parser.command == "impact" else 50
        parser.add_argument(
            "-k", "--top-k", type=int, metavar="N", help=f"how many (0: all; default: {default})"
        )
    flags.add_output_format(parser)
    flags.add(parser, "--color", "--refresh")


def run(options: argparse.Namespace) -> int:
    """Answer one of these commands."""
    commands = {"symbols": _list_symbols, "related": _list_related}
    return commands.get(options.command, _query_graph)(options)


def _list_symbols(options: argparse.Namespace) -> int:
    """List the symbols and names whose name matches a pattern, or contains it."""
    index = open_current_index(options)
    pattern = options.pattern if set(options.pattern) & set("*?") else f"*{options.pattern}*"
    most = options.top_k or _MAX_SYMBOLS
    rows = _symbols_here(index, pattern, options, most + 1)
    if len(rows) > most:
        print_message(f"these are the first {most}; -k 0 lists all")
    rows = rows[:most]
    if options.json:
        print_json([row._asdict() for row in rows])
    else:
        for row in rows:
            path = options.place.openable(row.path, options.path) if options.place.below else row.path
            fields = (f"{path}:{row.start_line}", row.kind, row.qualified_name)
            sys.stdout.write("\t".join(map(escape_name, fields)) + "\n")
    return EXIT_FOUND if rows else EXIT_NOTHING


def _symbols_here(index: Index, pattern: str, options: argparse.Namespace, limit: int) -> list[SymbolRow]:
    """Return matching symbols, only those of the folder or file that was named."""
    below, kinds = options.place.below, options.kind or ()
    if not below:
        return index.symbols(pattern, limit, kinds)
    from dowse.query.evaluate import is_within

    rows = index.symbols(pattern, _MAX_SYMBOLS, kinds)
    return [row for row in rows if is_within(below, row.path)][:limit]


def _list_related(options: argparse.Namespace) -> int:
    """List the nearest neighbours of a symbol, and the members of its cluster."""
    index = open_current_index(options)
    embed_briefly(index)
    related = index.related(located(options.symbol), options.top_k)
    if options.json:
        print_json(document(related))
    else:
        from dowse.formats.text import render_related

        sys.stdout.write(render_related(related, output_style(options, index.root)))
    return EXIT_FOUND if related.neighbours else EXIT_NOTHING


def _query_graph(options: argparse.Namespace) -> int:
    """Query the code graph; an ambiguous name is an error that lists its candidates."""
    from dowse.symbol_lookup import AmbiguousName

    index = open_current_index(options)
    try:
        answer = _graph_answer(index, options)
    except AmbiguousName as error:
        _write_candidates(error, options)
        print_error(error)
        return EXIT_ERROR
    write_graph(answer, options, index.root)
    return EXIT_FOUND if answer.steps or answer.mentions else EXIT_NOTHING


def _graph_answer(index: Index, options: argparse.Namespace) -> GraphAnswer:
    if options.command == "path":
        return index.graph.path(located(options.start), located(options.end), options.depth)
    queries = {
        "callers": index.graph.callers,
        "callees": index.graph.callees,
        "uses": index.graph.uses,
        "implementers": index.graph.implementers,
        "subclasses": index.graph.subclasses,
        "impact": index.graph.impact,
    }
    return queries[options.command](located(options.symbol), options.depth, options.top_k)


def _write_candidates(error: AmbiguousName, options: argparse.Namespace) -> None:
    """Write the candidates of a name as JSON; the error lists them for the other formats."""
    if output_format(options) == "json":
        from dowse.graph.model import AmbiguousAnswer

        print_json(document(AmbiguousAnswer(error.name, tuple(error.candidates))))
