"""The OpenAPI document: FastAPI's, with groups of operations, the token, and errors as problem+json."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from dowse.services.web.problem import MEDIA_TYPE

# Every operation may be answered with a problem.
_PROBLEMS = {
    "4XX": "The request can't be answered; `remedy` says what to do.",
    "5XX": "The server can't answer now.",
}
_TAGS = {
    "search": "Search, its default options, suggestions.",
    "symbols": "One symbol, similar ones, the call graph.",
    "history": "Commits.",
    "evaluation": "Evaluation reports.",
    "indexes": "What is indexed and how fresh it is; updates.",
    "feedback": "What was chosen: recorded, listed, deleted.",
    "server": "For those who run it.",
}
_TOKEN = {
    "type": "http",
    "scheme": "bearer",
    "description": "The token of the server. Its own page sends a cookie instead.",
}
# FastAPI adds schemas of its own errors, which are never sent.
_UNUSED = ("HTTPValidationError", "ValidationError")


def add_openapi(app: FastAPI, *, needs_token: bool) -> None:
    """Set the OpenAPI document of an application, made once, on the first request."""

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            made = get_openapi(
                title=app.title,
                version=app.version,
                description=app.description,
                routes=app.routes,
                tags=[{"name": name, "description": text} for name, text in _TAGS.items()],
            )
            made["components"]["securitySchemes"] = {"token": _TOKEN}
            made["security"] = [{"token": []}] if needs_token else []
            app.openapi_schema = _with_problems(made)
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]


def _with_problems(document: dict[str, Any]) -> dict[str, Any]:
    """Return FastAPI's document with errors as problem+json."""
    content = {"schema": {"$ref": "#/components/schemas/Problem"}}
    for item in document["paths"].values():
        for operation in item.values():
            responses = operation["responses"]
            operation["responses"] = {
                **{code: response for code, response in responses.items() if code.startswith("2")},
                **{
                    code: {"description": text, "content": {MEDIA_TYPE: content}}
                    for code, text in _PROBLEMS.items()
                },
            }
    for name in _UNUSED:
        document["components"]["schemas"].pop(name, None)
    return document
