"""A repository's history as mining needs it: messages, the blobs before and after, and the tree of HEAD."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from dowse.errors import DowseError
from dowse.history.log import MAX_HEADER_BYTES, open_blobs
from dowse.source.git import common_directory, git_directory, read_head
from dowse.source.git_objects import Blobs
from dowse.source.git_process import GitError, SandboxedGit, open_sandboxed_git
from dowse.source.walk import MAX_FILE_BYTES

_LOG = """log --no-merges --no-show-signature --no-notes --no-color --encoding=UTF-8 --raw -z --no-abbrev
    --no-renames --no-ext-diff --ignore-submodules=all""".split()

# Files that may hold the licence, and names that leave no doubt: others can be those of dependencies.
_LICENCE = re.compile(r"(?:[^/]+/)?(?:un|[\w.]+-)?(?:licen[cs]e|copying)[^/]*\Z", re.IGNORECASE)
_PLAIN_LICENCE = re.compile(r"(?:.*/)?(?:licen[cs]e|copying)(?:\.(?:md|txt|rst))?\Z", re.IGNORECASE)
_PERMISSIVE = re.compile(
    r"""permission\ is\ hereby\ granted,\s+free | redistribution\ and\ use | apache\ license
    | permission\ to\ use,\s+copy,\s+modify | boost\ software\ license | provided\ 'as-is'
    | free\ and\ unencumbered | \bMIT\ license\b | \bBSD\b""",
    re.VERBOSE | re.IGNORECASE,
)
_COPYLEFT = re.compile(
    r"gnu\s+(?:lesser\s+|affero\s+|library\s+)?general\s+public | (?:mozilla|eclipse)\ public\ license",
    re.VERBOSE | re.IGNORECASE,
)
# Where a licence names itself; further down others are mentioned.
_TITLE_CHARACTERS = 600


class FileChange(NamedTuple):
    """A file that a commit added or changed; `before` is "" for a new one."""

    path: str
    before: str
    after: str


class LoggedCommit(NamedTuple):
    """One commit: what was said, and the files it changed."""

    author: str
    subject: str
    body: str
    changes: tuple[FileChange, ...]


class TreeFile(NamedTuple):
    """A file of HEAD."""

    path: str
    blob: str


@dataclass(frozen=True, slots=True)
class History:
    """An open repository."""

    git: SandboxedGit
    blobs: Blobs

    def commits(self, limit: int) -> Iterator[LoggedCommit]:
        """Give the newest commits without merges; deleted and renamed files are not told."""
        mark = secrets.token_hex(16)
        form = f"--format=tformat:{mark}%x00%an <%ae>%x00%s%x00%b%x00"
        with self.git.start(*_LOG, f"-n{limit}", form, "HEAD") as process:
            pending = b""
            while block := process.read_block():
                *whole, pending = (pending + block).split(mark.encode())
                yield from (_commit(text) for text in whole if text)
                if len(pending) > MAX_HEADER_BYTES:
                    raise GitError(f"a commit lists more than {MAX_HEADER_BYTES:,} bytes of files")
            if pending:
                yield _commit(pending)

    def tree(self) -> list[TreeFile]:
        """Return the files of HEAD."""
        with self.git.start("ls-tree", "-r", "-z", "HEAD") as process:
            listed = b"".join(iter(process.read_block, b""))
        rows = (line.partition(b"\t") for line in listed.split(b"\0") if line)
        return [
            TreeFile(os.fsdecode(path), facts.split()[2].decode())
            for facts, _, path in rows
            if facts.startswith(b"100")
        ]

    def is_permissive(self, tree: list[TreeFile]) -> bool:
        """Whether the licence lets everybody use the code, also in products of another licence.

        Of licences in different folders the outermost count. Some projects offer two, in a file each.
        """
        files = [each for each in tree if _LICENCE.match(each.path)]
        outermost = min((each.path.count("/") for each in files), default=0)
        files = [each for each in files if each.path.count("/") == outermost]
        texts = {each.path: (self.blobs.read(each.blob) or b"").decode("utf-8", "replace") for each in files}
        if any(_is_copyleft(text) for path, text in texts.items() if _PLAIN_LICENCE.match(path)):
            return False
        return any(_PERMISSIVE.search(text) and not _is_copyleft(text) for text in texts.values())


@contextmanager
def open_history(folder: Path) -> Iterator[History]:
    """Open a work tree or a bare repository; raise DowseError if it has no commits."""
    directory = git_directory(str(folder)) or str(folder)
    common = common_directory(directory)
    head = read_head(directory, common)
    if not head:
        raise DowseError(f"{folder} is no git repository with commits; name a clone or a bare mirror")
    with open_sandboxed_git(common, head, MAX_FILE_BYTES) as git, open_blobs(git) as blobs:
        yield History(git, blobs)


def _is_copyleft(licence: str) -> bool:
    return bool(_COPYLEFT.search(licence[:_TITLE_CHARACTERS]))


def _commit(text: bytes) -> LoggedCommit:
    _, author, subject, body, raw = (text + b"\0\0\0\0").split(b"\0", 4)
    fields = iter(raw.lstrip(b"\0\n").split(b"\0"))
    changes = []
    for facts in fields:
        if not facts.startswith(b":"):
            continue
        path = next(fields, b"")
        _, mode, before, after, status = facts.split()
        if status in (b"M", b"A") and mode.startswith(b"100"):
            changes.append(
                FileChange(os.fsdecode(path), before.decode() if status == b"M" else "", after.decode())
            )
    return LoggedCommit(_text(author), _text(subject), _text(body), tuple(changes))


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace").replace("\r", "").strip()
