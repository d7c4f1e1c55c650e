"""`dowse clear`: remove the index."""

from __future__ import annotations

import argparse

from dowse.config import cache_folder
from dowse.interfaces.cli import flags
from dowse.interfaces.cli.command import EXIT_FOUND, EXIT_NOTHING, CommandParser
from dowse.interfaces.cli.common import open_index, print_line, print_message


def add_arguments(parser: CommandParser) -> None:
    """Add the flags of `dowse clear`."""
    flags.add(parser, "target")


def run(options: argparse.Namespace) -> int:
    """Remove the index; the vector cache stays."""
    index = open_index(options)
    if not index.backend.exists():
        print_message(f"there is no index of {index.root}")
        return EXIT_NOTHING
    index.backend.clear()
    removed = f"{index.root} from {index.backend.address}" if index.is_shared else index.backend.address
    print_line(f"removed {removed} (vectors stay in {cache_folder() / 'vectors'})")
    return EXIT_FOUND
