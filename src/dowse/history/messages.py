"""The commits of a repository as texts: message, author, date, changed files and lines."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator, Sequence

from dowse.lazy_classes import NamedTuple
from dowse.source.git_process import GitProcess, SandboxedGit

# Of longer histories the newest commits are read.
MAX_COMMITS = 200_000
_LOG = """-c core.quotePath=false log --no-walk=unsorted --no-show-signature --no-notes --no-color
    --encoding=UTF-8 --raw --patch --unified=0 --inter-hunk-context=0 -M50% -l200 --no-ext-diff --no-textconv
    --ignore-submodules=all --no-relative""".split()
# So much of a commit is kept: what a person remembers of it is in the first lines.
_MAX_BODY, _MAX_PATHS, _MAX_CONTEXTS, _MAX_CHANGED = 4_000, 200, 100, 4_000
# So much of what git prints of a commit is looked at; the list of files comes before the patch.
_MAX_BYTES = 8_000_000
_ESCAPE = re.compile(rb"\\([0-7]{3}|.)")
_ESCAPES = dict(zip(b"abtnvfr", b"\a\b\t\n\v\f\r", strict=True))
_RAW = re.compile(rb"^:[^\t\n]*\t([^\n]*)", re.MULTILINE)
# A line of a patch that begins a file or a hunk, or that was changed.
_PATCH_LINE = re.compile(rb"^(?:diff --git |@@ |[+-])[^\n]*", re.MULTILINE)
# The function around a hunk, as git sees it.
_CONTEXT = re.compile(rb"^@@ -\S+ \+\S+ @@ ([^\n]+)", re.MULTILINE)


class CommitMessage(NamedTuple):
    """One commit."""

    id: str
    author: str  # name and address
    time: int  # of the commit, in seconds since 1970
    subject: str
    body: str
    paths: tuple[str, ...]
    changed: str  # its first changed lines, and the first lines of functions around them


def list_commits(git: SandboxedGit) -> Iterator[str]:
    """Yield the ids of all commits but merges, newest first."""
    with git.start("rev-list", "--no-merges", f"--max-count={MAX_COMMITS}", "HEAD") as process:
        yield from (line.decode("ascii").strip() for line in process.lines(1_000))
        process.finish()


def read_messages(git: SandboxedGit, ids: Sequence[str]) -> list[CommitMessage]:
    """Return commits by their ids, in the same order.

    Raises:
        GitError: git failed.
    """
    # A random mark: no content of a file or message can be taken for the beginning of a commit.
    mark = secrets.token_hex(16)
    form = f"--format=tformat:{mark}%H%x00%an <%ae>%x00%ct%x00%s%x00%b%x00"
    with git.start(*_LOG, form, *ids, "--") as process:
        messages = [_message(text) for text in _commits(process, mark.encode())]
        process.finish()
    return messages


def _commits(process: GitProcess, mark: bytes) -> Iterator[bytes]:
    """Yield what git prints of each commit, after the mark; of more than is looked at the beginning."""
    pending, searched = bytearray(), 0
    while block := process.read_block():
        pending += block
        while (end := pending.find(mark, searched)) >= 0:
            if end:
                yield bytes(pending[:end])
            del pending[: end + len(mark)]
            searched = 0
        if len(pending) > _MAX_BYTES:
            del pending[_MAX_BYTES : -len(mark)]
        searched = max(0, len(pending) - len(mark))
    if pending:
        yield bytes(pending)


def _message(text: bytes) -> CommitMessage:
    name, author, time, subject, body, changes = (text + b"\0\0\0\0\0").split(b"\0", 5)
    files, _, patch = changes.partition(b"\ndiff --git ")
    paths: dict[str, None] = {}
    for match in _RAW.finditer(files):
        if len(paths) >= _MAX_PATHS:
            break
        paths |= dict.fromkeys(map(_unquoted, match[1].split(b"\t")))  # two of a renamed file
    return CommitMessage(
        name.decode("ascii", "replace"),
        _text(author),
        int(time) if time.isdigit() else 0,
        _text(subject),
        _text(body)[:_MAX_BODY],
        tuple(paths),
        f"{_changed_lines(patch)}\n{_contexts(patch)}",
    )


def _changed_lines(patch: bytes) -> str:
    lines: list[str] = []
    size, in_header = 0, True
    for match in _PATCH_LINE.finditer(patch):
        line = match[0]
        if line[:1] in b"d@":
            in_header = line.startswith(b"d")
        elif not in_header:
            lines.append(line[1:_MAX_CHANGED].decode("utf-8", "replace"))
            size += len(lines[-1]) + 1
            if size >= _MAX_CHANGED:
                break
    return "\n".join(lines)[:_MAX_CHANGED]


def _contexts(patch: bytes) -> str:
    found: dict[bytes, None] = {}
    for match in _CONTEXT.finditer(patch):
        found[match[1]] = None
        if len(found) >= _MAX_CONTEXTS:
            break
    return b"\n".join(found).decode("utf-8", "replace")


def _unquoted(path: bytes) -> str:
    """Return a path that git quotes, as C does, if it has control characters."""
    if path.startswith(b'"') and path.endswith(b'"'):
        path = _ESCAPE.sub(_unescaped, path[1:-1])
    return path.decode("utf-8", "replace")


def _unescaped(match: re.Match[bytes]) -> bytes:
    code = match[1]
    return bytes([int(code, 8) & 255 if code.isdigit() else _ESCAPES.get(code[0], code[0])])


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace").strip()
