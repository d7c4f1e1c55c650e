"""Cases from a git history: a commit's subject is the query, the code that it changed is relevant."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

from dowse.eval.types import COMMIT_ID, GIT, Case
from dowse.history.commits import MinedCommit, mine_commits
from dowse.history.log import Commit, check_since, count_commits, open_blobs, open_repository, read_history
from dowse.history.sources import Sources

if TYPE_CHECKING:
    from dowse.indexing.update import Progress


def build_from_git(
    repo: str | os.PathLike[str],
    max_cases: int = 200,
    symbols: bool = True,
    since: str = "",
    with_tests: bool = False,
    on_progress: Callable[[Progress], None] | None = None,
) -> list[Case]:
    """Return cases from a git history, newest first.

    Args:
        repo: A work tree or a folder inside of one: targets are in it, and paths are relative to it.
        max_cases: How many at most; 0 for all there are.
        symbols: Whether cases must name functions, methods or classes as well as files.
        since: Only commits after this time, as git understands it: "2020-01-31", "2 years ago".
        with_tests: Whether tests count as relevant.
        on_progress: Called with how many commits were read, of how many.
    """
    with open_repository(repo) as repository:
        if since:
            check_since(repository, since)
        sources = Sources(repository.root, with_tests)
        commits: Iterable[Commit] = read_history(repository, sources.paths, since)
        if on_progress:
            commits = _with_progress(commits, count_commits(repository, sources.paths, since), on_progress)
        with open_blobs(repository.git) as blobs:
            mined = mine_commits(commits, repository, sources, blobs if symbols else None)
            return list(map(_case, islice(mined, max_cases) if max_cases > 0 else mined))


def _with_progress(
    commits: Iterable[Commit], total: int, show: Callable[[Progress], None]
) -> Iterator[Commit]:
    from dowse.indexing.update import Progress

    for done, commit in enumerate(commits, 1):
        yield commit
        show(Progress(done, max(total, done)))


def _case(mined: MinedCommit) -> Case:
    files, symbols = dict.fromkeys(mined.files, 1.0), dict.fromkeys(mined.symbols, 1.0)
    return Case(mined.query, files, symbols, mined.id[:COMMIT_ID], GIT)
