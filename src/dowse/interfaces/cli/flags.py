"""Flags that several commands share."""

from __future__ import annotations

import argparse

from dowse.config import DEVICES, REFRESH, VECTORS, VIEWS
from dowse.formats import FORMATS

SYMBOL_HELP = "file.py:42, name, Class.method, pkg.mod.Class.method"


def add_target(parser: argparse.ArgumentParser) -> None:
    """Add what is searched, and the location of its index."""
    parser.add_argument(
        "path",
        nargs="?",
        default=".",
        help="repository, folder, BEIR folder or .jsonl[.gz] corpus (default: .)",
    )
    add_index_location(parser)


def add_index_location(parser: argparse.ArgumentParser) -> None:
    """Add the location of an index: a local folder, or a cluster."""
    parser.add_argument(
        "--index-dir", metavar="DIR", help="folder of the index (default: in the user's cache)"
    )
    add_backend(parser)


def add_backend(parser: argparse.ArgumentParser) -> None:
    """Add the URL of a shared index."""
    parser.add_argument("--backend", metavar="URL", help="a shared index: elastic://host:9200/NAME")


def add_indexing(parser: argparse.ArgumentParser) -> None:
    """Add what decides which text an index holds."""
    parser.add_argument(
        "--exclude",
        action="append",
        metavar="GLOB",
        help="exclude files; same syntax as .gitignore; may be repeated",
    )
    parser.add_argument(
        "--strip-docs", action="store_true", default=None, help="exclude documentation from the index"
    )
    parser.add_argument(
        "--include-secrets",
        action="store_true",
        default=None,
        help="index secrets too: .env, private keys, credentials (excluded by default)",
    )
    parser.add_argument("--processes", type=int, metavar="N", help="parsing processes (default: all cores)")


def add_encoder(parser: argparse.ArgumentParser) -> None:
    """Add what decides how text becomes vectors and how these are searched."""
    parser.add_argument(
        "--encoder", metavar="NAME", help="base, small, a model's folder, hf:owner/name, or none"
    )
    parser.add_argument("--view", choices=VIEWS, help="encode whole symbols (default), or only their docs")
    parser.add_argument("--vectors", choices=VECTORS, help="vector search method (default: auto)")
    parser.add_argument("--device", choices=DEVICES, help="device that encoders run on (default: auto)")
    parser.add_argument("--threads", type=int, metavar="N", help="encoding threads (default: all cores)")


def add_show_secrets(parser: argparse.ArgumentParser) -> None:
    """Add whether likely secrets are shown unmasked."""
    parser.add_argument(
        "--show-secrets",
        action="store_true",
        default=None,
        help="show likely secrets in plain text (default: masked with *)",
    )


def add_refresh(parser: argparse.ArgumentParser) -> None:
    """Add whether the index is updated before it answers."""
    parser.add_argument(
        "--refresh", choices=REFRESH, help="update the index with changed files first (default: auto)"
    )


def add_output_format(parser: argparse.ArgumentParser) -> argparse._MutuallyExclusiveGroup:
    """Add the format of an answer, and how terminals show it."""
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--format", choices=FORMATS, help="output format (default: text; docs/USING.md)")
    group.add_argument("--json", action="store_true", help="one JSON document (docs/JSON.md)")
    parser.add_argument("--color", choices=("auto", "always", "never"), default="auto")
    parser.add_argument(
        "--links",
        choices=("auto", "always", "never"),
        default="auto",
        help="clickable locations (default: in terminals)",
    )
    return group


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add whether the output is JSON."""
    parser.add_argument("--json", action="store_true", help="as JSON")


def add_quiet(parser: argparse.ArgumentParser) -> None:
    """Add whether anything but errors is printed."""
    parser.add_argument("-q", "--quiet", action="store_true", help="print errors only")


def add_no_wait(parser: argparse.ArgumentParser) -> None:
    """Add whether a command waits for another process that writes to the index."""
    parser.add_argument("--no-wait", action="store_true", help="fail if another dowse is writing")
