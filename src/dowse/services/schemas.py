"""Schemas of declared types, by pydantic: OpenAPI, the tools of MCP and two files in docs come from them."""

from __future__ import annotations

from functools import cache
from types import UnionType
from typing import Any, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, create_model

from dowse.answer import Answer
from dowse.graph.model import AmbiguousAnswer, GraphAnswer
from dowse.json_form import is_declared, json_fields
from dowse.services.merge import SearchPage


@cache
def model(kind: type) -> type[BaseModel]:
    """Return the pydantic model of a declared type's JSON form."""
    return _create(kind, {each.name: _field_type(each.type) for each in json_fields(kind)})


@cache
def document_model(kind: type) -> type[BaseModel]:
    """Return the same with the fields that a document begins with."""
    fields = {each.name: _field_type(each.type) for each in json_fields(kind)}
    return _create(kind, {"schema": int, "dowse": str, **fields})


def json_schema(*kinds: type) -> dict[str, Any]:
    """Return the JSON schema of documents of a type, or of one of several."""
    one_of: Any = Union[tuple(map(document_model, kinds))]  # noqa: UP007 - of any number
    schema = TypeAdapter(one_of).json_schema(mode="serialization")
    plain: dict[str, Any] = _without_titles(schema)
    return plain


def published_schemas() -> dict[str, dict[str, Any]]:
    """Return the schemas of what commands print, by their file in docs; `scripts/schemas` writes them."""
    return {
        "answer.schema.json": json_schema(Answer, SearchPage),
        "graph.schema.json": json_schema(GraphAnswer, AmbiguousAnswer),
    }


def _without_titles(schema: Any) -> Any:  # noqa: ANN401 - any JSON
    """Leave out pydantic's titles of fields, which repeat their names."""
    if isinstance(schema, dict):
        return {
            name: _without_titles(each)
            for name, each in schema.items()
            if name != "title" or not isinstance(each, str)
        }
    return [_without_titles(each) for each in schema] if isinstance(schema, list) else schema


def _create(kind: type, types: dict[str, Any]) -> type[BaseModel]:
    fields: dict[str, Any] = {}
    for name, each in types.items():
        # Some names are those of pydantic's own attributes.
        is_taken = hasattr(BaseModel, name)
        fields[f"{name}_" if is_taken else name] = (each, Field(alias=name) if is_taken else ...)
    config = ConfigDict(extra="forbid")
    return create_model(kind.__name__, __doc__=kind.__doc__, __config__=config, **fields)


def _field_type(kind: Any) -> Any:  # noqa: ANN401 - types
    if is_declared(kind):
        return model(kind)
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return Union[tuple(map(_field_type, arguments))]  # noqa: UP007 - of any number
    if origin is list or (origin is tuple and arguments[-1] is Ellipsis):
        return list[_field_type(arguments[0])]  # type: ignore[misc]
    return kind
