"""`--format jsonl`: one JSON document a line, as it goes into `jq` and other programs."""

from __future__ import annotations

import json
from collections.abc import Iterable

from dowse.security.terminal import escape_json


def json_line(data: object) -> str:
    """Return plain data as one line, whatever the reader takes for the end of one."""
    return escape_json(json.dumps(data, ensure_ascii=False)) + "\n"


def write_jsonl(documents: Iterable[object]) -> str:
    """Return hits, or steps of the graph, one a line."""
    return "".join(json_line(document) for document in documents)
