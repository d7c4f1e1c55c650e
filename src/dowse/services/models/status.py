"""The status and health of the server and its indexes, and the progress of indexing."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from dowse.services.models.answer import Model, RequestModel


class Language(Model):
    """The number of files in a language."""

    language: str = Field(description='"text" if unknown.')
    files: int


class Changes(Model):
    """Files that differ from the index."""

    new: int = 0
    changed: int = 0
    deleted: int = 0


class Progress(Model):
    """The progress of indexing or embedding; `/api/events` sends it."""

    number: int = Field(description="Increases with every event of this server.")
    index: str
    phase: Literal["waiting", "index", "embed", "done", "failed", "idle"]
    done: int = Field(description="Files or symbols, depending on the phase.")
    total: int
    detail: str = Field(description="What was done, or what failed and the remedy.")
    at: float = Field(description="Seconds since 1970.")
    seconds_left: float | None = Field(default=None, description="Null if not known yet.")


class BackgroundEmbedding(Model):
    """The progress of the process that embeds after a command has answered."""

    done: int = Field(description="Symbols, of those that had no vector at its start.")
    total: int
    seconds_left: float | None = Field(description="Null if not known yet.")


class IndexStatus(Model):
    """The status of one index; counts are 0 until it exists."""

    name: str
    root: str
    repo: str = ""
    commit: str = ""
    exists: bool = False
    problem: str = Field(default="", description="Why it can't be read; empty if it can.")
    generation: int = 0
    indexed_at: int = Field(default=0, description="Seconds since 1970.")
    files: int = 0
    symbols: int = 0
    source_bytes: int = 0
    index_bytes: int = 0
    encoder: str = ""
    embedded: int = 0
    embedding: BackgroundEmbedding | None = Field(default=None, description="Null if no such process runs.")
    skipped: int = 0
    problems: int = Field(default=0, description="Files that were read only partly.")
    languages: list[Language] = Field(default=[], description="Most files first.")
    kinds: list[str] = Field(description="Symbol kinds that `kind:` accepts.")
    corpus: bool = Field(
        default=False, description="Whether it is a corpus of functions, without files that could change."
    )
    changes: Changes = Changes()
    progress: Progress


class Status(Model):
    """The status of the server."""

    dowse: str
    feedback: bool = Field(description="Whether feedback is recorded and affects rankings.")
    encoder: str = Field(description="Of the first index; empty without one.")
    indexes: list[IndexStatus]


class SkippedFile(Model):
    """A file that is not indexed, or only partly."""

    index: str
    path: str
    reason: str
    indexed: bool = Field(description="Whether part of it is in the index.")


class Reason(Model):
    """The number of files with a reason."""

    reason: str
    files: int


class SkippedFiles(Model):
    """A page of skipped files."""

    total: int
    offset: int
    more: bool
    reasons: list[Reason] = Field(description="Of all skipped files, most files first.")
    files: list[SkippedFile]


class IndexHealth(Model):
    """Whether one index can be read."""

    name: str
    ready: bool
    detail: str


class Health(Model):
    """The health of the server."""

    status: Literal["ok", "starting"]
    dowse: str
    uptime_s: float
    indexes: list[IndexHealth]


class ReindexRequest(RequestModel):
    """Which index to update."""

    index: str | None = Field(default=None, description="Its name; null for all.")
    rebuild: bool = Field(default=False, description="Delete the old index first.")


class ReindexAnswer(Model):
    """What was queued; `/api/events` reports the progress."""

    started: list[str] = Field(description="Indexes that were queued.")
    waiting: list[str] = Field(description="Indexes that were queued already.")
