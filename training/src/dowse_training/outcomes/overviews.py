"""Pairs of the documentation of a class or a file, and what it holds."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dowse.eval.mine.doc_pairs import Candidate, clean_doc, first_paragraph
from dowse.types import TYPE_KINDS, Definition
from dowse_training.outcomes.changes import SourceFile, candidate_of
from dowse_training.pairs.filters import drop_reason
from dowse_training.pairs.model import MAX_CODE_CHARACTERS

# Lines at the top of a file for tools, and those of editors' templates: the file's name, who created it.
_NO_DOC = re.compile(
    r"""[-*\s]*(?:-\*-|vim?:|coding[:=]|frozen_string_literal|typed:|warn_indent|rubocop:|encoding:|eslint|jshint
        |@(?!link|code)|\#!|created\ (?:by|on)|package\b|file:|\S+\.\w{1,5}\s*\Z|[/*=\-~\#\s]+\Z
        |.*https?://\S+\Z).*""",
    re.VERBOSE | re.IGNORECASE,
)
_CONTAINERS = TYPE_KINDS | {"module"}
# Less is the project's name.
_MIN_WORDS = 4


def documented_overviews(source: SourceFile, path: str) -> Iterator[tuple[str, Candidate]]:
    """Give the documented classes of a file, and the file itself, as (kind, candidate)."""
    for index, definition in enumerate(source.definitions):
        kind = "file" if index == source.remainder else "class"
        if definition.part or definition.kind not in _CONTAINERS or not definition.doc.strip():
            continue
        doc = first_paragraph(_without_directives(clean_doc(definition.doc)))
        if len(doc.split()) < _MIN_WORDS:
            continue
        candidate = candidate_of(source, path, definition, doc)
        members = _members(source, definition, everything=kind == "file")
        candidate = candidate._replace(code=_with_members(candidate.code, members))
        if not drop_reason(candidate):
            yield kind, candidate


def _without_directives(doc: str) -> str:
    """Return documentation without the lines before it that are for tools."""
    lines = doc.splitlines()
    while lines and _NO_DOC.fullmatch(lines[0]):
        lines.pop(0)
    return "\n".join(lines)


def _members(source: SourceFile, owner: Definition, everything: bool) -> Iterator[str]:
    """Give the signatures of what a class or a file holds."""
    prefix = "" if everything else owner.qualified_name + "."
    for each in source.definitions:
        if each is not owner and not each.part and each.qualified_name.startswith(prefix) and each.signature:
            yield each.signature


def _with_members(code: str, members: Iterator[str]) -> str:
    """Return a class's own text followed by the signatures of its members, as far as there is room."""
    parts, size = [code], len(code)
    for signature in members:
        size += len(signature) + 1
        if size > MAX_CODE_CHARACTERS:
            break
        parts.append(signature)
    return "\n".join(part for part in parts if part)
