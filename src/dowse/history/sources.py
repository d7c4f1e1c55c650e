"""The present source files of a tree, which can be targets of mined cases, and their definitions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from dowse.errors import DowseError
from dowse.lazy_classes import NamedTuple
from dowse.parsing.grammar_library import extract
from dowse.parsing.languages import detect_language, has_symbols
from dowse.parsing.parser import parse_file
from dowse.security.safe_files import read_below
from dowse.source.content import classify_content, decode
from dowse.source.roles import file_role
from dowse.source.walk import MAX_FILE_BYTES, WalkedFile, walk
from dowse.types import TYPE_KINDS, Definition, Name
from dowse.workers.idle import IdleWorkers
from dowse.workers.program import worker_program
from dowse.workers.supervisor import Supervisor, WorkerDied

# The kinds of symbols that can be targets.
SYMBOL_KINDS = TYPE_KINDS | {"function", "method", "macro"}

# Prose, data and settings: indexed, but no source code.
_NO_CODE = frozenset(
    """markdown restructuredtext asciidoc text json yaml toml ini xml html csv diff notebook tex go-module
    """.split()
)

# Never split into parts: only names matter here, and all parts share one.
_WHOLE = 10**9

# How much of a file is read to detect its language, as in indexing.
_HEAD = 65_536


# Messages hold a file and its text.
MAX_BYTES = 1 << 30
# Wall time for a file; far more than the parser takes until it gives up.
_SECONDS = 30.0


class Definitions(NamedTuple):
    """What a file defines."""

    text: bytes = b""  # as UTF-8
    definitions: Sequence[Definition] = ()  # functions, methods and classes, whole
    names: Sequence[Name] = ()  # constants, fields and such


class DefinitionsRequest(NamedTuple):
    """A file whose definitions are wanted."""

    data: bytes
    path: str
    seconds: float
    asks: bool = True  # the parent for a grammar that is missing


_idle = IdleWorkers(1, 10.0)


class Sources:
    """The present source files under a folder, read lazily."""

    def __init__(self, root: Path, with_tests: bool = False) -> None:
        self._root = root
        self._roles = ("", "test") if with_tests else ("",)
        self._names: dict[str, frozenset[str]] = {}
        self._indexed: dict[str, bool] = {}
        # Examples, benchmarks, vendored and generated code are left out with the tests: a change there
        # follows one of the project's own code, which is the relevant one.
        self.paths = frozenset(path for path in _walked(root) if self._is_source(path))

    def is_indexed(self, path: str) -> bool:
        """Whether the file is there today and dowse would index it as something that people wrote."""
        if path not in self.paths:
            return False
        if path not in self._indexed:
            data = read(self._root, path)
            self._indexed[path] = data is not None and _is_handwritten(data, path)
        return self._indexed[path]

    def names(self, path: str) -> frozenset[str]:
        """Return the qualified names of the functions, methods and classes in a file."""
        if path not in self._names:
            data = read(self._root, path) or b""
            self._names[path] = frozenset(
                each.qualified_name for each in definitions_in(data, path).definitions
            )
        return self._names[path]

    def is_own_code(self, path: str) -> bool:
        """Whether a path, be it one of long ago, is that of source code in a role that counts."""
        return _is_code(detect_language(path)) and file_role(path) in self._roles

    def _is_source(self, path: str) -> bool:
        language = detect_language(path) or detect_language(path, _head(self._root, path))
        return _is_code(language) and file_role(path) in self._roles


def definitions_in(data: bytes, path: str) -> Definitions:
    """Return what a file defines; nothing without a grammar.

    It is parsed in a process of its own: a file that ends that one, or takes too long, has none.
    """
    if not has_symbols(detect_language(path, data[:_HEAD])):
        return Definitions()
    program = worker_program("dowse.history.definition_worker")
    worker = _idle.take() or Supervisor(program, max_bytes=MAX_BYTES, quiet=True, is_confined=True)
    try:
        worker.start(None)
        reply: Definitions | str | DowseError
        reply = worker.exchange(DefinitionsRequest(data, path, _SECONDS), _SECONDS)
        if isinstance(reply, str):
            extract(reply)
            reply = worker.exchange(DefinitionsRequest(data, path, _SECONDS, asks=False), _SECONDS)
    except WorkerDied as death:
        has_started = worker.is_ready
        worker.discard()
        if not has_started:
            raise DowseError(f"a parsing process could not start ({death.detail})") from None
        return Definitions()
    except BaseException:  # Ctrl-C: its answer would be taken for that of the next file
        worker.discard()
        raise
    _idle.keep(worker)
    if isinstance(reply, DowseError):
        raise reply
    return Definitions() if isinstance(reply, str) else reply


def parse_definitions(data: bytes, path: str) -> Definitions:
    """Do the same in this process."""
    language = detect_language(path, data[:_HEAD])
    if not has_symbols(language):
        return Definitions()
    text = decode(data)[0].encode("utf-8", "replace")
    parsed = parse_file(text, language, path, max_lines=_WHOLE, definitions_only=True)
    # Without its tree a file has windows of lines, which define nothing.
    definitions = () if parsed.problem else parsed.definitions
    symbols = [each for each in definitions if each.kind in SYMBOL_KINDS and not each.part]
    return Definitions(text, symbols, parsed.names)


def _is_handwritten(data: bytes, path: str) -> bool:
    """Whether a file is neither binary nor minified nor generated."""
    verdict = classify_content(data, path)
    return not verdict.skip_reason and not verdict.generated


def read(root: Path, path: str) -> bytes | None:
    """Return a file's content, None if it can't be read or is no regular file of the usual size."""
    try:
        return read_below(root, path, MAX_FILE_BYTES)
    except OSError:
        return None


def _walked(root: Path) -> Iterator[str]:
    for entry in walk(root):
        if isinstance(entry, WalkedFile) and _can_be_named(entry.path):
            yield entry.path


def _can_be_named(path: str) -> bool:
    """Whether a path can be a target: it is text, and has none of the separators of targets."""
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return "#" not in path and "::" not in path


def _is_code(language: str) -> bool:
    return bool(language) and language not in _NO_CODE


def _head(root: Path, path: str) -> bytes:
    return b"" if Path(path).suffix else (read(root, path) or b"")[:_HEAD]
