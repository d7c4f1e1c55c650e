"""Commits that `dowse log` found, as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dowse.security.terminal import escape_name

if TYPE_CHECKING:
    from dowse.commit_search.search import CommitHit

# Files and symbols of a commit that are shown.
_SHOWN = 5


def commit_lines(hit: CommitHit) -> list[str]:
    """Return the lines that show a commit: its message, and what it changed."""
    commit = hit.commit
    author = commit.author.partition(" <")[0]
    first = f"{commit.id[:12]}  {commit.date[:10]}  {author}  {commit.subject}"
    symbols = [f"({', '.join(_first(commit.symbols))})"] if commit.symbols else []
    changed = " ".join([*_first(commit.paths), *symbols])
    return [escape_name(first), *([f"    {escape_name(changed)}"] if changed else [])]


def _first(names: Sequence[str]) -> list[str]:
    return [*names[:_SHOWN], "…"] if len(names) > _SHOWN else list(names)
