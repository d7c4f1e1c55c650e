"""`dowse serve`: the search page and the API over HTTP, until Ctrl-C."""

from __future__ import annotations

import argparse
from pathlib import Path

from dowse.errors import DowseError
from dowse.index import Index
from dowse.interfaces.cli import flags
from dowse.interfaces.cli.addresses import local_path
from dowse.interfaces.cli.command import EXIT_FOUND, CommandParser
from dowse.interfaces.cli.common import flag_settings, root_here
from dowse.interfaces.cli.token_flags import add_token_flags, server_token


def add_arguments(parser: CommandParser) -> None:
    """Add the flags of `dowse serve`."""
    parser.add_argument(
        "paths",
        nargs="*",
        metavar="PATH",
        help="repositories, folders, git addresses or corpora (default: .)",
    )
    flags.add(parser, "--backend")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: this machine)")
    parser.add_argument("--port", type=int, default=8742, metavar="N", help="0 takes any (default: 8742)")
    add_token_flags(parser)
    parser.add_argument("--open", action="store_true", help="open the page in the browser")
    parser.add_argument(
        "--reports", action="append", metavar="FOLDER", help="with reports of `dowse eval`; may be repeated"
    )
    parser.add_argument("--no-feedback", action="store_true", help="neither record nor use feedback")
    parser.add_argument(
        "--watch", action="store_true", help="update indexes while files change (docs/WATCH.md)"
    )
    parser.add_argument(
        "--allow-origin",
        action="append",
        metavar="ORIGIN",
        help="another origin whose pages may send requests, e.g. of a proxy; may be repeated",
    )
    parser.add_argument(
        "--log-format", choices=("text", "json"), help="log every request; otherwise only problems, as text"
    )
    parser.add_argument("--log-queries", action="store_true", help="also log what was searched for")
    flags.add(parser, "--encoder")


def run(options: argparse.Namespace) -> int:
    """Serve one or several indexes over HTTP."""
    from dowse.interfaces.http.app import serve
    from dowse.services.web.logs import configure_logs
    from dowse.services.web.options import Limits, ServeOptions, is_loopback

    configure_logs(options.log_format or "text", requests=options.log_format is not None)
    host = options.host
    if options.no_token and not is_loopback(host):
        raise DowseError(f"{host} can be reached from other machines; start without --no-token")
    settings = {**flag_settings(options), "exact_seconds": Limits().pattern_seconds}
    indexes = [Index.open(local_path(path), **settings) for path in options.paths or [root_here(options)]]
    server_options = ServeOptions(
        host=host,
        port=options.port,
        token=server_token(options),
        show_token=not options.token_file,
        allow_origins=tuple(options.allow_origin or ()),
        reports=tuple(Path(folder) for folder in options.reports or ()),
        feedback=not options.no_feedback,
        watch=options.watch,
        log_queries=options.log_queries,
    )
    serve(indexes, server_options, open_page=options.open)
    return EXIT_FOUND
