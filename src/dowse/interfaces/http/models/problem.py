"""What went wrong, as RFC 9457 has it, with what helps."""

from __future__ import annotations

from pydantic import Field

from dowse.interfaces.http.models.base import Model
from dowse.interfaces.http.models.symbol import SymbolRef


class FieldProblem(Model):
    """A parameter or field that can't be used."""

    place: str = Field(description="query.k, body.kind, …")
    message: str


class Candidate(SymbolRef):
    """A symbol that a name could mean."""

    index: str


class Problem(Model):
    """An error: what it is, and what helps."""

    type: str = Field(description="A name for this kind of problem, as a relative address.")
    title: str
    status: int
    detail: str
    remedy: str = Field(description="What to do about it.")
    position: int | None = Field(default=None, description="Where in the query it is, from 0.")
    fields: list[FieldProblem] | None = Field(default=None, description="What was wrong with the request.")
    candidates: list[Candidate] | None = Field(default=None, description="What a name could mean.")
