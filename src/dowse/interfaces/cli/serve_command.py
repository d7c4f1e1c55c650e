"""`dowse serve`: the page and the API, until Ctrl-C."""

from __future__ import annotations

import argparse
import os
from dataclasses import replace
from pathlib import Path

from dowse.errors import DowseError
from dowse.index import Index
from dowse.interfaces.cli.main import FOUND

# Settings that are flags of this command.
_SETTINGS = ("backend", "encoder", "view", "vectors", "device", "threads", "show_secrets")


def serve(options: argparse.Namespace) -> int:
    """Answer over HTTP from one or several indexes."""
    from dowse.interfaces.http.run import serve as run
    from dowse.services.web.options import Limits, ServeOptions, is_loopback

    token = options.token or os.environ.get("DOWSE_TOKEN", "")
    if not token and not is_loopback(options.host):
        raise DowseError(
            f"{options.host} can be reached from other machines; set a secret with --token or DOWSE_TOKEN"
        )
    limits = Limits() if options.rate is None else replace(Limits(), rate=options.rate)
    settings = {name: getattr(options, name) for name in _SETTINGS}
    indexes = [
        Index.open(path, exact_seconds=limits.pattern_seconds, **settings) for path in options.paths or ["."]
    ]
    chosen = ServeOptions(
        host=options.host,
        port=options.port,
        token=token,
        allow_origins=tuple(options.allow_origin or ()),
        reports=tuple(Path(folder) for folder in options.reports or ()),
        feedback=not options.no_feedback,
        watch=options.watch,
        limits=limits,
    )
    run(indexes, chosen, open_page=options.open)
    return FOUND
