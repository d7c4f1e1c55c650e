"""Pairs of the documentation of a class or a file, and what it holds."""

from __future__ import annotations

from collections.abc import Iterator

from dowse.eval.mine.doc_pairs import Candidate, clean_doc, first_paragraph
from dowse.types import TYPE_KINDS, Definition
from dowse_training.outcomes.changes import SourceFile, candidate_of
from dowse_training.pairs.filters import drop_reason
from dowse_training.pairs.model import MAX_CODE_CHARACTERS


def documented_overviews(source: SourceFile, path: str) -> Iterator[tuple[str, Candidate]]:
    """Give the documented classes of a file, and the file itself, as (kind, candidate)."""
    for definition in source.definitions:
        if definition.part or not definition.doc.strip():
            continue
        kind = "class" if definition.kind in TYPE_KINDS else "file" if definition.kind == "module" else ""
        if not kind:
            continue
        doc = first_paragraph(clean_doc(definition.doc))
        candidate = candidate_of(source, path, definition, doc)
        members = _members(source, definition, everything=kind == "file")
        candidate = candidate._replace(code=_with_members(candidate.code, members))
        if not drop_reason(candidate):
            yield kind, candidate


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
