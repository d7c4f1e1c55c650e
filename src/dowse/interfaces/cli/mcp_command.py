"""`dowse mcp`: search and the code graph as tools for coding agents."""

from __future__ import annotations

import argparse
from pathlib import Path

from dowse.errors import DowseError
from dowse.interfaces.cli import flags
from dowse.interfaces.cli.addresses import local_path
from dowse.interfaces.cli.command import EXIT_FOUND, CommandParser
from dowse.interfaces.cli.common import flag_settings, parse_host_port
from dowse.interfaces.cli.token_flags import add_token_flags, server_token


def add_arguments(parser: CommandParser) -> None:
    """Add the flags of `dowse mcp`."""
    parser.add_argument(
        "paths",
        nargs="*",
        metavar="PATH",
        help="repositories to serve (default: the client's roots, else the current folder)",
    )
    parser.add_argument(
        "--http",
        metavar="[HOST:]PORT",
        help="serve over HTTP on this machine instead of stdin; 0 takes any port",
    )
    add_token_flags(parser)
    parser.add_argument("--watch", action="store_true", help="update indexes while files change")
    parser.add_argument(
        "--all-tools",
        action="store_true",
        help="list similar code, commits and status as tools, too, and every argument",
    )
    parser.add_argument(
        "--structured",
        action="store_true",
        help="structured content beside the text of answers, for programs; many clients give a model both",
    )
    flags.add(parser, "--encoder")


def run(options: argparse.Namespace) -> int:
    """Serve an agent until it disconnects, or over HTTP until Ctrl-C."""
    from dowse.interfaces.mcp.options import McpOptions
    from dowse.interfaces.mcp.roots import current_folder
    from dowse.interfaces.mcp.run import run_http, run_stdio

    paths = tuple(Path(local_path(path)).expanduser() for path in options.paths)
    if not paths and options.http:
        paths = current_folder()
    for path in paths:
        if not path.exists():
            raise DowseError(f"{path} does not exist; name a repository or a folder")
    server_options = McpOptions(
        paths=tuple(path.resolve() for path in paths),
        watch=options.watch,
        all_tools=options.all_tools,
        structured=options.structured,
        settings={**flag_settings(options), "exact_seconds": McpOptions().limits.pattern_seconds},
    )
    if options.http is None:
        run_stdio(server_options)
    else:
        host, port = parse_host_port(options.http, "--http")
        run_http(server_options, host, port, server_token(options), show_token=not options.token_file)
    return EXIT_FOUND
