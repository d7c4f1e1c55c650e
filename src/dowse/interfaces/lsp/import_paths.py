"""Paths in imports: the file that `from shop.cart import`, `"./cart"` or `#include <uv.h>` means."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence

from dowse.graph.keys import family_of
from dowse.interfaces.lsp.source import Source, Word
from dowse.symbol_lookup import module_path
from dowse.types import StoredFile, SymbolRow

_IMPORT = re.compile(
    r"\s*(?:(?:import|from|export|use|mod|require\w*)\b|#\s*include\b)"
    r"|.*\b(?:require|import)\s*\(|.*\bfrom\s*[\"']"
    r"|\s*(?:[\w.]+\s+)?\"[^\"]+\"\s*\Z"  # in a group of Go
)
_BEFORE_PATH = re.compile(r"\b(?:import|from|use|mod)\s+\Z")
_PATH = re.compile(r"[\w./@:\\-]+")
_QUOTED = re.compile(r"[\"'<]([^\"'<>]+)[\"'>]")
_BRACES = re.compile(r"\{.*\}")  # names of the module, not the module
_ECMASCRIPT = family_of("typescript")
# Lines of a file in which imports are looked for.
_MAX_LINES = 300
# Files of a folder that are offered for it.
_MAX_FILES = 5


def path_files(source: Source, file: StoredFile, word: Word) -> list[SymbolRow]:
    """Return the files that a path in an import means: of the path up to the word, those nearest first."""
    line = source.lines(file.file_id)[word.line - 1]
    start = len(line.encode()[: word.column].decode("utf-8", "ignore"))
    paths = _PATH.finditer(line) if _IMPORT.match(line) else iter(())
    path = next((each for each in paths if each.start() <= start < each.end()), None)
    if path is None:
        return []
    if line[: path.start()].endswith(('"', "'", "<")):
        return _quoted_files(source, file, path[0])
    if not re.search(r"[./:\\]", path[0]) and not _BEFORE_PATH.search(line[: path.start()]):
        return []  # a name that is imported
    parts = re.split(r"::|[./\\]", line[path.start() : start + len(word.text)])
    return _rows(source, file, _ending_with(source, file, "/".join(filter(None, parts))))


def files_imported_as(source: Source, file: StoredFile, word: Word) -> list[SymbolRow]:
    """Return the file that is imported under a name: `import * as core from "../core"`."""
    if source.receiver(file, word) is not None:
        return []
    pattern = re.compile(rf"(?<![\w$]){re.escape(word.text)}(?![\w$])")
    for line in source.lines(file.file_id)[:_MAX_LINES]:
        quoted = _QUOTED.search(line) if _IMPORT.match(line) and pattern.search(line) else None
        if quoted and not _BRACES.search(line):
            return _quoted_files(source, file, quoted[1])
    return []


def _quoted_files(source: Source, file: StoredFile, text: str) -> list[SymbolRow]:
    """Return the files of a path as written: from the file's folder, or of a package with its address."""
    folder = posixpath.dirname(file.path)
    if text.startswith("."):
        wanted = module_path(posixpath.normpath(posixpath.join(folder, text)))
        found = [each for each in source.reader.files() if module_path(each.path) == wanted]
        return _rows(source, file, [each for each in found if each.language == file.language])
    if family_of(file.language) == _ECMASCRIPT:
        return []  # a package from outside
    while text:
        if found := _ending_with(source, file, text):
            return _rows(source, file, found)
        text = text.partition("/")[2]  # a module of Go has its own address in front
    return []


def _ending_with(source: Source, file: StoredFile, path: str) -> list[StoredFile]:
    """Return the files with a path, as it is or as a module; else those in the folder."""
    ending = f"/{path}"
    family = family_of(file.language)
    same = [each for each in source.reader.files() if family_of(each.language) == family]
    exact = [each for each in same if f"/{each.path}".endswith(ending)]
    modules = [each for each in same if f"/{module_path(each.path)}".endswith(ending)]
    return exact or modules or [each for each in same if posixpath.dirname(f"/{each.path}").endswith(ending)]


def _rows(source: Source, file: StoredFile, files: Sequence[StoredFile]) -> list[SymbolRow]:
    """Return some files, nearest first: where they say what package they are, else from their first line."""
    folder = posixpath.dirname(file.path)
    files = sorted(files, key=lambda each: (each.role, posixpath.dirname(each.path) != folder, each.path))
    ids = [each.file_id for each in files[:_MAX_FILES]]
    packages = {row.file_id: row for row in source.reader.names_of_files(ids) if row.kind == "namespace"}
    return [packages.get(row.file_id, row) for row in source.reader.file_rows(ids)]
