"""The OpenAPI document, and `/api/docs`: the same as plain HTML, without scripts or third-party resources."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Any

from fastapi import APIRouter, FastAPI, Request
from fastapi.openapi.utils import get_openapi
from fastapi.responses import FileResponse, HTMLResponse

from dowse.services.web.problem import MEDIA_TYPE, TITLES

router = APIRouter()
_STYLE = Path(__file__).parents[1] / "docs.css"
_METHODS = ("get", "post", "put", "delete")
# Every operation may be answered with a problem.
_PROBLEMS = {
    "4XX": "The request can't be answered; `remedy` says what to do.",
    "5XX": "The server can't answer now.",
}
# FastAPI adds schemas of its own errors, which are never sent.
_UNUSED = ("HTTPValidationError", "ValidationError")


def add_openapi(app: FastAPI) -> None:
    """Set the OpenAPI document of an application, made once, on the first request."""

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            made = get_openapi(
                title=app.title, version=app.version, description=app.description, routes=app.routes
            )
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


@router.get("/docs", include_in_schema=False)
async def docs(request: Request) -> HTMLResponse:
    """Return the documentation as HTML."""
    return HTMLResponse(_page(request.app.openapi(), TITLES))


@router.get("/docs.css", include_in_schema=False)
async def docs_style() -> FileResponse:
    """Return its stylesheet."""
    return FileResponse(_STYLE, media_type="text/css")


def _page(document: Mapping[str, Any], problems: Mapping[str, str]) -> str:
    """Return the page of an OpenAPI document; `problems` are the titles of the kinds of problems."""
    operations = [
        (method, path, item[method])
        for path, item in document["paths"].items()
        for method in _METHODS
        if method in item
    ]
    info = document["info"]
    parts = [
        '<!doctype html><html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<title>dowse: API</title><link rel="stylesheet" href="/api/docs.css"></head><body><main>',
        f"<h1>dowse {escape(info['version'])}: API</h1>",
        '<p>All of this as one document: <a href="/api/openapi.json">openapi.json</a>.</p>',
        "<nav>",
        *(f'<a href="#{op["operationId"]}">{escape(op["operationId"])}</a>' for _, _, op in operations),
        '<a href="#problems">problems</a><a href="#schemas">schemas</a></nav>',
        *(part for each in operations for part in _operation(*each)),
        '<h2 id="problems">Problems</h2><p>Errors are <code>application/problem+json</code>; ',
        "<code>remedy</code> says what to do.</p><table>",
        *(_row(name, title, attributes=f' id="{escape(name)}"') for name, title in problems.items()),
        '</table><h2 id="schemas">Schemas</h2>',
        *(part for each in document["components"]["schemas"].items() for part in _schema(*each)),
        "</main></body></html>",
    ]
    return "\n".join(parts)


def _operation(method: str, path: str, operation: Mapping[str, Any]) -> Iterator[str]:
    name = escape(operation["operationId"])
    yield f'<h2 id="{name}"><span class="method">{method.upper()}</span>{escape(path)}</h2>'
    yield f"<p>{escape(operation.get('description', ''))}</p>"
    parameters = operation.get("parameters", ())
    if parameters:
        yield "<table>"
        for each in parameters:
            wanted = "required" if each.get("required") else _default(each["schema"])
            yield _row(each["name"], _type(each["schema"]), each.get("description", ""), wanted)
        yield "</table>"
    body = operation.get("requestBody", {}).get("content", {}).get("application/json")
    if body:
        yield f"<p>Takes {_type(body['schema'])} as JSON.</p>"
    for status, answer in operation["responses"].items():
        for media, content in answer.get("content", {}).items():
            if status.startswith("2"):
                yield f"<p>Gives {_type(content.get('schema', {}))} as {escape(media)}.</p>"


def _schema(name: str, schema: Mapping[str, Any]) -> Iterator[str]:
    yield f'<h3 id="schema-{escape(name)}">{escape(name)}</h3>'
    yield f"<p>{escape(schema.get('description', ''))}</p><table>"
    for field, facts in schema.get("properties", {}).items():
        yield _row(field, _type(facts), facts.get("description", ""))
    yield "</table>"


def _row(name: str, *cells: str, attributes: str = "") -> str:
    """Return one row of a table; types are HTML, other cells are text."""
    texts = "".join(f"<td>{cell if cell.startswith('<') else escape(cell)}</td>" for cell in cells)
    return f"<tr{attributes}><td>{escape(name)}</td>{texts}</tr>"


def _type(schema: Mapping[str, Any]) -> str:
    """Return a type as HTML, with links to its parts."""
    return f"<span>{_inner_type(schema)}</span>"


def _inner_type(schema: Mapping[str, Any]) -> str:
    if "$ref" in schema:
        name = escape(schema["$ref"].rpartition("/")[2])
        return f'<a href="#schema-{name}">{name}</a>'
    for key in ("anyOf", "oneOf", "allOf"):
        if key in schema:
            return " or ".join(_inner_type(each) for each in schema[key])
    if "enum" in schema:
        return " | ".join(escape(str(value) or '""') for value in schema["enum"])
    if "const" in schema:
        return escape(str(schema["const"]))
    if schema.get("type") == "array":
        items = schema.get("items") or {}
        return f"list of {_inner_type(items)}" if items else "list"
    limits = [f"{sign} {schema[key]}" for key, sign in (("minimum", "≥"), ("maximum", "≤")) if key in schema]
    return escape(" ".join([str(schema.get("type", "anything")), *limits]))


def _default(schema: Mapping[str, Any]) -> str:
    default = schema.get("default")
    return f"default: {default}" if default not in (None, "", []) else ""
