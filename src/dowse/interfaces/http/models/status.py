"""What is served, how far it is, and how it fares."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from dowse.interfaces.http.models.base import Model, Sent


class Language(Model):
    """How many files are in a language."""

    language: str = Field(description='"text" where it is not known.')
    files: int


class Changes(Model):
    """Files that differ from what is indexed."""

    new: int
    changed: int
    deleted: int


class Progress(Model):
    """How far indexing or embedding is; also what `/api/events` sends."""

    number: int = Field(description="Counts up with every event of this server.")
    index: str
    phase: Literal["waiting", "index", "embed", "done", "failed", "idle"]
    done: int = Field(description="Files or symbols, by phase.")
    total: int
    detail: str = Field(description="What was done, or what went wrong and what helps.")
    at: float = Field(description="Seconds since 1970.")


class IndexStatus(Model):
    """One index; counts are 0 while there is none yet."""

    name: str
    root: str
    repo: str
    commit: str
    exists: bool
    problem: str = Field(description="Why it can't be read, if it can't; else empty.")
    generation: int
    indexed_at: int = Field(description="Seconds since 1970.")
    files: int
    symbols: int
    source_bytes: int
    index_bytes: int
    encoder: str
    embedded: int
    skipped: int
    problems: int = Field(description="Files that were read only in part.")
    languages: list[Language] = Field(description="Most files first.")
    kinds: list[str] = Field(description="Kinds of symbols that `kind:` knows.")
    corpus: bool = Field(description="Functions from many places: then nothing is known of changes.")
    changes: Changes
    progress: Progress


class Status(Model):
    """Everything that is served."""

    dowse: str
    feedback: bool = Field(description="Whether clicks are recorded and count.")
    encoder: str = Field(description="Of the first index; empty where none is in use.")
    indexes: list[IndexStatus]


class SkippedFile(Model):
    """A file that is left out, or was read only in part."""

    index: str
    path: str
    reason: str
    indexed: bool = Field(description="Whether some of it is in the index all the same.")


class Reason(Model):
    """How many files share a reason."""

    reason: str
    files: int


class SkippedFiles(Model):
    """One page of what is left out."""

    total: int
    offset: int
    more: bool
    reasons: list[Reason] = Field(description="Of all of them, most files first.")
    files: list[SkippedFile]


class IndexHealth(Model):
    """Whether one index answers."""

    name: str
    ready: bool
    detail: str


class Health(Model):
    """Whether the server answers, and from what."""

    status: Literal["ok", "starting"]
    dowse: str
    uptime_s: float
    indexes: list[IndexHealth]


class ReindexRequest(Sent):
    """Which index to bring up to date."""

    index: str | None = Field(default=None, description="Its name; null for all.")
    rebuild: bool = Field(default=False, description="Throw the old index away first.")


class ReindexAnswer(Model):
    """What was begun: `/api/events` tells how it goes."""

    started: list[str] = Field(description="Indexes that were put in line.")
    waiting: list[str] = Field(description="Indexes that were in line already.")
