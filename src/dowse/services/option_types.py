"""Types and limits of search options for pydantic: HTTP parameters and MCP arguments derive from them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from dowse.search.options import OptionSpec, SearchOptions

_MAX_TEXT, _MAX_ITEM, _MAX_ITEMS = 2_000, 500, 20


def _as_list(value: object) -> object:
    """Take one text for a list of it: agents write both."""
    return [value] if isinstance(value, str) else value


_Item = Annotated[str, Field(min_length=1, max_length=_MAX_ITEM)]
_List = Annotated[list[_Item], BeforeValidator(_as_list), Field(max_length=_MAX_ITEMS)]


def option_type(spec: OptionSpec) -> Any:  # noqa: ANN401 - a type
    """Return the type of an option, with its limits."""
    if spec.kind == "choice":
        return Literal[spec.choices]
    if spec.kind == "list":
        return _List
    if spec.kind == "text":
        return Annotated[str, Field(max_length=_MAX_TEXT)]
    if spec.kind == "bool":
        return bool
    number = int if spec.kind == "int" else float
    return Annotated[number, Field(ge=0, le=spec.maximum or None)]


def option_default(spec: OptionSpec) -> Any:  # noqa: ANN401 - options have several types
    """Return the default of an option for a schema; None where the settings decide."""
    if spec.setting:
        return None
    default = getattr(SearchOptions(), spec.name)
    if spec.kind == "text":
        return ""  # lanes are written as text
    return list(default) if spec.kind == "list" else default
