"""What could come next while somebody types."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from dowse.interfaces.http.models.base import Model


class Suggestion(Model):
    """One way to go on."""

    kind: Literal["name", "query", "filter"]
    text: str = Field(description="What to show.")
    query: str = Field(description="The whole query once it is taken.")
    detail: str = Field(description="A kind and a place, how often it was asked, or what it filters.")
    index: str = Field(description="Where the name was found; empty for others.")
    id: str = Field(description="The symbol, where just one bears the name; else empty.")


class Suggestions(Model):
    """Ways to go on, best first."""

    query: str
    suggestions: list[Suggestion]
    took_ms: float
