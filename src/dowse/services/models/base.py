"""The base classes of all models."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Model(BaseModel):
    """Immutable data without unknown fields."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class RequestModel(Model):
    """What clients send: strict types, no text for a number."""

    model_config = ConfigDict(strict=True)
