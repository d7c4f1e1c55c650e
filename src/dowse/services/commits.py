"""Commits of one or several indexes, best first."""

from __future__ import annotations

from collections.abc import Iterable

from dowse.commit_search.search import CommitHit
from dowse.json_form import json_form
from dowse.lazy_classes import dataclass
from dowse.types import Note


@json_form(inline=("hit",))
@dataclass(frozen=True, slots=True)
class FoundCommit:
    """A commit, and the index of its repository."""

    index: str
    hit: CommitHit


@dataclass(frozen=True, slots=True)
class LogPage:
    """Commits, best first; without words newest first."""

    query: str
    commits: tuple[FoundCommit, ...]
    # Indexes that are left out: `index-failed` without a history, `refreshing` if it is not read yet.
    notes: tuple[Note, ...]


def log_page(query: str, found: Iterable[FoundCommit], notes: Iterable[Note], k: int) -> LogPage:
    """Return the best commits of all indexes."""
    best = sorted(found, key=lambda each: (each.hit.score, each.hit.commit.date), reverse=True)
    return LogPage(query, tuple(best[:k]), tuple(notes))
