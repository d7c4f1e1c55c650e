"""The documented functions of a package, found with dowse's own parser."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path

from dowse.eval.mine.doc_pairs import Candidate, clean_doc, code_without_docs
from dowse.parsing.languages import LANGUAGES, detect_language
from dowse.parsing.parser import parse_file
from dowse.source.content import classify_content, decode
from dowse.source.roles import file_role
from dowse_training.pairs.model import MAX_FILE_BYTES

# Long enough that no function worth a pair is split into parts.
_MAX_LINES = 2_000

_KINDS = frozenset({"function", "method"})

# Written by tools next to the source, most often from it.
_BUILD_FOLDERS = frozenset({"node_modules", ".git", "__pycache__", "build", "umd", "esm", "cjs"})

_DECLARATIONS = (".pyi", ".d.ts", ".d.mts", ".d.cts")


def source_files(folder: Path, languages: Collection[str]) -> list[tuple[str, str]]:
    """The path and language of every file in one of the languages, in a random but repeatable order.

    A package that is read only in part is then read here and there, not from one end.
    """
    found = []
    for top, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in _BUILD_FOLDERS]
        for name in names:
            path = os.path.relpath(os.path.join(top, name), folder).replace(os.sep, "/")
            # Whether a header is C or C++ is known when it is read.
            language = detect_language(path)
            if language in LANGUAGES and (language in languages or name.endswith(".h")):
                found.append((path, language))
    return sorted(found, key=lambda file: hashlib.sha256(os.fsencode(file[0])).digest())


def read_candidates(
    folder: Path, path: str, language: str, languages: Collection[str], dropped: Counter[tuple[str, str]]
) -> list[Candidate]:
    """Every documented function of one file; a file that is left out is counted under (language, reason)."""
    reason = _reason_by_path(folder / path, path)
    data = b"" if reason else (folder / path).read_bytes()
    if not reason and _is_machine_made(data, path):
        reason = "file: generated, minified or binary"
    if path.endswith(".h"):
        language = detect_language(path, data)
    if language not in languages:
        return []
    if reason:
        dropped[language, reason] += 1
        return []
    return list(candidates_in(data, language, path))


def candidates_in(data: bytes, language: str, path: str) -> Iterator[Candidate]:
    """Every documented function in the content of a file."""
    text = decode(data)[0].encode("utf-8", "replace")
    parsed = parse_file(text, language, path, max_lines=_MAX_LINES)
    for definition in parsed.definitions:
        if definition.kind in _KINDS and definition.doc.strip() and not definition.part:
            yield Candidate(
                language=language,
                path=path,
                name=definition.name,
                qualified_name=definition.qualified_name,
                signature=definition.signature,
                doc=clean_doc(definition.doc),
                written_doc=definition.doc,
                code=code_without_docs(text, definition),
            )


def _reason_by_path(file: Path, path: str) -> str:
    """Why a file is not read, or ""."""
    if path.endswith(_DECLARATIONS):
        return "file: declarations only"
    if file.is_symlink() or not file.is_file():
        return "file: link"
    if role := file_role(path):
        return f"file: {role}"
    return "file: too large" if file.stat().st_size > MAX_FILE_BYTES else ""


def _is_machine_made(data: bytes, path: str) -> bool:
    """Whether a program wrote the file, or nobody can read it."""
    verdict = classify_content(data, path)
    return bool(verdict.skip_reason) or verdict.generated
