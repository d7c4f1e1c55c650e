"""A git work tree, or a folder in one, that was found fit for mining; and how git is called for it."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from dowse.errors import EvalError

# Set for hooks and by scripts: they would lead git to another repository, or change how paths are read.
_FOREIGN = frozenset(
    """GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_PREFIX GIT_NAMESPACE GIT_DIFF_OPTS GIT_LITERAL_PATHSPECS
    GIT_GLOB_PATHSPECS GIT_NOGLOB_PATHSPECS GIT_ICASE_PATHSPECS""".split()
)

# A time that git could not read becomes the present one.
_NOW_SECONDS = 5


@dataclass(frozen=True, slots=True)
class Repository:
    """A folder with a history."""

    root: Path  # the folder that was asked for: paths of cases are seen from here
    top: Path  # the work tree it lies in: paths of git are seen from there
    prefix: str  # the way from `top` to `root`: "" or ending with "/"

    def command(self, *arguments: str) -> list[str]:
        """Return how git is called at the top of the work tree."""
        return ["git", "-C", str(self.top), *arguments]


def open_repository(folder: str | os.PathLike[str]) -> Repository:
    """Return the repository of a folder, or say why there is no history to mine."""
    root = Path(folder).resolve()
    if not root.is_dir():
        raise EvalError(f"{folder} is not a folder; name a git repository or a folder inside of one")
    said = _ask(root, "rev-parse", "--show-toplevel", "--show-prefix", "--is-shallow-repository")
    if isinstance(said, str):
        raise EvalError(
            f"{folder} is not a folder in the work tree of a git repository ({said}); "
            "questions can be mined from documentation instead: `dowse eval --from docs`"
        )
    lines = os.fsdecode(said).split("\n")
    if lines[2].strip() == "true":
        raise EvalError(
            f"{folder} is a shallow clone, whose history is cut off; "
            "run `git fetch --unshallow` there and mine again"
        )
    if isinstance(_ask(root, "rev-parse", "--verify", "--quiet", "HEAD^{commit}"), str):
        raise EvalError(f"{folder} has no commits yet, so there is nothing to mine; commit something first")
    return Repository(root, Path(lines[0]), lines[1])


def check_since(repository: Repository, since: str) -> None:
    """Refuse a time that git does not understand: it would take it for now, and find nothing."""
    said = _ask(repository.root, "rev-parse", f"--since={since}")
    age = said.strip().removeprefix(b"--max-age=") if isinstance(said, bytes) else b""
    if not age.isdigit() or int(age) > time.time() - _NOW_SECONDS:
        raise EvalError(f"since={since!r} is no time in the past; write it like 2020-01-31 or '2 years ago'")


def environment() -> Mapping[str, str]:
    """Return this process's environment without what would lead git elsewhere."""
    return {name: value for name, value in os.environ.items() if name not in _FOREIGN}


def _ask(folder: Path, *arguments: str) -> bytes | str:
    """Return what git prints, or, as text, what it complains about."""
    command = ["git", "-C", str(folder), *arguments]
    try:
        done = subprocess.run(
            command, capture_output=True, stdin=subprocess.DEVNULL, env=environment(), check=False
        )
    except OSError as error:
        raise EvalError(
            f"git can't be run ({error.strerror}); install it and make sure it is on the PATH"
        ) from error
    if done.returncode == 0:
        return done.stdout
    return os.fsdecode(done.stderr).strip().partition("\n")[0].removeprefix("fatal: ") or "git failed"
