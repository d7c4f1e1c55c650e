"""Flags of `dowse search` that people know from grep: `-i`, `-A`, `-B`, `-C` and `-c`."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from dowse.errors import UsageError

if TYPE_CHECKING:
    from dowse.answer import Answer
    from dowse.index import Index


def add_matching(group: argparse._ArgumentGroup) -> None:
    """Add the flag that decides what matches."""
    group.add_argument("-i", "--ignore-case", action="store_true", help="of phrases and regexes")


def add_showing(group: argparse._ArgumentGroup) -> None:
    """Add the flags that decide what is shown of it; `-c` is one of the formats."""
    number: dict[str, Any] = {"type": int, "metavar": "N"}
    group.add_argument("-A", "--after-context", **number, help="lines after each match")
    group.add_argument("-B", "--before-context", **number, help="lines before each match")
    group.add_argument("-C", "--context", **number, help="lines before and after each match")
    group.add_argument("--snippet-lines", **number, help="lines of each snippet (default: 5)")


def check(options: argparse.Namespace) -> None:
    """Refuse numbers and combinations that make no sense."""
    for name in ("after_context", "before_context", "context", "snippet_lines"):
        if (getattr(options, name) or 0) < 0:
            raise UsageError(f"--{name.replace('_', '-')} can't be below 0")
    if context_lines(options) and (options.json or options.format not in (None, "text")):
        raise UsageError("-A, -B and -C belong to the text format; leave out --format, or them")


def context_lines(options: argparse.Namespace) -> tuple[int, int] | None:
    """Return how many lines to show before and after each match, None if no flag says so."""
    both, before, after = options.context, options.before_context, options.after_context
    if both is None and before is None and after is None:
        return None
    return before if before is not None else both or 0, after if after is not None else both or 0


def search(index: Index, query: str, values: dict[str, Any], options: argparse.Namespace) -> Answer:
    """Search; `-c` counts all hits that there are."""
    return index.search(query, embed=False, **({"k": 0, **values} if options.count else values))
