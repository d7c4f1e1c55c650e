"""The commits of a repository, newest first, with their hunks and the present names of their files."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath
from typing import NamedTuple

from dowse.eval.mine.repository import Repository, as_eval_error
from dowse.parsing.languages import LANGUAGES, detect_language
from dowse.source.git_process import GitError

# All options that a user's configuration could change are set here.
_LOG = """log --no-merges --full-history --no-show-signature --no-notes --no-color --encoding=UTF-8
    --raw --patch -z --no-abbrev --full-index --unified=0 --inter-hunk-context=0 -M50% -l1000
    --diff-algorithm=histogram --indent-heuristic --no-ext-diff --no-textconv --ignore-submodules=all
    --no-relative --src-prefix=a/ --dst-prefix=b/""".split()

# The list of a commit's files is one line of git's output; that of an import of 100,000 files has 15 MB.
_MAX_HEADER_BYTES = 64_000_000
# Further hunks of a commit, over all files, are ignored: no subject describes so many.
_MAX_HUNKS = 200_000

# Languages between which projects migrate files.
_FAMILIES = (frozenset({"javascript", "typescript"}), frozenset({"c", "cpp"}), frozenset({"java", "kotlin"}))

_HUNK = re.compile(rb"@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@")
_PATCH = b"\0\0diff --git "
_PLAIN_FILES = (b"100644", b"100755")


class Hunk(NamedTuple):
    """Changed lines of a file's new text; 0 lines if some were only deleted after `start`."""

    start: int  # 1-based
    lines: int


class Change(NamedTuple):
    """The change of one file in a commit."""

    path: str  # its name after the commit, relative to the top of the work tree
    today: str  # its present name
    blob: str  # the id of its content after the commit; "" if it was deleted
    hunks: tuple[Hunk, ...]


class Commit(NamedTuple):
    """One commit and the files it changed."""

    id: str
    author: str  # name and address
    subject: str
    changes: tuple[Change, ...]


class _Raw(NamedTuple):
    """A line of git's raw output."""

    mode: bytes
    blobs: tuple[bytes, bytes]  # before and after
    status: bytes
    old: str
    path: str


def count_commits(repository: Repository, paths: Iterable[str], since: str = "") -> int:
    """Return how many commits `read_history` will give."""
    counting = ["rev-list", "--count", "--no-merges", "--full-history", *_since(since), "HEAD", "--"]
    try:
        return int(repository.git.run(*counting, *_pathspecs(repository, paths)))
    except (GitError, ValueError):
        return 0


def read_history(repository: Repository, paths: Iterable[str], since: str = "") -> Iterator[Commit]:
    """Read the commits that touched files like the given ones, newest first.

    All of the work tree is read, not only the folder: else a file that was moved into it would have no
    earlier history. Branches are read by date, so a rename on one of them may come after a commit on
    another that still uses the old name; that commit's file then counts as deleted.

    Args:
        repository: The repository.
        paths: Present files, relative to `repository.root`: only files with their extensions are compared.
        since: A time that git understands; "" for all of the history.
    """
    specs = _pathspecs(repository, paths)
    if not specs:
        return
    # A random mark: no content of a file or message can be taken for the beginning of a commit.
    mark = secrets.token_hex(16)
    form = f"--format=tformat:{mark}%x00%H%x00%an <%ae>%x00%s"
    names: dict[str, str] = {}
    with repository.git.start(*_LOG, form, *_since(since), "HEAD", "--", *specs) as process:
        try:
            for header, hunks in _commits(process.lines(_MAX_HEADER_BYTES), mark.encode()):
                yield _commit(header, hunks, names)
            process.finish()
        except GitError as error:
            raise as_eval_error(error) from error


