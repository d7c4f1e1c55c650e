"""The flags of commands that answer over HTTP which say who may ask."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from dowse.interfaces.cli.command import CommandParser


def add_token_flags(parser: CommandParser) -> None:
    """Add the flags of the token."""
    group = parser.add_mutually_exclusive_group()
    group.add_argument(
        "--token",
        metavar="SECRET",
        help="that every request must carry (or DOWSE_TOKEN; default: one of your own, made once)",
    )
    group.add_argument("--token-file", metavar="FILE", help="that holds the token, which is not printed then")
    group.add_argument(
        "--no-token",
        action="store_true",
        help="ask for none: every user and program of this machine may then read the code "
        "and delete what is recorded",
    )


def server_token(options: argparse.Namespace) -> str:
    """Return the token that the flags name, the user's own without one, "" for `--no-token`."""
    from dowse.services.web.token import own_token, read_token

    if options.no_token:
        return ""
    if options.token_file:
        return read_token(Path(options.token_file))
    return options.token or os.environ.get("DOWSE_TOKEN") or own_token()
