"""From what goes wrong to `application/problem+json`, with what helps; never a traceback."""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from dowse.errors import (
    ConfigError,
    DowseError,
    EvalError,
    IndexDamaged,
    IndexLocked,
    IndexMissing,
    IndexVersionError,
    TooSlow,
)
from dowse.formats.graph_json import symbol_to_json
from dowse.query import QueryError
from dowse.security.terminal import escape_surrogates_in_json
from dowse.symbol_lookup import AmbiguousName, UnknownName

MEDIA_TYPE = "application/problem+json"
# When a server that has too much to do should be asked again, in seconds.
RETRY_SECONDS = 2


class NotFound(DowseError):
    """What was asked for by name is not here."""


class Busy(DowseError):
    """There is more to do than may wait."""


class FeedbackOff(DowseError):
    """Choices are not recorded here."""


class AmbiguousAcross(DowseError):
    """A name that symbols of several indexes bear."""

    def __init__(self, message: str, candidates: list[dict[str, Any]]) -> None:
        super().__init__(message)
        self.candidates = candidates


# The first class that fits decides: status, a name for the kind of problem, what helps if nothing is said.
_KINDS: tuple[tuple[type[Exception], int, str, str], ...] = (
    (AmbiguousName, 409, "ambiguous-name", "name one of the candidates by its id or path:line"),
    (AmbiguousAcross, 409, "ambiguous-name", "name the index, or one of the candidates"),
    (UnknownName, 404, "unknown-symbol", "search for it, or look at the suggestions"),
    (NotFound, 404, "not-found", "look at /api/status and /api/docs for what there is"),
    (FeedbackOff, 409, "feedback-off", "nothing needs to be done: searches work without it"),
    (IndexMissing, 503, "index-missing", "wait until it is built; /api/events tells how far it is"),
    (IndexLocked, 409, "index-busy", "wait until the other process has finished"),
    (IndexDamaged, 503, "index-damaged", "build it anew: POST /api/reindex with rebuild"),
    (IndexVersionError, 503, "index-version", "build it anew: POST /api/reindex with rebuild"),
    (TooSlow, 503, "too-slow", "ask for less: filter by path or language, or take fewer options"),
    (Busy, 503, "busy", "try again in a moment"),
    (ConfigError, 400, "bad-setting", "look at /api/docs for what is allowed"),
    (EvalError, 400, "bad-report", "save one with `dowse eval --report FILE`"),
    (QueryError, 400, "bad-query", "mend the query, or send it with plain=true"),
    (DowseError, 400, "bad-request", "look at /api/docs for what is allowed"),
)
TITLES = {
    "ambiguous-name": "Several symbols bear this name",
    "unknown-symbol": "No such symbol",
    "not-found": "Not found",
    "feedback-off": "Choices are not recorded",
    "wrong-host": "Not the name of this server",
    "wrong-origin": "Not from this server's page",
    "no-token": "The secret is missing",
    "index-missing": "No index yet",
    "index-busy": "The index is being written",
    "index-damaged": "The index can't be read",
    "index-version": "The index was written by another version",
    "too-slow": "It took too long",
    "busy": "Too much to do",
    "bad-setting": "A setting can't be used",
    "bad-report": "A report can't be used",
    "bad-query": "The query can't be understood",
    "bad-request": "The request can't be answered",
    "bad-parameters": "The request has parameters that can't be used",
    "method-not-allowed": "Not with this method",
    "address-too-long": "The address is too long",
    "body-too-long": "The request is too long",
    "too-many-requests": "Asked too often",
    "internal": "Something went wrong here",
}


def problem(
    status: int, kind: str, detail: str, remedy: str, headers: dict[str, str] | None = None, **more: object
) -> JSONResponse:
    """Return one problem as a response."""
    title = TITLES.get(kind) or HTTPStatus(status).phrase
    body = {"type": f"/api/docs#{kind}", "title": title, "status": status, "detail": detail, "remedy": remedy}
    given = {name: value for name, value in more.items() if value is not None}
    extra = {"Retry-After": str(RETRY_SECONDS)} if kind in ("busy", "index-missing") else {}
    # What a request sent may be no text that UTF-8 can hold, and is repeated in what is wrong with it.
    content = escape_surrogates_in_json(body | given)
    return JSONResponse(content, status, {**extra, **(headers or {})}, MEDIA_TYPE)


def told(error: Exception) -> JSONResponse:
    """Return what to say about an error of ours; its message names the remedy after a semicolon."""
    status, kind, usual = next(
        (status, kind, usual) for known, status, kind, usual in _KINDS if isinstance(error, known)
    )
    detail = str(error)
    remedy = detail.split("\n")[0].partition("; ")[2] or usual
    return problem(
        status,
        kind,
        detail,
        remedy,
        position=getattr(error, "position", None),
        candidates=_candidates(error),
    )


def _candidates(error: Exception) -> list[dict[str, Any]] | None:
    if isinstance(error, AmbiguousAcross):
        return error.candidates
    if isinstance(error, AmbiguousName):
        index = getattr(error, "index", "")
        return [{**symbol_to_json(row), "index": index} for row in error.candidates]
    return None


def add_handlers(app: FastAPI) -> None:
    """Have every error of an app told as a problem."""
    app.add_exception_handler(DowseError, _ours)
    app.add_exception_handler(QueryError, _ours)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)


async def _ours(request: Request, error: Exception) -> JSONResponse:
    return told(error)


async def _invalid(request: Request, error: Exception) -> JSONResponse:
    """Tell which parameters can't be used, and why."""
    assert isinstance(error, RequestValidationError)  # noqa: S101 - registered for nothing else
    fields = [
        {"place": ".".join(map(str, each["loc"])), "message": str(each["msg"])} for each in error.errors()
    ]
    detail = "; ".join(f"{each['place']}: {each['message']}" for each in fields)
    return problem(
        422, "bad-parameters", detail, "look at /api/docs for what each parameter takes", fields=fields
    )


async def _http(request: Request, error: Exception) -> JSONResponse:
    """Tell what the framework itself found: no such address, not this method."""
    assert isinstance(error, HTTPException)  # noqa: S101 - registered for nothing else
    methods = methods_of(request.app, request.url.path) - {request.method}
    if methods and error.status_code in (404, 405):  # the address is there, for other methods
        detail = f"{request.method} is not for this; it takes {', '.join(sorted(methods))}"
        error = HTTPException(405, detail, {"Allow": ", ".join(sorted(methods))})
    name = HTTPStatus(error.status_code).phrase.lower().replace(" ", "-")
    headers = dict(error.headers or {})
    remedy = "look at /api/docs for what can be asked"
    return problem(error.status_code, name, str(error.detail), remedy, headers)


def methods_of(app: FastAPI, path: str) -> set[str]:
    """Return the methods that an address of the API takes, none if there is no such address."""
    found: set[str] = set()
    for template, item in app.openapi()["paths"].items():
        if re.fullmatch(re.sub(r"\\{\w+\\}", "[^/]+", re.escape(template)), path):
            found |= {method.upper() for method in item}
    return found
