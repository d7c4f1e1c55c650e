"""`dowse related`: list symbols similar to a symbol, and its cluster."""

from __future__ import annotations

import argparse
import sys

from dowse.interfaces.cli import flags
from dowse.interfaces.cli.common import embed_briefly, open_current_index, print_json, print_message
from dowse.interfaces.cli.exit_codes import EXIT_FOUND, EXIT_NOTHING
from dowse.interfaces.cli.output import output_style
from dowse.interfaces.cli.parser import CommandParser


def add_arguments(parser: CommandParser) -> None:
    """Add the flags of `dowse related`."""
    parser.add_argument("symbol", help=flags.SYMBOL_HELP)
    flags.add_target(parser)
    flags.add_encoder(parser)
    parser.add_argument("-k", "--top-k", type=int, default=10, metavar="N", help="how many (default: 10)")
    flags.add_show_secrets(parser)
    flags.add_json(parser)


def run(options: argparse.Namespace) -> int:
    """List the nearest neighbours of a symbol, and the members of its cluster."""
    index = open_current_index(options)
    embed_briefly(index)
    related = index.related(options.symbol, options.top_k)
    if options.json:
        from dowse.formats.json_format import related_to_json

        print_json(related_to_json(related))
    else:
        from dowse.formats.text import render_related

        for note in related.notes:
            print_message(str(note))
        sys.stdout.write(render_related(related, output_style(options, index.root)))
    return EXIT_FOUND if related.neighbours else EXIT_NOTHING
