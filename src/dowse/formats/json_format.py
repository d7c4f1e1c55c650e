"""JSON as text: documents and lines."""

from __future__ import annotations

import json

from dowse.security.terminal import escape_json


def json_document(data: object) -> str:
    """Return plain data as one indented JSON document."""
    return escape_json(json.dumps(data, ensure_ascii=False, indent=2)) + "\n"


def json_line(data: object) -> str:
    """Return plain data as one line of JSON Lines, whatever the reader takes as a line end."""
    return escape_json(json.dumps(data, ensure_ascii=False)) + "\n"
