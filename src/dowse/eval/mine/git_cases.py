"""Questions from a repository's own history: a commit's subject asks, the code that it touched answers."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from dowse.eval.mine.changed_symbols import Blobs, changed_symbols, open_blobs
from dowse.eval.mine.history import Change, Commit, count_commits, read_history
from dowse.eval.mine.repository import Repository, check_since, open_repository
from dowse.eval.mine.sources import Sources
from dowse.eval.mine.subjects import query_from_subject
from dowse.eval.types import Case

if TYPE_CHECKING:
    from dowse.indexing.update import Progress

# A subject is one sentence: of a change to more files, or more symbols, it tells what they have in common
# (a rename, a new signature), not what any one of them is. Counted before it is asked what is left today, so
# that the last survivor of a sweep does not pass for its subject.
MAX_FILES = 10
MAX_SYMBOLS = 15
# Of the symbols that a commit touched, so many must be left: else what its subject speaks of may be gone.
MIN_SURVIVING = 0.5


class _Touched(NamedTuple):
    """A file of today that a commit touched."""

    path: str
    change: Change


def build_from_git(
    repo: str | os.PathLike[str],
    max_cases: int = 200,
    symbols: bool = True,
    since: str = "",
    with_tests: bool = False,
    on_progress: Callable[[Progress], None] | None = None,
) -> list[Case]:
    """Return questions with their answers out of a git history, newest first.

    Args:
        repo: A work tree or a folder inside of one: answers lie in it, and paths are seen from it.
        max_cases: How many at most; 0 for all there are.
        symbols: Whether cases must name functions, methods or classes as well as files.
        since: Only commits after this time, as git understands it: "2020-01-31", "2 years ago".
        with_tests: Whether tests count as answers.
        on_progress: Told how many commits were read, of how many.
    """
    with open_repository(repo) as repository:
        if since:
            check_since(repository, since)
        sources = Sources(repository.root, with_tests)
        commits: Iterable[Commit] = read_history(repository, sources.paths, since)
        if on_progress:
            commits = _told(commits, count_commits(repository, sources.paths, since), on_progress)
        with open_blobs(repository) as blobs:
            cases = _cases(commits, repository, sources, blobs if symbols else None)
            return list(islice(cases, max_cases) if max_cases > 0 else cases)


def _told(commits: Iterable[Commit], total: int, tell: Callable[[Progress], None]) -> Iterator[Commit]:
    from dowse.indexing.update import Progress

    for done, commit in enumerate(commits, 1):
        yield commit
        tell(Progress(done, max(total, done)))


def _cases(
    commits: Iterable[Commit], repository: Repository, sources: Sources, blobs: Blobs | None
) -> Iterator[Case]:
    """Make a case of every commit that is one; no question twice, the latest answer counts."""
    asked: set[str] = set()
    for commit in commits:
        query = query_from_subject(commit.subject, commit.author)
        if not query or query.casefold() in asked:
            continue
        if _own_files(commit, repository, sources) > MAX_FILES:
            continue
        touched = [
            _Touched(path, change)
            for change in commit.changes
            if change.blob and sources.is_indexed(path := _below(change.today, repository.prefix))
        ]
        names = _symbols(touched, sources, blobs) if blobs else {}
        if not touched or (blobs and not names):
            continue
        asked.add(query.casefold())
        files = dict.fromkeys(sorted({each.path for each in touched}), 1.0)
        yield Case(query, files, names, commit.id[:12], "git")


def _symbols(touched: Iterable[_Touched], sources: Sources, blobs: Blobs) -> dict[str, float]:
    """Return the symbols that a commit touched and that are left; none if those are many or few."""
    count = 0
    found: dict[str, float] = {}
    for path, change in touched:
        data = blobs.read(change.blob)
        names = changed_symbols(data, change.path, change.hunks) if data else []
        count += len(names)
        if count > MAX_SYMBOLS:
            return {}
        found |= {f"{path}::{name}": 1.0 for name in names if name in sources.names(path)}
    return found if len(found) >= MIN_SURVIVING * count else {}


def _own_files(commit: Commit, repository: Repository, sources: Sources) -> int:
    """Return how many files of the project's own code a commit changed, wherever, whatever became of them."""
    paths = (change.path.removeprefix(repository.prefix) for change in commit.changes)
    return sum(map(sources.is_own_code, paths))


def _below(path: str, prefix: str) -> str:
    """Return a path of git as it is seen from the folder, "" if it lies outside."""
    return path[len(prefix) :] if path.startswith(prefix) else ""
