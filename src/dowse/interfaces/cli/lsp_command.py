"""`dowse lsp`: a language server for editors."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from dowse.errors import DowseError
from dowse.interfaces.cli import flags
from dowse.interfaces.cli.command import EXIT_FOUND, CommandParser
from dowse.interfaces.cli.common import flag_settings, parse_host_port


def add_arguments(parser: CommandParser) -> None:
    """Add the flags of `dowse lsp`."""
    parser.add_argument(
        "paths",
        nargs="*",
        metavar="PATH",
        help="folders that an editor may open (default: any; over TCP the current folder)",
    )
    parser.add_argument(
        "--tcp",
        metavar="[HOST:]PORT",
        help="serve over TCP on this machine instead of stdin; 0 takes any port",
    )
    parser.add_argument("--stdio", action="store_true", help="the default; some editors pass it")
    flags.add(parser, "--encoder")


def run(options: argparse.Namespace) -> int:
    """Serve an editor until it disconnects, or over TCP until Ctrl-C."""
    from dowse.interfaces.lsp.options import LspOptions
    from dowse.interfaces.lsp.run import run_stdio, run_tcp
    from dowse.services.folder_check import check_not_home

    paths = tuple(Path(path).expanduser().resolve() for path in options.paths)
    for path in paths:
        if not path.is_dir():
            raise DowseError(f"{path} is no folder; name folders that the editor may open")
    if options.tcp is not None and not paths:
        paths = (Path.cwd(),)
        check_not_home(paths[0], "dowse was started in", "name the folders: `dowse lsp PATH… --tcp PORT`")
    server_options = LspOptions(
        paths=paths,
        token=os.environ.get("DOWSE_TOKEN", "") if options.tcp is not None else "",
        settings={**flag_settings(options), "exact_seconds": LspOptions().limits.pattern_seconds},
    )
    if options.tcp is None:
        run_stdio(server_options)
    run_tcp(server_options, *parse_host_port(options.tcp, "--tcp"))
    return EXIT_FOUND
