"""The commits mined from a repository, kept in a file so that an update reads only new ones."""

from __future__ import annotations

import json
import time
from itertools import islice, takewhile
from pathlib import Path

from dowse.history.commits import MinedCommit, mine_commits
from dowse.history.log import Repository, open_blobs, open_repository, read_history
from dowse.history.sources import Sources
from dowse.security.safe_files import make_private_directory, read_regular_file, write_atomically
from dowse.source.git import is_commit_hash
from dowse.source.git_process import GitError

# The newest commits that are kept, of those whose subject is a query.
MAX_COMMITS = 2_000
# Mining stops after so long, with the newest commits; 5,000 take about half a minute.
_MAX_SECONDS = 300.0
_MAX_BYTES = 20_000_000


def mined_commits(root: Path, file: Path) -> list[MinedCommit]:
    """Return the commits of a repository that make a query, newest first; those of the file and new ones.

    A file that was renamed since its commit was mined is not found under its old name: that commit is lost.

    Raises:
        EvalError: There is no history to mine.
    """
    with open_repository(root) as repository:
        head, known = _read(file)
        if not _has_commit(repository, head):
            head, known = "", []
        if head != repository.head:
            new = _mine(repository, head)
            seen = {each.query.casefold() for each in new}
            known = [*new, *(each for each in known if each.query.casefold() not in seen)][:MAX_COMMITS]
            make_private_directory(file.parent)
            write_atomically(file, json.dumps([repository.head, known]).encode())
    return known


def _mine(repository: Repository, after: str) -> list[MinedCommit]:
    """Read the commits that are not in the history of another one."""
    deadline = time.monotonic() + _MAX_SECONDS
    sources = Sources(repository.root)
    commits = takewhile(
        lambda _: time.monotonic() < deadline, read_history(repository, sources.paths, after=after)
    )
    with open_blobs(repository.git) as blobs:
        return list(islice(mine_commits(commits, repository, sources, blobs), MAX_COMMITS))


def _has_commit(repository: Repository, name: str) -> bool:
    if not is_commit_hash(name):
        return False
    try:
        return repository.git.run("cat-file", "-t", name).strip() == b"commit"
    except GitError:  # it was removed with the branch that it was on
        return False


def _read(file: Path) -> tuple[str, list[MinedCommit]]:
    """Return the commit that was read last, and what was mined; nothing if the file is damaged."""
    try:
        head, rows = json.loads(read_regular_file(file, _MAX_BYTES))
        known = [
            MinedCommit(str(name), str(query), tuple(map(str, files)), tuple(map(str, symbols)))
            for name, query, files, symbols in rows
        ]
        return str(head), known
    except (OSError, ValueError, TypeError, RecursionError):
        return "", []
