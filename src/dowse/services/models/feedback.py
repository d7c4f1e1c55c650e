"""Feedback events: a hit was clicked, copied, opened or voted on for a query."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from dowse.services.models.answer import Model, RequestModel

EventKind = Literal["click", "copy", "open", "up", "down"]


class FeedbackRequest(RequestModel):
    """One event to record."""

    index: str | None = Field(default=None, max_length=200, description="Not needed where there is only one.")
    query: str = Field(min_length=1, max_length=2_000, description="The query as it was typed.")
    symbol: str = Field(min_length=1, max_length=200, description="The id of the symbol.")
    kind: EventKind
    rank: int = Field(default=0, ge=0, le=10_000, description="The rank of the hit, from 1; 0 if unknown.")
    visitor: str = Field(
        min_length=1,
        max_length=100,
        description="A random name that the page stores; nothing else identifies a visitor.",
    )


class RecordedEvent(Model):
    """An event as it was recorded."""

    index: str
    query: str
    symbol: str
    kind: EventKind
    rank: int
    visitor: str
    time: float = Field(description="Seconds since 1970.")


class FeedbackCount(Model):
    """The feedback for one symbol and one query."""

    index: str
    query: str
    symbol: str
    name: str = Field(description="The qualified name; empty if it is no longer in the index.")
    path: str
    chosen: int = Field(description="Clicks, copies, opens and up-votes.")
    up: int
    down: int
    visitors: int
    last: float = Field(description="Seconds since 1970.")


class FeedbackAnswer(Model):
    """All feedback, counted."""

    enabled: bool = Field(description="Whether feedback is recorded and affects rankings.")
    files: list[str] = Field(description="The files on the server's machine that hold it.")
    total: int
    chosen: list[FeedbackCount] = Field(description="Most chosen first.")


class FeedbackReset(Model):
    """How many events were deleted."""

    removed: int
