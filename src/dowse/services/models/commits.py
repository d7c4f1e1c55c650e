"""The models of an answer about commits."""

from __future__ import annotations

from pydantic import Field

from dowse.services.models.answer import Model, Note


class CommitModel(Model):
    """A commit."""

    index: str = Field(description="Its repository.")
    commit: str
    date: str
    author: str
    subject: str
    body: str
    paths: list[str]
    symbols: list[str] = Field(description="Definitions that it changed.")
    score: float


class LogAnswer(Model):
    """Commits, best first; without words newest first."""

    query: str = Field(description="With `symbol` as a filter.")
    commits: list[CommitModel]
    notes: list[Note] = Field(
        description="Indexes that are left out: `index-failed` without a history, `refreshing` if it is not "
        "read yet."
    )
