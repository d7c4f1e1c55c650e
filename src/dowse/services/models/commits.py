"""The models of an answer about commits."""

from __future__ import annotations

from pydantic import BaseModel, Field


class CommitModel(BaseModel):
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


class CommitsAnswer(BaseModel):
    """Commits, best first."""

    query: str
    commits: list[CommitModel]
    problems: list[str]
