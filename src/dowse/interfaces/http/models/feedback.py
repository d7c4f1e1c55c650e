"""Choices: what was clicked, copied, opened or judged for which question."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from dowse.interfaces.http.models.base import Model, Sent

ChoiceKind = Literal["click", "copy", "open", "up", "down"]


class Choice(Sent):
    """One choice to record."""

    index: str | None = Field(default=None, max_length=200, description="Not needed where there is only one.")
    query: str = Field(min_length=1, max_length=2_000, description="As it was asked.")
    symbol: str = Field(min_length=1, max_length=200, description="The id of what was chosen.")
    kind: ChoiceKind
    rank: int = Field(default=0, ge=0, le=10_000, description="Where it stood, from 1; 0 for unknown.")
    visitor: str = Field(
        min_length=1, max_length=100, description="A random name that the page keeps; nothing else is known."
    )


class Recorded(Model):
    """A choice as it was kept."""

    index: str
    query: str
    symbol: str
    kind: ChoiceKind
    rank: int
    visitor: str
    time: float = Field(description="Seconds since 1970.")


class Chosen(Model):
    """What became of one symbol for one question."""

    index: str
    query: str
    symbol: str
    name: str = Field(description="Its qualified name; empty if it is no longer in the index.")
    path: str
    chosen: int = Field(description="Clicks, copies, openings and up-votes.")
    up: int
    down: int
    visitors: int
    last: float = Field(description="Seconds since 1970.")


class FeedbackAnswer(Model):
    """What was chosen so far."""

    enabled: bool = Field(description="Whether choices are recorded, and count.")
    place: list[str] = Field(description="The files on the server's machine that hold it all.")
    total: int
    chosen: list[Chosen] = Field(description="Most chosen first.")


class Forgotten(Model):
    """What was forgotten."""

    removed: int
