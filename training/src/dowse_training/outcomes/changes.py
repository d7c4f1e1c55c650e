"""Which functions a commit changed, as they were before it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from dowse.eval.mine.doc_pairs import Candidate, code_without_docs
from dowse.parsing.languages import LANGUAGES, detect_language
from dowse.parsing.parser import parse_file
from dowse.source.content import classify_content, decode
from dowse.types import TYPE_KINDS, Definition, Span
from dowse_training.pairs.filters import FILTERS

_FUNCTIONS = frozenset({"function", "method", "macro"})

# What a dialect that the grammar does not know (Flow in JavaScript) makes look like a method.
_KEYWORDS = frozenset("if for while switch catch return function else".split())

# Filters of documented functions that look at the code alone.
_CODE_FILTERS = [FILTERS[name] for name in ("test", "code too short", "code too long", "stub", "trivial")]


class ChangedFunction(NamedTuple):
    """A definition that a commit changed, or the changed part of a long one."""

    candidate: Candidate
    is_function: bool
    lines: int  # of it that are gone after the change


class SourceFile(NamedTuple):
    """The text of a hand-written file, and its definitions."""

    language: str
    text: bytes
    definitions: tuple[Definition, ...]
    remainder: int  # index of the one with the text outside of all others, -1 for none


def read_source(data: bytes, path: str) -> SourceFile | None:
    """Parse a file; None if there is no grammar, or nobody wrote it by hand."""
    language = detect_language(path, data)
    verdict = classify_content(data, path)
    if language not in LANGUAGES or verdict.skip_reason or verdict.generated:
        return None
    text = decode(data)[0].encode("utf-8", "replace")
    parsed = parse_file(text, language, path, definitions_only=True)
    return None if parsed.problem else SourceFile(language, text, parsed.definitions, parsed.remainder)


def changed_functions(before: bytes, after: bytes, path: str) -> Iterator[ChangedFunction]:
    """Give the definitions of the old text whose code is not in the new one, but whose name is.

    A piece of code that is nowhere in the new text was changed: no diff has to be read, and white space
    between functions, moved functions and changed documentation do not count.
    """
    source = read_source(before, path)
    if source is None:
        return
    new = decode(after)[0].encode("utf-8", "replace")
    new_lines = {line.strip() for line in new.splitlines()}
    for definition in source.definitions:
        if definition.kind not in _FUNCTIONS | TYPE_KINDS or definition.name in _KEYWORDS:
            continue
        if definition.name.encode() not in new:
            continue
        pieces = [source.text[slice(*span)] for span in _code_spans(definition)]
        if all(piece.strip() in new for piece in pieces):
            continue
        lines = [line.strip() for piece in pieces for line in piece.splitlines()]
        candidate = candidate_of(source, path, definition)
        if not any(drops(candidate) for drops in _CODE_FILTERS):
            gone = sum(bool(line) and line not in new_lines for line in lines)
            yield ChangedFunction(candidate, definition.kind in _FUNCTIONS, gone)


def candidate_of(source: SourceFile, path: str, definition: Definition, doc: str = "") -> Candidate:
    """Return a definition in the form that the filters of pairs take."""
    return Candidate(
        language=source.language,
        path=path,
        name=definition.name,
        qualified_name=definition.qualified_name,
        signature=definition.signature,
        doc=doc,
        code=code_without_docs(source.text, definition),
        written_doc=definition.doc,
    )


def _code_spans(definition: Definition) -> Iterator[Span]:
    """Give the ranges of a definition's own text between its documentation."""
    for start, end in definition.spans:
        for doc_start, doc_end in sorted(definition.doc_spans):
            if start <= doc_start < end:
                yield start, doc_start
                start = min(doc_end, end)
        yield start, end
