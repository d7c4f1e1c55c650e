"""Corpora of single functions in JSON Lines: BEIR folders, CodeSearchNet, and plain JSONL."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import IO, Any, cast

from dowse.errors import SourceError
from dowse.lazy_classes import dataclass
from dowse.security.safe_files import open_regular_file
from dowse.security.terminal import replace_surrogates

# Keys of each field, best first. The token columns of CodeSearchNet are not among them: they hold the
# documentation that an evaluation must not see.
_CODE = ("code", "func_code_string", "original_string", "whole_func_string", "function", "text", "content")
_NAME = ("name", "func_name", "title", "identifier")
_DOC = ("docstring", "func_documentation_string", "doc", "documentation")
_LANGUAGE = ("language", "lang")
_PATH = ("path", "func_path_in_repository", "file_path")
_REPO = ("repo", "repository_name", "repo_name")
_URL = ("url", "func_code_url")
_ID = ("_id", "id", "idx")

ENDINGS = (".jsonl", ".jsonl.gz", ".ndjson", ".ndjson.gz")

# Other files that a corpus folder may hold; anything else (a source file) makes the folder an ordinary one.
_SIDECAR_SUFFIXES = tuple(".md .txt .rst .tsv .csv .json .yaml .yml .pkl .parquet .zip .gz".split())
_SIDECAR_NAMES = frozenset({"LICENSE", "README", "NOTICE", "COPYING", "CITATION.cff"})

# JSONL files of a BEIR folder that hold queries, not functions.
_NOT_FUNCTIONS = r"(?i)(?:queries|qrels|questions|topics)\b.*"

# Enough lines to tell a corpus with a few bad lines from another file.
_SNIFFED_LINES = 20

# CodeSearchNet's longest function is far below; a longer "line" is some other format.
_MAX_LINE_BYTES = 16_000_000
# As large as a file of code may be.
_MAX_CODE_CHARACTERS = 1_000_000

# Code compresses to a fifth or a tenth. What unpacks to more than this is a decompression bomb.
_MAX_RATIO, _FREE_BYTES = 200, 100_000_000

# Detecting a corpus must stay cheap, and the largest corpora have some hundred files.
_MAX_FOLDER_ENTRIES, _MAX_DEPTH = 5_000, 20

_LINE_FRAGMENT = r"#L(\d{1,9})(?:-L?(\d{1,9}))?\Z"


@dataclass(frozen=True, slots=True)
class CorpusFunction:
    """One function of a corpus, its code and documentation unchanged."""

    id: str
    repo: str
    path: str
    name: str
    language: str
    code: str
    doc: str
    start_line: int  # from the url's fragment, else 1
    url: str


@dataclass(frozen=True, slots=True)
class CorpusProblem:
    """A line that was skipped."""

    file: str
    line: int
    reason: str


def open_corpus(path: str | os.PathLike[str]) -> Iterator[CorpusFunction | CorpusProblem]:
    """Yield the functions of a file or folder, in order, and the lines that can't be used.

    Raises SourceError at once when there are no functions among the first lines.
    """
    source = os.fspath(path)
    files = _corpus_files(source) if Path(source).is_dir() else (source,)
    if not files:
        raise SourceError(f"{source}: no .jsonl or .jsonl.gz file with functions in this folder")
    problem: CorpusProblem | None = None
    for item in _read(files, limit=_SNIFFED_LINES):
        if isinstance(item, CorpusFunction):
            return _read(files)
        problem = problem or item
    example = f" (line {problem.line}: {problem.reason})" if problem else ""
    raise SourceError(
        f"{source}: no functions found{example}; every line must be a JSON object with its source under "
        f'"code" or "text" — to index ordinary source files, name their folder'
    )


def corpus_stamp(path: str | os.PathLike[str]) -> tuple[str, int]:
    """Return names, sizes and times of a corpus's files, as text, and the newest time in nanoseconds."""
    source = os.fspath(path)
    files = _corpus_files(source) if Path(source).is_dir() else (source,)
    stamps = [(file, status.st_size, status.st_mtime_ns) for file in files for status in [Path(file).stat()]]
    return json.dumps(stamps), max((time for _, _, time in stamps), default=0)


def is_corpus(path: str | os.PathLike[str]) -> bool:
    """Whether a path is a corpus of functions rather than source code; reads a few lines at most."""
    source = os.fspath(path)
    try:
        if Path(source).is_dir():
            files = _corpus_files(source) if _has_only_data(source) else ()
        else:
            files = (source,) if source.endswith(ENDINGS) and Path(source).is_file() else ()
        return any(isinstance(item, CorpusFunction) for item in _read(files[:1], limit=_SNIFFED_LINES))
    except (OSError, SourceError):
        return False


