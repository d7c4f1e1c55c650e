"""Suggestions while a query is typed."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from dowse.services.models.base import Model


class Suggestion(Model):
    """One suggestion."""

    kind: Literal["name", "query", "filter"]
    text: str = Field(description="The text to show.")
    query: str = Field(description="The whole query when it is accepted.")
    detail: str = Field(
        description="The symbol's kind and location, how often a query was asked, or what a filter does."
    )
    index: str = Field(default="", description="The index of a name; empty for others.")
    id: str = Field(default="", description="The symbol id if only one symbol has the name; else empty.")


class Suggestions(Model):
    """Suggestions, best first."""

    query: str
    suggestions: list[Suggestion]
    took_ms: float
