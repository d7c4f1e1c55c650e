"""`dowse completion`: print a completion script for a shell."""

from __future__ import annotations

import argparse
import sys

from dowse.interfaces.cli.command import EXIT_FOUND, CommandParser


def add_arguments(parser: CommandParser) -> None:
    """Add the flags of `dowse completion`."""
    parser.add_argument("shell", choices=("bash", "zsh", "fish", "tcsh", "powershell"))


def run(options: argparse.Namespace) -> int:
    """Print a completion script."""
    from argcomplete.shell_integration import shellcode

    sys.stdout.write(shellcode(["dowse"], shell=options.shell))
    return EXIT_FOUND
