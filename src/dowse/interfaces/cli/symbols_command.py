"""`dowse symbols`: list symbols by name."""

from __future__ import annotations

import argparse
import sys

from dowse.interfaces.cli import flags
from dowse.interfaces.cli.common import open_current_index, print_json
from dowse.interfaces.cli.exit_codes import EXIT_FOUND, EXIT_NOTHING
from dowse.interfaces.cli.parser import CommandParser
from dowse.security.terminal import escape_name


def add_arguments(parser: CommandParser) -> None:
    """Add the flags of `dowse symbols`."""
    parser.add_argument("pattern", help="a name or qualified name; * and ? are wildcards")
    flags.add_target(parser)
    parser.add_argument("-k", "--top-k", type=int, default=50, metavar="N", help="how many (default: 50)")
    flags.add_show_secrets(parser)
    flags.add_json(parser)


def run(options: argparse.Namespace) -> int:
    """List the symbols whose name matches a pattern, or contains it."""
    index = open_current_index(options)
    pattern = options.pattern if set(options.pattern) & set("*?") else f"*{options.pattern}*"
    rows = index.symbols(pattern, options.top_k)
    if options.json:
        print_json([row._asdict() for row in rows])
    else:
        for row in rows:
            fields = (f"{row.path}:{row.start_line}", row.kind, row.qualified_name)
            sys.stdout.write("\t".join(map(escape_name, fields)) + "\n")
    return EXIT_FOUND if rows else EXIT_NOTHING
