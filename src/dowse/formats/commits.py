"""Commits that `dowse log` found, as plain data and as text."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from dowse.security.terminal import escape_name

if TYPE_CHECKING:
    from dowse.commit_search.search import CommitHit

# Files and symbols of a commit that are shown.
_SHOWN = 5


def commit_to_json(hit: CommitHit) -> dict[str, Any]:
    """Return a commit as plain data."""
    commit = hit.commit
    return {
        "commit": commit.id,
        "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(commit.time)),
        "author": commit.author,
        "subject": commit.subject,
        "body": commit.body,
        "paths": commit.paths,
        "symbols": commit.symbols,
        "score": round(hit.score, 4),
    }


def commit_lines(commit: dict[str, Any]) -> list[str]:
    """Return the lines that show a commit: its message, and what it changed."""
    author = commit["author"].partition(" <")[0]
    first = f"{commit['commit'][:12]}  {commit['date'][:10]}  {author}  {commit['subject']}"
    symbols = [f"({', '.join(_first(commit['symbols']))})"] if commit["symbols"] else []
    changed = " ".join([*_first(commit["paths"]), *symbols])
    return [escape_name(first), *([f"    {escape_name(changed)}"] if changed else [])]


def _first(names: list[str]) -> list[str]:
    return [*names[:_SHOWN], "…"] if len(names) > _SHOWN else names
