"""`dowse context`: the lines that matter for a question or an issue text, within a budget of tokens."""

from __future__ import annotations

import argparse
import sys

from dowse.errors import DowseError
from dowse.interfaces.cli import flags
from dowse.interfaces.cli.command import EXIT_FOUND, EXIT_NOTHING, CommandParser
from dowse.interfaces.cli.common import embed_briefly, open_current_index
from dowse.interfaces.cli.printing import print_json, print_message, print_notes
from dowse.json_form import document
from dowse.security.terminal import escape_controls

# A longer text is no question.
_MAX_CHARACTERS = 100_000


def add_arguments(parser: CommandParser) -> None:
    """Add the flags of `dowse context`."""
    parser.add_argument("text", help="the question or issue text; `-` reads it from standard input")
    flags.add(parser, "target", "--encoder")
    parser.add_argument(
        "--tokens", type=int, default=8_000, metavar="N", help="what the answer may cost (default: 8000)"
    )
    flags.add(parser, "--json")


def run(options: argparse.Namespace) -> int:
    """Print the lines, merged by file."""
    from dowse.search.token_budget import file_text

    if options.tokens < 1:
        raise DowseError(f"--tokens is a number of tokens, not {options.tokens}")
    text = sys.stdin.read(_MAX_CHARACTERS) if options.text == "-" else options.text
    index = open_current_index(options)
    embed_briefly(index)
    answer = index.context(text, options.tokens, within=options.place.below, embed=False)
    if options.json:
        print_json(document(answer))
    else:
        print_notes(answer.notes)
        for number, file in enumerate(answer.files):
            shown = "\n".join(escape_controls(line) for line in file_text(file).split("\n"))
            sys.stdout.write(f"{'' if number == 0 else chr(10)}{shown}\n")
    if not answer.files:
        where = options.place.below or index.root
        small = f"nothing fits into {options.tokens:,} tokens; raise --tokens"
        print_message(small if answer.left_out else f"nothing in {where} is about this")
    return EXIT_FOUND if answer.files else EXIT_NOTHING
