"""What all forms have in common."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Model(BaseModel):
    """Plain data with the fields that are named, and no others."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class Sent(Model):
    """What clients send: taken as it is, no text for a number."""

    model_config = ConfigDict(strict=True)
