"""`dowse stop`: end the resident process."""

from __future__ import annotations

import argparse

from dowse.errors import DowseError
from dowse.interfaces.cli.command import EXIT_FOUND, EXIT_NOTHING, CommandParser
from dowse.interfaces.cli.printing import print_line
from dowse.interfaces.daemon.resident import resident_pid, stop_resident
from dowse.security.leftovers import is_running


def add_arguments(parser: CommandParser) -> None:
    """`dowse stop` has no flags."""


def run(options: argparse.Namespace) -> int:
    """End the process, if there is one."""
    pid = stop_resident()
    left = resident_pid()
    if left is not None and (not left or not is_running(left)):  # of the one before
        raise DowseError("a resident process is just starting; try again")
    if left is not None:
        raise DowseError(f"process {left} is `dowse watch`, or does not answer; end it with `kill {left}`")
    print_line(f"stopped process {pid}" if pid else "no resident process is running")
    return EXIT_FOUND if pid else EXIT_NOTHING
