"""Problem details for HTTP APIs (RFC 9457), with a remedy."""

from __future__ import annotations

from pydantic import Field

from dowse.services.models.base import Model
from dowse.services.models.symbol import SymbolRef


class FieldProblem(Model):
    """An invalid parameter or field."""

    field: str = Field(description="query.k, body.kind, …")
    message: str


class Candidate(SymbolRef):
    """A symbol that a name could mean."""

    index: str


class Problem(Model):
    """An error."""

    type: str = Field(description="The kind of problem, as a relative URL.")
    title: str
    status: int
    detail: str
    remedy: str = Field(description="What to do about it.")
    position: int | None = Field(default=None, description="The offset in the query, from 0.")
    fields: list[FieldProblem] | None = Field(default=None, description="The invalid parameters and fields.")
    candidates: list[Candidate] | None = Field(
        default=None, description="The symbols that a name could mean."
    )
