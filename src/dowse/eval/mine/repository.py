"""Open a git work tree, or a folder in one, for mining."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from dowse.errors import DowseError, EvalError
from dowse.source.git import common_directory, git_directory, read_head, toplevel
from dowse.source.git_process import GitError, GitMissing, SandboxedGit, open_sandboxed_git
from dowse.source.walk import MAX_FILE_BYTES

# A time that git could not read becomes the present one.
_NOW_SECONDS = 5


@dataclass(frozen=True, slots=True)
class Repository:
    """A folder with a history."""

    root: Path  # the folder: paths of cases are relative to it
    prefix: str  # the path from the top of the work tree to `root`: "" or ending with "/"
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
            yield Repository(root, prefix, git)
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
