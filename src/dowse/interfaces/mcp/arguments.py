"""The arguments of each tool: pydantic models, and their JSON schemas for clients."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from dowse.errors import DowseError
from dowse.search.options import OPTIONS
from dowse.services.option_types import option_default, option_type

# An answer needs room for its head and one hit.
MIN_TOKENS, MAX_TOKENS = 300, 50_000
# Longer texts are no queries, or no names of symbols.
_MAX_QUERY, MAX_SYMBOL = 10_000, 1_000
# Keywords that schemas leave out: the values are checked, but the keywords cost tokens.
_OMITTED_KEYWORDS = frozenset(["title", "minLength", "maxLength", "maxItems"])
# Clearer messages for some types of pydantic's errors.
_MESSAGES = {"extra_forbidden": "there is no such argument", "missing": "is needed"}


Detail = Literal["names", "snippets", "full"]
_Repo = Annotated[
    str, Field(max_length=1_000, description="Only this repository, by name or folder (see status).")
]
_Budget = Annotated[
    int,
    Field(ge=MIN_TOKENS, le=MAX_TOKENS, description="The answer is cut to so many tokens (bytes / 3)."),
]
_Symbol = Annotated[
    str,
    Field(
        min_length=1,
        max_length=MAX_SYMBOL,
        description="`Class.method`, `name`, `pkg.mod.name`, or any line in it: `src/app.py:42`.",
    ),
]


class Arguments(BaseModel):
    """The base of all arguments."""

    model_config = ConfigDict(extra="forbid")


class StatusArguments(Arguments):
    """The arguments of `status`."""

    repo: _Repo = ""


class SearchArguments(Arguments):
    """The arguments of `search` that are no search options."""

    query: Annotated[
        str,
        Field(
            min_length=1,
            max_length=_MAX_QUERY,
            description='What it does in plain words, a name, a question ("what calls X"), "exact phrase", '
            "/regex/; may hold filters: lang:go path:src/** kind:class -test -path:vendor/**.",
        ),
    ]
    detail: Annotated[
        Detail,
        Field(description="names: one line a hit, cheapest; snippets: telling lines; full: whole symbols."),
    ] = "snippets"
    max_tokens: _Budget = 2_000
    k: Annotated[int, Field(ge=1, le=100, description="Most hits.")] = 10
    offset: Annotated[int, Field(ge=0, le=900, description="Hits to skip, for the next page.")] = 0
    repo: _Repo = ""

    def options(self) -> dict[str, Any]:
        """Return the search options, as keyword arguments of `Index.search`."""
        return {name: getattr(self, name) for name in _OPTION_FIELDS}


_OPTION_FIELDS: dict[str, Any] = {
    spec.name: (Annotated[option_type(spec), Field(description=spec.help)], option_default(spec))
    for spec in OPTIONS.values()
    if spec.in_mcp
}
# With the search options as fields.
SEARCH_MODEL: type[SearchArguments] = create_model(
    "SearchArguments", __base__=SearchArguments, **_OPTION_FIELDS
)


class SymbolArguments(Arguments):
    """The arguments of `symbol`."""

    symbol: _Symbol
    detail: Annotated[
        Detail,
        Field(
            description="names: no source; snippets: its own text; full: all lines, a class with its methods."
        ),
    ] = "snippets"
    neighbours: Annotated[int, Field(ge=0, le=100, description="Most callers, and most callees.")] = 10
    max_tokens: _Budget = 2_000
    repo: _Repo = ""


class GraphArguments(Arguments):
    """The arguments of `callers`, `callees` and `impact`."""

    symbol: _Symbol
    depth: Annotated[
        int, Field(ge=0, le=20, description="Hops to walk; 0: callers, callees 1, impact 3.")
    ] = 0
    max_tokens: _Budget = 2_000
    repo: _Repo = ""


class RelatedArguments(Arguments):
    """The arguments of `related`."""

    symbol: _Symbol
    k: Annotated[int, Field(ge=1, le=50, description="Most neighbours.")] = 10
    detail: Annotated[Detail, Field(description="As for search.")] = "names"
    max_tokens: _Budget = 1_000
    repo: _Repo = ""


class ContextArguments(Arguments):
    """The arguments of `context`."""

    text: Annotated[
        str, Field(min_length=1, max_length=_MAX_QUERY, description="The issue or question, as it is.")
    ]
    max_tokens: _Budget = 8_000
    repo: _Repo = ""


class LogArguments(Arguments):
    """The arguments of `log`."""

    query: Annotated[
        str,
        Field(
            min_length=1,
            max_length=_MAX_QUERY,
            description="What was done; filters: author:x since:2024-05 path:src/** symbol:name.",
        ),
    ]
    k: Annotated[int, Field(ge=1, le=50, description="Most commits.")] = 10
    max_tokens: _Budget = 1_000
    repo: _Repo = ""


class BadArguments(DowseError):
    """Invalid arguments."""


def parse_arguments(model: type[Arguments], arguments: dict[str, Any] | None) -> Arguments:
    """Return the arguments of a call; raise with what to correct if they are invalid."""
    try:
        return model.model_validate(arguments or {})
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(map(str, each['loc']))}: {_MESSAGES.get(each['type'], each['msg'])}"
            for each in error.errors()
        )
        names = ", ".join(
            name + ("*" if field.is_required() else "") for name, field in model.model_fields.items()
        )
        raise BadArguments(
            f"{problems}. The tool takes {names} (* needed); correct the arguments and call again"
        ) from None


def input_schema(model: type[Arguments]) -> dict[str, Any]:
    """Return the JSON schema of a tool's arguments, without keywords that cost tokens and say little."""
    schema: dict[str, Any] = _without_keywords(model.model_json_schema())
    schema.pop("description", None)
    return schema


def _without_keywords(value: Any) -> Any:  # noqa: ANN401 - any JSON
    if isinstance(value, dict):
        # An argument may have the name of a keyword; its value is then a schema.
        return {
            name: _without_keywords(each)
            for name, each in value.items()
            if name not in _OMITTED_KEYWORDS or isinstance(each, dict)
        }
    return [_without_keywords(each) for each in value] if isinstance(value, list) else value
