"""Flags of `dowse search` that people know from grep: `-i`, `-A`, `-B`, `-C`, `-m`, `-c`, and `--offset`."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from dowse.errors import UsageError
from dowse.index import Index
from dowse.types import Answer, Hit

# With `-m`, how many times as many hits are retrieved as are shown: the first ones may share a few files.
_SPARE = 10


def add_matching(group: argparse._ArgumentGroup) -> None:
    """Add the flag that decides what matches."""
    group.add_argument("-i", "--ignore-case", action="store_true", help="of phrases and regexes")


def add_showing(group: argparse._ArgumentGroup) -> None:
    """Add the flags that decide what is shown of it; `-c` is one of the formats."""
    number: dict[str, Any] = {"type": int, "metavar": "N"}
    group.add_argument("-A", "--after-context", **number, help="lines after each match")
    group.add_argument("-B", "--before-context", **number, help="lines before each match")
    group.add_argument("-C", "--context", **number, help="lines before and after each match")
    group.add_argument("-m", "--max-count", **number, help="at most N lines or hits of each file")
    group.add_argument("--snippet-lines", **number, help="lines of each snippet (default: 5)")
    group.add_argument("--offset", **number, default=0, help="leave out the first N hits")


def check(options: argparse.Namespace) -> None:
    """Refuse numbers and combinations that make no sense."""
    for name in ("after_context", "before_context", "context", "snippet_lines", "max_count", "offset"):
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
    """Search, and keep what `-m`, `--offset` and `-k` leave of the hits."""
    k = values.get("k", index.settings.top_k)
    if options.count and "k" not in values:
        k = 0  # all that there are
    if not options.offset and options.max_count is None:
        return index.search(query, **{**values, "k": k})
    depth = k and (k + options.offset) * (_SPARE if options.max_count is not None else 1)
    answer = index.search(query, **{"page_size": k, **values, "k": depth})
    hits = list(answer.hits)
    if options.max_count is not None:
        hits = list(_limited(hits, options.max_count))
    hits = hits[options.offset :]
    return replace(answer, hits=tuple(hits[:k] if k else hits))


def _limited(hits: list[Hit], limit: int) -> Iterator[Hit]:
    """Yield the hits with at most so many matching lines, or hits, of each file."""
    seen: Counter[tuple[str, str]] = Counter()
    for hit in hits:
        file = hit.symbol.repo, hit.symbol.path
        left = limit - seen[file]
        if left > 0:
            seen[file] += len(hit.matches) or 1
            yield replace(hit, matches=hit.matches[:left])
