"""`dowse lsp`: a language server for editors."""

from __future__ import annotations

import argparse
from pathlib import Path

from dowse.errors import DowseError, MissingExtra
from dowse.interfaces.cli import flags
from dowse.interfaces.cli.command import CommandParser
from dowse.interfaces.cli.common import flag_settings


def add_arguments(parser: CommandParser) -> None:
    """Add the flags of `dowse lsp`."""
    parser.add_argument(
        "paths", nargs="*", metavar="PATH", help="folders that an editor may open (default: any)"
    )
    parser.add_argument("--stdio", action="store_true", help="the default; some editors pass it")
    flags.add(parser, "--encoder")


def run(options: argparse.Namespace) -> int:
    """Serve an editor until it disconnects."""
    try:
        import pygls  # noqa: F401 - only looked for
    except ImportError as error:
        raise MissingExtra("the language server", "lsp") from error
    from dowse.interfaces.lsp.options import LspOptions
    from dowse.interfaces.lsp.run import run_stdio

    paths = tuple(Path(path).expanduser().resolve() for path in options.paths)
    for path in paths:
        if not path.is_dir():
            raise DowseError(f"{path} is no folder; name folders that the editor may open")
    run_stdio(
        LspOptions(
            paths=paths,
            settings={**flag_settings(options), "exact_seconds": LspOptions().limits.pattern_seconds},
        )
    )
