"""Exception handlers: every error becomes `application/problem+json` (RFC 9457), never a traceback."""

from __future__ import annotations

import re
from http import HTTPStatus
from math import ceil
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException

from dowse.errors import (
    ConfigError,
    DowseError,
    EvalError,
    IndexDamaged,
    IndexLocked,
    IndexMissing,
    IndexUnavailable,
    IndexVersionError,
    LanesFailed,
    QueryError,
    TooSlow,
)
from dowse.json_form import json_form, to_json
from dowse.lazy_classes import dataclass
from dowse.services.errors import AmbiguousTarget, Busy, NotFound
from dowse.services.schemas import model
from dowse.services.web.problem import RETRY_SECONDS, problem
from dowse.symbol_lookup import UnknownName
from dowse.types import SymbolRow


@json_form(inline=("symbol",))
@dataclass(frozen=True, slots=True)
class Candidate:
    """A symbol that a name could mean."""

    index: str
    symbol: SymbolRow


class FieldProblem(BaseModel):
    """An invalid parameter or field."""

    model_config = ConfigDict(extra="forbid")

    field: str = Field(description="query.k, body.kind, …")
    message: str


class Problem(BaseModel):
    """An error (RFC 9457); what does not apply is left out."""

    model_config = ConfigDict(extra="forbid")

    type: str = Field(description="The kind of problem, as a URN.")
    title: str
    status: int
    detail: str
    remedy: str = Field(description="What to do about it.")
    position: int | None = Field(default=None, description="The offset in the query, from 0.")
    fields: list[FieldProblem] | None = Field(default=None, description="The invalid parameters and fields.")
    candidates: list[model(Candidate)] | None = Field(  # type: ignore[valid-type]
        default=None, description="The symbols that a name could mean."
    )
    request_id: str | None = Field(
        default=None, description="That of the header `X-Request-ID`, and of the server's log."
    )


class FeedbackOff(DowseError):
    """Feedback is not recorded here."""


# The first class that matches decides: status, kind, and the remedy if the message names none.
_KINDS: tuple[tuple[type[Exception], int, str, str], ...] = (
    (AmbiguousTarget, 409, "ambiguous-name", "name one of the candidates by its id or path:line"),
    (UnknownName, 404, "unknown-symbol", "search for it, or look at the suggestions"),
    (NotFound, 404, "not-found", "look at /api/v1/status and /api/v1/openapi.json"),
    (FeedbackOff, 409, "feedback-off", "nothing needs to be done: searches work without it"),
    (IndexMissing, 503, "index-missing", "wait until it is built; /api/v1/events reports the progress"),
    (IndexLocked, 409, "index-busy", "wait until the other process has finished"),
    (IndexUnavailable, 503, "index-unavailable", "free space on its disk, or check its permissions"),
    (IndexDamaged, 503, "index-damaged", "rebuild it: POST /api/v1/reindex with rebuild"),
    (IndexVersionError, 503, "index-version", "rebuild it: POST /api/v1/reindex with rebuild"),
    (TooSlow, 503, "too-slow", "ask for less: filter by path or language, or use fewer options"),
    (LanesFailed, 503, "lanes-failed", "try again in a moment"),
    (Busy, 503, "busy", "try again in a moment"),
    (ConfigError, 400, "bad-setting", "look at /api/v1/openapi.json for what is allowed"),
    (EvalError, 400, "bad-report", "save one with `dowse eval --report FILE`"),
    (QueryError, 400, "bad-query", "correct the query, or send it with plain=true"),
    (DowseError, 400, "bad-request", "look at /api/v1/openapi.json for what is allowed"),
)


def add_handlers(app: FastAPI) -> None:
    """Have an application answer every error with a problem."""
    app.add_exception_handler(DowseError, _handle_error)
    app.add_exception_handler(QueryError, _handle_error)
    app.add_exception_handler(RequestValidationError, _handle_validation_error)
    app.add_exception_handler(HTTPException, _handle_http_error)


async def _handle_error(request: Request, error: Exception) -> JSONResponse:
    """Answer an error of dowse; its message names the remedy after a semicolon."""
    status, kind, default = next(row[1:] for row in _KINDS if isinstance(error, row[0]))
    detail = str(error)
    remedy = detail.split("\n")[0].partition("; ")[2] or default
    candidates: list[dict[str, Any]] | None = None
    if isinstance(error, AmbiguousTarget):
        candidates = [to_json(Candidate(*each)) for each in error.candidates]
    position = getattr(error, "position", None)
    headers = (
        {"Retry-After": str(max(RETRY_SECONDS, ceil(error.seconds)))} if isinstance(error, Busy) else None
    )
    return problem(status, kind, detail, remedy, headers, position=position, candidates=candidates)


async def _handle_validation_error(request: Request, error: Exception) -> JSONResponse:
    """Answer a request with invalid parameters."""
    assert isinstance(error, RequestValidationError)  # noqa: S101 - registered for nothing else
    fields = [
        {"field": ".".join(map(str, each["loc"])), "message": str(each["msg"])} for each in error.errors()
    ]
    detail = "; ".join(f"{each['field']}: {each['message']}" for each in fields)
    return problem(
        422, "bad-parameters", detail, "look at /api/v1/openapi.json for each parameter", fields=fields
    )


async def _handle_http_error(request: Request, error: Exception) -> JSONResponse:
    """Answer an error of the framework: unknown URL, method not allowed."""
    assert isinstance(error, HTTPException)  # noqa: S101 - registered for nothing else
    methods = methods_of(request.app, request.url.path) - {request.method}
    if methods and error.status_code in (404, 405):  # the URL exists, for other methods
        detail = f"{request.method} is not allowed here; use {', '.join(sorted(methods))}"
        error = HTTPException(405, detail, {"Allow": ", ".join(sorted(methods))})
    kind = HTTPStatus(error.status_code).phrase.lower().replace(" ", "-")
    remedy = "look at /api/v1/openapi.json for what there is"
    return problem(error.status_code, kind, str(error.detail), remedy, dict(error.headers or {}))


def methods_of(app: FastAPI, path: str) -> set[str]:
    """Return the methods that a URL of the API takes; none if there is no such URL."""
    methods: set[str] = set()
    for template, item in app.openapi()["paths"].items():
        if re.fullmatch(re.sub(r"\\{\w+\\}", "[^/]+", re.escape(template)), path):
            methods |= {method.upper() for method in item}
    return methods
