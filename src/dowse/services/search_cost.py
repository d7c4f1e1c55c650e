"""Which searches may take long, told from the request alone, in well under a millisecond."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from dowse.query.structural import parse_structural

# A longer text is a pasted one: a report, a stack trace.
_MAX_LENGTH = 300
_SLOW_MODES = ("regex", "tfidf", "graph")
_SLOW_LANES = ("tfidf", "graph")
# Steps after the first ranking that run lanes or models once more.
_SLOW_OPTIONS = ("expand", "rerank", "diversify")
# The beginning of a pattern, or a phrase: lines of texts are matched.
_EXACT = re.compile(r'(?:^|[\s(-])/\S|"[^"]+"')


def may_be_slow(query: str, options: Mapping[str, Any]) -> bool:
    """Whether a search reads texts, walks the call graph, takes further steps or indexes a revision."""
    lanes = options["lanes"] or ""
    if (
        len(query) + len(options["filters"]) > _MAX_LENGTH
        or "rev:" in query
        or options["mode"] in _SLOW_MODES
        or any(options[name] for name in _SLOW_OPTIONS)
        or any(lane in lanes for lane in _SLOW_LANES)
    ):
        return True
    if options["mode"] == "auto" and parse_structural(query, lambda _: True):
        return True
    text = options["filters"] if options["plain"] else f"{query} {options['filters']}"
    return _EXACT.search(text) is not None
