"""Flags that several commands share; those of settings are made from their declaration."""

from __future__ import annotations

import argparse
from typing import Any

from dowse.config import SETTINGS, SettingSpec
from dowse.formats import FORMATS

SYMBOL_HELP = "file.py:42, name, Class.method, pkg.mod.Class.method"
# Settings that are flags too, as people choose them for one command; all others are settings alone.
SETTING_FLAGS = {
    **{"--index-dir": "index_dir", "--backend": "backend", "--refresh": "refresh", "--encoder": "encoder"},
    **{"--exclude": "exclude", "--strip-docs": "strip_docs", "--include-secrets": "include_secrets"},
}
_METAVARS = {"--index-dir": "DIR", "--backend": "URL", "--exclude": "GLOB", "--encoder": "NAME"}
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
    "--color": {"choices": ("auto", "always", "never"), "default": "auto"},
    "--json": {"action": "store_true", "help": "as JSON"},
    "--quiet": {"action": "store_true", "help": "print errors only"},
    "--no-wait": {"action": "store_true", "help": "fail if another dowse is writing"},
}
_GROUPS = {"target": ("path", "--index-dir", "--backend", "--fresh")}
_SHORT = {"--quiet": ["-q"]}


def add(parser: argparse._ActionsContainer, *names: str) -> None:
    """Add flags and positional arguments, by their names or by the name of a group."""
    for name in names:
        for flag in _GROUPS.get(name, (name,)):
            parser.add_argument(*_SHORT.get(flag, []), flag, **_keywords(flag))


def _keywords(flag: str) -> dict[str, Any]:
    """Return the keyword arguments of `add_argument` for a flag."""
    if flag not in SETTING_FLAGS:
        return _FLAGS[flag]
    spec = SETTINGS[SETTING_FLAGS[flag]]
    keywords: dict[str, Any] = {"help": _setting_help(spec), "default": None}
    if isinstance(spec.default, bool):
        return {**keywords, "action": "store_true"}
    if isinstance(spec.default, tuple):
        return {**keywords, "action": "append", "metavar": _METAVARS[flag]}
    return {**keywords, **({"choices": spec.choices} if spec.choices else {"metavar": _METAVARS[flag]})}


def _setting_help(spec: SettingSpec) -> str:
    default = spec.shown_default or spec.default
    return f"{spec.help} (default: {default})" if default else spec.help


def count(text: str) -> int:
    """Read a number of results; its name is part of argparse's message."""
    if (number := int(text)) < 1:
        raise argparse.ArgumentTypeError("must be 1 or more")
    return number


def add_top_k(parser: argparse.ArgumentParser, default: int) -> None:
    """Add the number of results, one or more."""
    parser.add_argument(
        "-k", "--top-k", type=count, default=default, metavar="N", help=f"how many (default: {default})"
    )


def add_output_format(parser: argparse._ActionsContainer) -> argparse._MutuallyExclusiveGroup:
    """Add the format of an answer."""
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--format", choices=FORMATS, help="output format (default: text; docs/USING.md)")
    group.add_argument("--json", action="store_true", help="one JSON document (docs/JSON.md)")
    return group
