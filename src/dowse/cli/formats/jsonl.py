"""`--format jsonl`: one JSON document a line, as it goes into `jq` and other programs."""

from __future__ import annotations

import json
from collections.abc import Iterable

# Characters that JSON leaves as they are and that some readers take for the end of a line.
_LINE_ENDS = "\u0085\u2028\u2029"


def json_line(data: object) -> str:
    """Return plain data as one line, whatever the reader takes for the end of one."""
    text = json.dumps(data, ensure_ascii=False)
    for mark in _LINE_ENDS:
        text = text.replace(mark, f"\\u{ord(mark):04x}")
    return text + "\n"


def write_jsonl(documents: Iterable[object]) -> str:
    """Return hits, or steps of the graph, one a line."""
    return "".join(json_line(document) for document in documents)