def _corpus_files(folder: str) -> tuple[str, ...]:
    """Return the files with functions: BEIR's corpus if there is one, else every JSONL file."""
    for name in ("corpus.jsonl", "corpus.jsonl.gz"):
        if Path(folder, name).is_file():
            return (os.path.join(folder, name),)
    files = [file for file in _files_below(folder) if file.endswith(ENDINGS)]
    return tuple(sorted(file for file in files if not re.match(_NOT_FUNCTIONS, Path(file).name)))


def _has_only_data(folder: str) -> bool:
    """Whether nothing in a folder looks like source code."""
    for count, file in enumerate(_files_below(folder)):
        name = Path(file).name
        if count > _MAX_FOLDER_ENTRIES:
            return False
        if not name.endswith(ENDINGS + _SIDECAR_SUFFIXES) and name not in _SIDECAR_NAMES:
            return False
    return True


def _files_below(folder: str) -> Iterator[str]:
    """Yield every file under a folder except hidden and very deep ones; no symbolic link is followed."""
    for directory, folders, names in os.walk(folder):
        is_deep = directory.count(os.sep) - folder.count(os.sep) >= _MAX_DEPTH
        folders[:] = [] if is_deep else sorted(name for name in folders if not name.startswith("."))
        yield from (os.path.join(directory, name) for name in sorted(names) if not name.startswith("."))


def _read(files: tuple[str, ...], limit: int | None = None) -> Iterator[CorpusFunction | CorpusProblem]:
    """Yield the functions and problems of the (first) lines of some files."""
    for file in files:
        for number, line in read_lines(file, limit):
            item = _parse(line, file, number) if isinstance(line, bytes) else line
            yield item if isinstance(item, CorpusFunction) else CorpusProblem(file, number, item)


def read_lines(file: str, limit: int | None = None) -> Iterator[tuple[int, bytes | str]]:
    """Yield numbered lines that are not blank, and, where a file breaks off, the reason as text.

    A file that can't be read at all is an error.
    """
    import zlib

    number = 0
    try:
        # A repository may look like a corpus: no symbolic link is followed, and every read is bounded.
        with open_packed(file) as stream:
            left = _FREE_BYTES + _MAX_RATIO * os.stat(file).st_size  # noqa: PTH116 - files are plain strings here
            lines = iter(lambda: stream.readline(_MAX_LINE_BYTES), b"")
            for number, line in enumerate(islice(lines, limit), 1):
                left -= len(line)
                if left < 0 or len(line) == _MAX_LINE_BYTES:
                    yield number, "too long: from here on the file is not read"
                    return
                if not line.isspace():
                    yield number, line
    except (EOFError, OSError, zlib.error) as error:
        if number == 0:
            remedy = "check the path and that the file is complete"
            raise SourceError(f"{file} cannot be read ({error}); {remedy}") from error
        yield number + 1, f"the file is damaged from here on ({error})"


@contextmanager
def open_packed(file: str) -> Iterator[IO[bytes]]:
    """Open a regular file, never through a symbolic link, and unpack it if its name ends with `.gz`."""
    with os.fdopen(open_regular_file(file), "rb") as plain:
        if file.endswith(".gz"):
            import gzip

            yield cast(IO[bytes], gzip.GzipFile(fileobj=plain))
        else:
            yield plain


def _parse(line: bytes, file: str, number: int) -> CorpusFunction | str:
    """Return the function of a line, or why there is none."""
    try:
        row: Any = json.loads(line)
    except RecursionError:
        return "nested too deeply"
    except ValueError:
        return "not valid JSON"
    if not isinstance(row, dict):
        return "not a JSON object"
    metadata = row.get("metadata")
    rows = (row, metadata) if isinstance(metadata, dict) else (row,)
    code = _text(rows, _CODE)
    if not code.strip():
        return f"no code (looked under {', '.join(_CODE)})"
    if len(code) > _MAX_CODE_CHARACTERS:
        return f"more than {_MAX_CODE_CHARACTERS:,} characters of code"
    url = _text(rows, _URL)
    lines = re.search(_LINE_FRAGMENT, url)
    return CorpusFunction(
        id=_text((row,), _ID) or url or f"{Path(file).name}:{number}",
        repo=_text(rows, _REPO),
        path=_text(rows, _PATH),
        name=_text(rows, _NAME),
        language=_text(rows, _LANGUAGE).lower(),
        code=code,
        doc=_text(rows, _DOC),
        start_line=max(1, int(lines[1])) if lines else 1,
        url=url,
    )


def _text(rows: tuple[dict[str, Any], ...], keys: tuple[str, ...]) -> str:
    """Return the first text under one of these keys; numbers count as text, lists (tokens) do not."""
    for row in rows:
        for key in keys:
            value = row.get(key)
            if isinstance(value, int) and not isinstance(value, bool):
                return str(value)
            if isinstance(value, str) and value:
                # JSON can hold lone surrogates, which UTF-8 can't.
                return replace_surrogates(value)
    return ""
