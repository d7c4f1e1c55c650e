"""The JSON schemas of structured answers: those of the command line and of HTTP."""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from pydantic import BaseModel

# The schemas' folder in the repository; in a wheel they are in the package.
_REPOSITORY = Path(__file__).resolve().parents[4] / "docs"


@cache
def search_schema() -> dict[str, Any]:
    """Return the schema of an answer to `search` (docs/answer.schema.json)."""
    return _without_id(_read("answer.schema.json"))


@cache
def graph_schema() -> dict[str, Any]:
    """Return the schema of a graph answer (docs/graph.schema.json); errors are text."""
    whole = _read("graph.schema.json")
    shared = {name: each for name, each in whole["$defs"].items() if name not in ("answer", "question")}
    return _without_id({**whole["$defs"]["answer"], "$defs": shared})


@cache
def model_schema(model: type[BaseModel]) -> dict[str, Any]:
    """Return the schema of an answer of the HTTP API."""
    return model.model_json_schema(mode="serialization")


def _without_id(schema: dict[str, Any]) -> dict[str, Any]:
    """Remove `$id`, a file name that means nothing inside a list of tools."""
    return {name: value for name, value in schema.items() if name != "$id"}


def _read(name: str) -> dict[str, Any]:
    packaged = resources.files("dowse").joinpath("schemas", name)
    text = packaged.read_text("utf-8") if packaged.is_file() else (_REPOSITORY / name).read_text("utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema
