"""A git repository: its commits, newest first, with hunks, present names of files, and blobs."""

from __future__ import annotations

import os
import re
import secrets
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path, PurePosixPath

from dowse.errors import DowseError, EvalError
from dowse.lazy_classes import NamedTuple, dataclass
from dowse.parsing.languages import LANGUAGES, detect_language
from dowse.source import git_objects
from dowse.source.git import common_directory, git_directory, read_head, toplevel
from dowse.source.git_objects import PLAIN_FILES, Blobs
from dowse.source.git_process import GitError, GitMissing, SandboxedGit, open_sandboxed_git
from dowse.source.walk import MAX_FILE_BYTES

# A time that git could not read becomes the present one.
_NOW_SECONDS = 5
# All options that a user's configuration could change are set here.
_DIFF = """--no-color --raw --patch -z --no-abbrev --full-index --unified=0 --inter-hunk-context=0
    -M50% -l1000 --diff-algorithm=histogram --indent-heuristic --no-ext-diff --no-textconv
    --ignore-submodules=all --no-relative --src-prefix=a/ --dst-prefix=b/""".split()
_LOG = [*"log --no-merges --full-history --no-show-signature --no-notes --encoding=UTF-8".split(), *_DIFF]

# The list of a commit's files is one line of git's output; that of an import of 100,000 files has 15 MB.
MAX_HEADER_BYTES = 64_000_000
# Further hunks of a commit, over all files, are ignored: no subject describes so many.
_MAX_HUNKS = 200_000

# Languages between which projects migrate files.
_FAMILIES = (frozenset({"javascript", "typescript"}), frozenset({"c", "cpp"}), frozenset({"java", "kotlin"}))

_HUNK = re.compile(rb"@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@")
_PATCH = b"\0\0diff --git "


@dataclass(frozen=True, slots=True)
class Repository:
    """A folder with a history."""

    root: Path  # the folder: paths of cases are relative to it
    prefix: str  # the path from the top of the work tree to `root`: "" or ending with "/"
    head: str  # the commit that is checked out
    git: SandboxedGit  # its paths are relative to the top of the work tree


@contextmanager
def open_repository(folder: str | os.PathLike[str]) -> Iterator[Repository]:
    """Open the repository of a folder; raise EvalError if there is no history to mine."""
    root = Path(folder).resolve()
    if not root.is_dir():
        raise EvalError(f"{folder} is not a folder; name a git repository or a folder inside of one")
    top = toplevel(root)
    directory = git_directory(top) if top is not None else None
    if top is None or directory is None or root.is_relative_to(directory):
        raise EvalError(
            f"{folder} is not a folder in the work tree of a git repository; "
            "questions can be mined from documentation instead: `dowse eval --from docs`"
        )
    common = common_directory(directory)
    commit = _checked_commit(folder, directory, common)
    prefix = "" if str(root) == top else root.relative_to(top).as_posix() + "/"
    try:
        with open_sandboxed_git(common, commit, MAX_FILE_BYTES) as git:
            if git.run("cat-file", "-t", "HEAD").strip() != b"commit":
                raise EvalError(f"HEAD of {folder} is no commit; `git fsck` may tell more")
            yield Repository(root, prefix, commit, git)
    except EvalError:
        raise
    except DowseError as error:
        raise as_eval_error(error) from error


def check_since(repository: Repository, since: str) -> None:
    """Raise EvalError for a time that git does not understand: git would take it for the present."""
    try:
        output = repository.git.run("rev-parse", f"--since={since}")
    except GitError:
        output = b""
    age = output.strip().removeprefix(b"--max-age=")
    if not age.isdigit() or int(age) > time.time() - _NOW_SECONDS:
        raise EvalError(f"since={since!r} is no time in the past; write it like 2020-01-31 or '2 years ago'")


def as_eval_error(error: DowseError) -> EvalError:
    """Return the error with a remedy for what git, or the check of its objects, complains about."""
    if isinstance(error, GitMissing) or not isinstance(error, GitError):
        return EvalError(str(error))
    return EvalError(
        f"git could not read the history ({error}); `git fsck` may tell more, "
        "and a partial clone has to be cloned again without --filter"
    )


def _checked_commit(folder: str | os.PathLike[str], directory: str, common: str) -> str:
    """Return the commit of HEAD; raise EvalError for shallow and empty histories, and for reftable."""
    if os.path.lexists(os.path.join(common, "shallow")):
        raise EvalError(
            f"{folder} is a shallow clone, whose history is cut off; "
            "run `git fetch --unshallow` there and mine again"
        )
    commit = read_head(directory, common)
    if not commit and Path(common, "reftable").is_dir():
        raise EvalError(
            f"{folder} keeps its refs as reftable, which dowse does not read; "
            "run `git refs migrate --ref-format=files` there and mine again"
        )
    if not commit:
        raise EvalError(f"{folder} has no commits yet, so there is nothing to mine; commit something first")
    return commit


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


def read_history(
    repository: Repository, paths: Iterable[str], since: str = "", after: str = ""
) -> Iterator[Commit]:
    """Read the commits that touched files with the extensions of the given ones, newest first.

    With `after`, a commit, only those that are not in its history.

    All of the work tree is read, not only the folder: else a file that was moved into it would have no
    earlier history. Branches are read by date, so a rename on one of them may come after a commit on
    another that still uses the old name; that commit's file then counts as deleted.
    """
    specs = _pathspecs(repository, paths)
    if not specs:
        return
    # A random mark: no content of a file or message can be taken for the beginning of a commit.
    mark = secrets.token_hex(16)
    form = f"--format=tformat:{mark}%x00%H%x00%an <%ae>%x00%s"
    names: dict[str, str] = {}
    revisions = ["HEAD", f"^{after}"] if after else ["HEAD"]
    with repository.git.start(*_LOG, form, *_since(since), *revisions, "--", *specs) as process:
        try:
            for header, hunks in _commits(process.lines(MAX_HEADER_BYTES), mark.encode()):
                yield _commit(header, hunks, names)
            process.finish()
        except GitError as error:
            raise as_eval_error(error) from error


def read_commits(git: SandboxedGit, ids: Sequence[str]) -> list[Commit]:
    """Return commits by their ids, in the same order; raises GitError."""
    mark = secrets.token_hex(16)
    form = f"--format=tformat:{mark}%x00%H%x00%an <%ae>%x00%s"
    with git.start(*_LOG, form, "--no-walk=unsorted", *ids, "--") as process:
        found = _commits(process.lines(MAX_HEADER_BYTES), mark.encode())
        commits = [_commit(header, hunks, {}) for header, hunks in found]
        process.finish()
    return commits


def read_diff(git: SandboxedGit, base: str, head: str) -> tuple[Change, ...]:
    """Return the changes between two commits or trees; raises GitError."""
    mark = secrets.token_hex(16).encode()
    with git.start("diff", *_DIFF, base, head, "--") as process:
        lines = process.lines(MAX_HEADER_BYTES)
        first = next(lines, b"")
        commits = list(_commits(chain([mark + b"\0\0\0\0" + first], lines), mark)) if first else []
        process.finish()
    return tuple(change for header, hunks in commits for change in _commit(header, hunks, {}).changes)


@contextmanager
def open_blobs(git: SandboxedGit) -> Iterator[Blobs]:
    """Start the git processes that read blobs, and end them."""
    try:
        with git_objects.open_blobs(git, MAX_FILE_BYTES) as blobs:
            yield blobs
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
            if size > MAX_HEADER_BYTES:
                raise GitError(f"a commit lists more than {MAX_HEADER_BYTES:,} bytes of files")
            header.append(line)
            in_patch = _PATCH in line
        elif line.startswith(b"diff --git "):
            inside = None
        elif line.startswith(b"index ") and inside is None:
            before, _, after = line[6:].split()[0].partition(b"..")
            inside = hunks.setdefault((before, after), [])
        elif line.startswith(b"@@ ") and inside is not None and (match := _HUNK.match(line)):
            count += 1
            if count <= _MAX_HUNKS:
                inside.append(Hunk(int(match[1]), int(match[2] or 1)))
    if header:
        yield b"".join(header), hunks


def _commit(header: bytes, hunks: _Hunks, names: dict[str, str]) -> Commit:
    """Parse a commit; `names` maps the names of files at this commit to their present names."""
    _, sha, author, subject, raw_lines = (header + b"\0\0\0").split(b"\0", 4)
    changes, renamed = [], {}
    for raw in _raw_lines(raw_lines.partition(_PATCH)[0]):
        today = names.get(raw.path, raw.path)
        if raw.status.startswith(b"R"):
            renamed[raw.old] = today
        if raw.status == b"D":
            changes.append(Change(raw.path, today, "", ()))
        elif raw.mode in PLAIN_FILES:  # links and submodules have no text of their own
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
