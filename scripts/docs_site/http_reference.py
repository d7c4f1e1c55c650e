"""The reference of the HTTP API: the OpenAPI document of `dowse serve` as tables."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from dowse.interfaces.http.app import create_app


def http_reference() -> str:
    """Return the page."""
    document = create_app([]).openapi()
    parts = ["# HTTP API", "Made from `/api/v1/openapi.json`. [HTTP.md](../HTTP.md) explains its use."]
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            parts += [f"## {method.upper()} {path}", *_operation(operation)]
    parts.append("## Data")
    for name, schema in document["components"]["schemas"].items():
        parts += [f"### {name}", schema.get("description", ""), _fields(schema)]
    return "\n\n".join(filter(None, parts)) + "\n"


def _operation(operation: Mapping[str, Any]) -> list[str]:
    parts = [operation.get("description") or operation.get("summary", "")]
    if parameters := operation.get("parameters"):
        rows = [
            (f"`{each['name']}`", each["in"], _type(each["schema"]), each.get("description", ""))
            for each in parameters
        ]
        parts.append(_table(("parameter", "in", "type", "meaning"), rows))
    parts += [f"Body: {_type(schema)}" for schema in _schemas(operation.get("requestBody", {}))]
    rows = [
        (code, ", ".join(map(_type, _schemas(response))), response.get("description", ""))
        for code, response in operation["responses"].items()
    ]
    return [*parts, _table(("status", "body", "meaning"), rows)]


def _schemas(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [content.get("schema", {}) for content in message.get("content", {}).values()]


def _fields(schema: Mapping[str, Any]) -> str:
    if "properties" not in schema:
        return _type(schema)
    required = schema.get("required", [])
    rows = [
        (f"`{name}`", _type(each), "" if name in required else "optional", each.get("description", ""))
        for name, each in schema["properties"].items()
    ]
    return _table(("field", "type", "", "meaning"), rows)


def _type(schema: Mapping[str, Any]) -> str:
    """Return a type in words, with its choices, default and limits."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in schema:
        return " or ".join(_type(each) for each in schema["anyOf"])
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    text = str(schema.get("type", "any"))
    if choices := schema.get("enum"):
        text = ", ".join(f"`{choice}`" for choice in choices)
    limits = {"default": "default", "minimum": "from", "maximum": "to", "maxLength": "length up to"}
    return ", ".join(
        [text, *(f"{word} `{json.dumps(schema[key])}`" for key, word in limits.items() if key in schema)]
    )


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    cells = [[str(cell).replace("|", "\\|").replace("\n", " ") for cell in line] for line in lines]
    return "\n".join(f"| {' | '.join(line)} |" for line in cells)
