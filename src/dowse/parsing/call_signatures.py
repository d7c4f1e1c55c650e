"""Ends call signatures of TypeScript that end with a line: the grammar reads the next as type arguments."""

from __future__ import annotations

import re

# The end of a line that is no comment, and type parameters at the start of the next one that is none.
_UNENDED = re.compile(
    rb"^(?![ \t]*(?://|/?\*))[^\n]*[\w>\])}](\n)(?=(?:[ \t]*(?://[^\n]*|/?\*[^\n]*)?\n)*"
    rb"[ \t]*<\s*(?:const\s+)?[A-Z]\w*\s*(?:extends\b|=|,|>\s*\())",
    re.MULTILINE,
)
_AT_LINE_START = re.compile(rb"\n[ \t]*<\s*(?:const\s+)?[A-Z]")


def end_call_signatures(text: bytes) -> bytes:
    """Return a source with a semicolon for the line break before type parameters; offsets stay."""
    if not _AT_LINE_START.search(text):
        return text
    ended = bytearray(text)
    for match in _UNENDED.finditer(text):
        ended[match.start(1)] = ord(";")
    return bytes(ended)
