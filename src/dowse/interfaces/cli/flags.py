"""Flags that several commands share."""

from __future__ import annotations

import argparse
from typing import Any

from dowse.config import DEVICES, REFRESH, VECTORS, VIEWS
from dowse.formats import FORMATS

SYMBOL_HELP = "file.py:42, name, Class.method, pkg.mod.Class.method"
_WHEN: dict[str, Any] = {"choices": ("auto", "always", "never"), "default": "auto"}
_FLAGS: dict[str, dict[str, Any]] = {
    "path": {
        "nargs": "?",
        "default": ".",
        "help": "repository, folder, git address, BEIR folder or .jsonl[.gz] corpus (default: .)",
    },
    "--fresh": {
        "action": "store_true",
        "help": "of a git address: fetch what is new first (docs/REPOSITORIES.md)",
    },
    "--index-dir": {"metavar": "DIR", "help": "folder of the index (default: in the user's cache)"},
    "--backend": {"metavar": "URL", "help": "a shared index: elastic://host:9200/NAME"},
    "--exclude": {
        "action": "append",
        "metavar": "GLOB",
        "help": "exclude files; same syntax as .gitignore; may be repeated",
    },
    "--strip-docs": {
        "action": "store_true",
        "default": None,
        "help": "exclude documentation from the index",
    },
    "--include-secrets": {
        "action": "store_true",
        "default": None,
        "help": "index secrets too: .env, private keys, credentials (excluded by default)",
    },
    "--processes": {"type": int, "metavar": "N", "help": "parsing processes (default: all cores)"},
    "--memory": {"type": int, "metavar": "MB", "help": "memory of all processes (default: by their number)"},
    "--encoder": {"metavar": "NAME", "help": "base, small, a model's folder, hf:owner/name, or none"},
    "--view": {"choices": VIEWS, "help": "encode whole symbols (default), or only their docs"},
    "--vectors": {"choices": VECTORS, "help": "vector search method (default: auto)"},
    "--device": {"choices": DEVICES, "help": "device that encoders run on (default: auto)"},
    "--threads": {"type": int, "metavar": "N", "help": "encoding threads (default: all cores)"},
    "--refresh": {
        "choices": REFRESH,
        "help": "update the index with changed files first (default: auto)",
    },
    "--json": {"action": "store_true", "help": "as JSON"},
    "--quiet": {"action": "store_true", "help": "print errors only"},
    "--no-wait": {"action": "store_true", "help": "fail if another dowse is writing"},
}
_GROUPS = {
    "target": ("path", "--index-dir", "--backend", "--fresh"),
    # What decides which text an index holds.
    "indexing": ("--exclude", "--strip-docs", "--include-secrets", "--processes", "--memory"),
    # What decides how text becomes vectors and how these are searched.
    "encoding": ("--encoder", "--view", "--vectors", "--device", "--threads"),
}
_SHORT = {"--quiet": ["-q"]}


def add(parser: argparse.ArgumentParser, *names: str) -> None:
    """Add flags and positional arguments, by their names or by the names of groups."""
    for name in names:
        for flag in _GROUPS.get(name, (name,)):
            parser.add_argument(*_SHORT.get(flag, []), flag, **_FLAGS[flag])


def add_top_k(parser: argparse.ArgumentParser, default: int) -> None:
    """Add the number of results."""
    parser.add_argument(
        "-k", "--top-k", type=int, default=default, metavar="N", help=f"how many (default: {default})"
    )


def add_output_format(parser: argparse.ArgumentParser) -> argparse._MutuallyExclusiveGroup:
    """Add the format of an answer, and how terminals show it."""
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--format", choices=FORMATS, help="output format (default: text; docs/USING.md)")
    group.add_argument("--json", action="store_true", help="one JSON document (docs/JSON.md)")
    parser.add_argument("--color", **_WHEN)
    parser.add_argument("--links", **_WHEN, help="clickable locations (default: in terminals)")
    return group
