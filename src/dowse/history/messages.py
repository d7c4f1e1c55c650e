"""The commits of a repository as texts: message, author, date, changed files, symbols and lines."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from dowse.history.log import MAX_HEADER_BYTES
from dowse.parsing.languages import detect_language, has_symbols
from dowse.source.git_process import GitError, SandboxedGit

# Of longer histories the newest commits are read.
MAX_COMMITS = 200_000
_LOG = """-c core.quotePath=false log --no-merges --no-show-signature --no-notes --no-color --encoding=UTF-8
    --patch --unified=0 --inter-hunk-context=0 -M50% -l200 --no-ext-diff --no-textconv
    --ignore-submodules=all --no-relative --src-prefix=a/ --dst-prefix=b/""".split()
# So much of a commit is kept: what a person remembers of it is in the first lines.
_MAX_BODY, _MAX_PATHS, _MAX_SYMBOLS, _MAX_CHANGED = 4_000, 200, 100, 4_000
_PATH_LINE = re.compile(rb'(?:--- "?a/|\+\+\+ "?b/)(.*)|rename (?:from|to) "?(.*)')
_ESCAPE = re.compile(rb"\\([0-7]{3}|.)")
_CONTEXT = re.compile(rb"@@ -\S+ \+\S+ @@ ?(.*)")
# A definition in most languages; the name is what a parser would find, too.
_DEFINED = re.compile(
    r"\b(?:def|class|func|function|fn|struct|interface|trait|enum|type|module|object|fun)\s+"
    r"(?:\([^)]*\)\s*)?([^\W\d]\w*)"
    r"|\b([^\W\d]\w*)\s*(?::|=)\s*(?:async\s+)?function\b"
)
_CALLED = re.compile(r"([^\W\d]\w*)\s*\(")


class CommitMessage(NamedTuple):
    """One commit."""

    id: str
    author: str  # name and address
    time: int  # of the commit, in seconds since 1970
    subject: str
    body: str
    paths: tuple[str, ...]
    symbols: tuple[str, ...]  # names of definitions that it changed
    changed: str  # its first changed lines


def list_commits(git: SandboxedGit) -> Iterator[str]:
    """Yield the ids of all commits but merges, newest first."""
    with git.start("rev-list", "--no-merges", f"--max-count={MAX_COMMITS}", "HEAD") as process:
        yield from (line.decode("ascii").strip() for line in process.lines(1_000))
        process.finish()


def read_messages(git: SandboxedGit, after: str = "") -> Iterator[CommitMessage]:
    """Read commits, newest first; with `after` only those that are not in its history.

    Raises:
        GitError: git failed.
    """
    # A random mark: no content of a file or message can be taken for the beginning of a commit.
    mark = secrets.token_hex(16).encode()
    form = f"--format=tformat:{mark.decode()}%H%x00%an <%ae>%x00%ct%x00%s%x00%b%x00"
    revisions = ["HEAD", f"^{after}"] if after else ["HEAD"]
    with git.start(*_LOG, form, f"--max-count={MAX_COMMITS}", *revisions, "--") as process:
        for header, patch in _split(process.lines(MAX_HEADER_BYTES), mark):
            yield _message(header, patch)
        process.finish()


class _Patch:
    """What is kept of a patch while its lines pass."""

    def __init__(self) -> None:
        self.paths: dict[str, None] = {}
        self.symbols: dict[str, None] = {}
        self.lines: list[str] = []
        self._size = 0
        self._in_header = True
        self._is_code = False  # prose has words such as "class" and "type", too

    def add(self, line: bytes) -> None:
        """Read one line of a patch."""
        if line.startswith(b"diff --git "):
            self._in_header = True
        elif self._in_header and (match := _PATH_LINE.match(line)):
            path = _unquoted(match[1] or match[2])
            self._is_code = has_symbols(detect_language(path))
            if len(self.paths) < _MAX_PATHS:
                self.paths[path] = None
        elif match := _CONTEXT.match(line):
            self._in_header = False
            self._add_symbols(match[1].decode("utf-8", "replace"), is_context=True)
        elif not self._in_header and line[:1] in (b"+", b"-") and self._size < _MAX_CHANGED:
            text = line[1:].decode("utf-8", "replace").rstrip("\n")
            self._size += len(text) + 1
            self.lines.append(text)
            self._add_symbols(text, is_context=False)

    def _add_symbols(self, text: str, *, is_context: bool) -> None:
        if not self._is_code or len(self.symbols) >= _MAX_SYMBOLS:
            return
        names = [first or second for first, second in _DEFINED.findall(text)]
        if is_context and not names:
            names = _CALLED.findall(text)[:1]
        self.symbols |= dict.fromkeys(names)


def _unquoted(path: bytes) -> str:
    """Return a path that git may have quoted, as C does, for its control characters."""
    if path.endswith(b'"'):
        path = _ESCAPE.sub(
            lambda match: bytes([int(match[1], 8) & 255]) if match[1].isdigit() else match[1], path[:-1]
        )
    return path.decode("utf-8", "replace").strip()


def _split(lines: Iterable[bytes], mark: bytes) -> Iterator[tuple[bytes, _Patch]]:
    """Split git's output into commits: header with message, and patch."""
    header: list[bytes] = []
    patch = _Patch()
    size = 0
    in_message = False
    for line in lines:
        if line.startswith(mark):
            if header:
                yield b"".join(header), patch
            header, patch, in_message, size = [line[len(mark) :]], _Patch(), line.count(b"\0") < 5, len(line)
        elif in_message:
            in_message = b"\0" not in line
            size += len(line)
            if size > MAX_HEADER_BYTES:
                raise GitError(f"a commit message has more than {MAX_HEADER_BYTES:,} bytes")
            header.append(line)
        else:
            patch.add(line)
    if header:
        yield b"".join(header), patch


def _message(header: bytes, patch: _Patch) -> CommitMessage:
    name, author, time, subject, body, *_ = (header + b"\0\0\0\0\0").split(b"\0", 5)
    return CommitMessage(
        name.decode("ascii", "replace"),
        _text(author),
        int(time) if time.isdigit() else 0,
        _text(subject),
        _text(body)[:_MAX_BODY],
        tuple(patch.paths),
        tuple(patch.symbols)[:_MAX_SYMBOLS],
        "\n".join(patch.lines)[:_MAX_CHANGED],
    )


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace").strip()
