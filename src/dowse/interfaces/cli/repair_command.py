"""`dowse repair`: mend what is damaged of an index."""

from __future__ import annotations

import argparse

from dowse.interfaces.cli import flags
from dowse.interfaces.cli.command import EXIT_FOUND, CommandParser
from dowse.interfaces.cli.common import open_index
from dowse.interfaces.cli.printing import print_json, print_line


def add_arguments(parser: CommandParser) -> None:
    """Add the flags of `dowse repair`."""
    flags.add(parser, "target", "--encoder", "--no-wait", "--quiet", "--json")


def run(options: argparse.Namespace) -> int:
    """Mend the index, and print what was damaged and what was done."""
    from dowse.interfaces.cli.progress import ProgressBar
    from dowse.services.repair import repair

    index = open_index(options)
    with ProgressBar("repairing", "steps", quiet=options.quiet) as bar:
        damage, done = repair(index, 0.0 if options.no_wait else None, bar.show)
    if options.json:
        parts = [{"part": each.part, "detail": each.reason} for each in damage]
        print_json({"index": index.backend.address, "damage": parts, "done": done})
    elif not options.quiet:
        for each in damage:
            print_line(f"damaged {each.part}: {each.reason}")
        for line in done or ["nothing is damaged"]:
            print_line(line)
    return EXIT_FOUND