def _pathspecs(repository: Repository, paths: Iterable[str]) -> list[str]:
    """Return pathspecs for files with the extensions of these paths, wherever they were once."""
    suffixes: set[str] = set()
    others: set[str] = set()
    for path in paths:
        suffix = PurePosixPath(path).suffix
        if not suffix:
            others.add(f":(top,literal){repository.prefix}{path}")
        elif suffix not in suffixes:
            suffixes |= {suffix, *_related_extensions(detect_language(path))}
    return [*(f":(top)*{_quoted(suffix)}" for suffix in sorted(suffixes)), *sorted(others)]


def _related_extensions(language: str) -> Iterator[str]:
    """Give every extension that a file of this language may have had."""
    related = next((family for family in _FAMILIES if language in family), frozenset({language}))
    for name in related & LANGUAGES.keys():
        yield from LANGUAGES[name].extensions


def _quoted(suffix: str) -> str:
    return re.sub(r"([*?\[\]\\])", r"\\\1", suffix)


def _since(since: str) -> list[str]:
    return [f"--since={since}"] if since else []


_Hunks = dict[tuple[bytes, bytes], list[Hunk]]


def _commits(lines: Iterable[bytes], mark: bytes) -> Iterator[tuple[bytes, _Hunks]]:
    """Split git's output into commits: the header with its raw lines, and hunks by the two blobs."""
    header: list[bytes] = []
    size = count = 0
    hunks: _Hunks = {}
    inside: list[Hunk] | None = None  # of the file whose patch is being read
    in_patch = False
    for line in lines:
        if mark in line:
            if header:
                yield b"".join(header), hunks
            header, hunks, inside = [line[line.index(mark) + len(mark) :]], {}, None
            size, count, in_patch = len(line), 0, _PATCH in line
        elif not in_patch:  # a path with a line break in it
            size += len(line)
            if size > _MAX_HEADER_BYTES:
                raise GitError(f"a commit lists more than {_MAX_HEADER_BYTES:,} bytes of files")
            header.append(line)
            in_patch = _PATCH in line
        elif line.startswith(b"diff --git "):
            inside = None
        elif line.startswith(b"index ") and inside is None:
            before, _, after = line[6:].split()[0].partition(b"..")
            inside = hunks.setdefault((before, after), [])
        elif line.startswith(b"@@ ") and inside is not None and (found := _HUNK.match(line)):
            count += 1
            if count <= _MAX_HUNKS:
                inside.append(Hunk(int(found[1]), int(found[2] or 1)))
    if header:
        yield b"".join(header), hunks


def _commit(header: bytes, hunks: _Hunks, names: dict[str, str]) -> Commit:
    """Parse a commit; `names` maps the names of files at this commit to their present names."""
    _, sha, author, subject, rest = (header + b"\0\0\0").split(b"\0", 4)
    changes, renamed = [], {}
    for raw in _raw_lines(rest.partition(_PATCH)[0]):
        today = names.get(raw.path, raw.path)
        if raw.status.startswith(b"R"):
            renamed[raw.old] = today
        if raw.status == b"D":
            changes.append(Change(raw.path, today, "", ()))
        elif raw.mode in _PLAIN_FILES:  # links and submodules have no text of their own
            changed = tuple(dict.fromkeys(hunks.get(raw.blobs, ())))
            changes.append(Change(raw.path, today, raw.blobs[1].decode(), changed))
    names |= renamed
    return Commit(sha.decode(), _text(author), _text(subject), tuple(changes))


def _raw_lines(text: bytes) -> Iterator[_Raw]:
    """Read `:mode mode blob blob status NUL path NUL`, with two paths for renames."""
    fields = iter(text.lstrip(b"\n").split(b"\0"))
    for facts in fields:
        if not facts.startswith(b":"):
            continue
        _, mode, before, after, status = facts.split()
        old = os.fsdecode(next(fields, b""))
        path = os.fsdecode(next(fields, b"")) if status[:1] in (b"R", b"C") else old
        yield _Raw(mode, (before, after), status, old, path)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace").strip()
