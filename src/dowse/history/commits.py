"""Commits as questions: a commit's subject, and the symbols it changed that still exist."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence

from dowse.history.log import Change, Commit, Hunk, Repository
from dowse.history.sources import Sources, definitions_in
from dowse.history.subjects import query_from_subject
from dowse.lazy_classes import NamedTuple
from dowse.source.git_objects import Blobs

# A subject is one sentence: for a change to more files or symbols it describes what they have in common (a
# rename, a new signature), not any one of them. Counted before files that no longer exist are dropped, so
# that the last one left of a large change does not pass for its subject.
MAX_FILES = 10
MAX_SYMBOLS = 15
# The share of changed symbols that must still exist: else what the subject describes may be gone.
MIN_SURVIVING = 0.5
# A line that only closes a block is no evidence of what was changed.
_MEANINGFUL = re.compile(rb"(?!\s*(?:end|else|do|then|pass|begin)\b\W*$).*?\w")


class MinedCommit(NamedTuple):
    """A commit whose subject is a query, and what of its changes is there today."""

    id: str
    query: str
    files: tuple[str, ...]  # sorted
    symbols: tuple[str, ...]  # as "path::qualified name"; none if they were not asked for


class _ChangedFile(NamedTuple):
    """A file of today that a commit changed."""

    path: str
    change: Change


def mine_commits(
    commits: Iterable[Commit], repository: Repository, sources: Sources, blobs: Blobs | None
) -> Iterator[MinedCommit]:
    """Give the commits that make a query; of duplicate queries the newest counts.

    With `blobs`, they must have changed symbols that still exist; without, files suffice.
    """
    seen: set[str] = set()
    for commit in commits:
        query = query_from_subject(commit.subject, commit.author)
        if not query or query.casefold() in seen:
            continue
        if _own_files(commit, repository, sources) > MAX_FILES:
            continue
        changed = [
            _ChangedFile(path, change)
            for change in commit.changes
            if change.blob and sources.is_indexed(path := _below(change.today, repository.prefix))
        ]
        names = _symbols(changed, sources, blobs) if blobs else ()
        if not changed or (blobs and not names):
            continue
        seen.add(query.casefold())
        yield MinedCommit(commit.id, query, tuple(sorted({each.path for each in changed})), names)


def _symbols(changed: Iterable[_ChangedFile], sources: Sources, blobs: Blobs) -> tuple[str, ...]:
    """Return the changed symbols that still exist; none if they are too many or too few."""
    count = 0
    targets: dict[str, None] = {}
    for path, change in changed:
        data = blobs.read(change.blob)
        names = changed_symbols(data, change.path, change.hunks) if data else []
        count += len(names)
        if count > MAX_SYMBOLS:
            return ()
        targets |= {f"{path}::{name}": None for name in names if name in sources.names(path)}
    return tuple(targets) if len(targets) >= MIN_SURVIVING * count else ()


def _own_files(commit: Commit, repository: Repository, sources: Sources) -> int:
    """Return how many files of the project's own code a commit changed, whether they still exist or not."""
    paths = (change.path.removeprefix(repository.prefix) for change in commit.changes)
    return sum(map(sources.is_own_code, paths))


def _below(path: str, prefix: str) -> str:
    """Return a path of git relative to the folder, "" if it is outside."""
    return path[len(prefix) :] if path.startswith(prefix) else ""


def changed_symbols(data: bytes, path: str, hunks: Sequence[Hunk]) -> list[str]:
    """Return the qualified names of the definitions whose own text a commit changed, in their order.

    A definition's own text is what dowse shows of it: a class without its methods, a function with its nested
    functions. So a line of a method names the method and not its class, a line of a nested function names
    both, and a line outside of all definitions names nothing.

    Deleted lines name the definition that still surrounds them. A definition that was deleted as a whole is
    not named: it can't be found. `data` and `path` are those of the file after the change.
    """
    text, definitions, _ = definitions_in(data, path)
    if not definitions:
        return []
    starts = [0, *(at.end() for at in re.finditer(rb"\n", text))]
    written = sorted({offset for hunk in hunks for offset in _written_offsets(text, starts, hunk)})
    # Where the line after deleted ones begins.
    gaps = sorted({gap for hunk in hunks if not hunk.lines for gap in starts[hunk.start : hunk.start + 1]})
    names = (
        each.qualified_name
        for each in definitions
        if any(_any_inside(written, *span) or _any_inside(gaps, span[0] + 1, span[1]) for span in each.spans)
    )
    return list(dict.fromkeys(names))


def _written_offsets(text: bytes, starts: Sequence[int], hunk: Hunk) -> Iterator[int]:
    """Give the offset of the first word in each meaningful line of a hunk."""
    for start in starts[hunk.start - 1 : hunk.start - 1 + hunk.lines]:
        end = text.find(b"\n", start)
        match = _MEANINGFUL.match(text, start, len(text) if end < 0 else end)
        if match:
            yield match.end() - 1


def _any_inside(offsets: Sequence[int], start: int, end: int) -> bool:
    return bisect_left(offsets, start) < bisect_left(offsets, end)
