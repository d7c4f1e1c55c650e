"""A documented function before any filter: its documentation, and its code without it."""

from __future__ import annotations

import re
import textwrap
from typing import NamedTuple

from dowse.types import Definition

_PARAGRAPH_END = re.compile(r"\n[ \t\r]*\n")


class Candidate(NamedTuple):
    """A documented function as the parser found it, uncut, before any filter."""

    language: str
    path: str
    name: str
    qualified_name: str
    signature: str
    doc: str
    code: str  # without its documentation, dedented
    written_doc: str  # with the tags that `doc` has lost


def first_paragraph(doc: str) -> str:
    """Return the documentation before its first empty line."""
    return _PARAGRAPH_END.split(doc.strip(), maxsplit=1)[0]


def code_without_docs(text: bytes, definition: Definition) -> str:
    """Return a definition's own text without its documentation and the lines that leaves empty."""
    kept = bytearray()
    for start, end in definition.spans:
        for doc_start, doc_end in sorted(definition.doc_spans):
            if start <= doc_start < end:
                kept += text[start:doc_start]
                start = min(doc_end, end)
        kept += text[start:end]
    indent = _indent_before(text, definition.spans[0][0])
    lines = (indent + kept.decode("utf-8", "replace")).splitlines()
    return textwrap.dedent("\n".join(line.rstrip() for line in lines if line.strip()))


def _indent_before(text: bytes, start: int) -> str:
    """Return the white space before a definition on its line, so that dedenting is even."""
    before = text[text.rfind(b"\n", 0, start) + 1 : start]
    return before.decode("utf-8", "replace") if not before.strip() else ""
