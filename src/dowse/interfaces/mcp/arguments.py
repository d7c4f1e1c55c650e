"""The arguments of each tool: pydantic models, and their JSON schemas for clients."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from dowse.errors import DowseError
from dowse.search.options import OPTIONS
from dowse.services.option_types import option_default, option_type

# An answer needs room for its head and one hit.
MIN_TOKENS, MAX_TOKENS = 300, 50_000
# Longer texts are no queries, or no names of symbols.
_MAX_QUERY, MAX_SYMBOL = 10_000, 1_000
# Keywords that schemas leave out: the values are checked, but the keywords cost tokens.
_OMITTED_KEYWORDS = frozenset(
    "title minLength maxLength maxItems minimum maximum additionalProperties".split()
)
# Clearer messages for some types of pydantic's errors.
_MESSAGES = {"extra_forbidden": "there is no such argument", "missing": "is needed"}


Detail = Literal["names", "snippets", "full"]
Mode = Literal["auto", "keyword", "embedding", "regex", "symbol"]
Relation = Literal["callers", "callees", "impact"]
# What an answer costs at most unless the call says otherwise; hits of a search need less.
_ANSWER_TOKENS, _HITS_TOKENS = 1_000, 800
_Repo = Annotated[
    str, Field(max_length=1_000, description="Name or folder of a repository, if there are several.")
]
_Budget = Annotated[
    int, Field(ge=MIN_TOKENS, le=MAX_TOKENS, description="Most tokens of the answer, 300 to 50000.")
]
_Symbol = Annotated[
    str,
    Field(
        min_length=1,
        max_length=MAX_SYMBOL,
        description="`Class.method`, `name`, or a line in it: `src/app.py:42`.",
    ),
]


class Arguments(BaseModel):
    """The base of all arguments."""

    model_config = ConfigDict(extra="forbid")
    # Arguments that are accepted, but listed only where all tools are: most calls do without.
    rare: ClassVar[frozenset[str]] = frozenset()


class StatusArguments(Arguments):
    """The arguments of `status`."""

    repo: _Repo = ""


_OPTION_FIELDS: dict[str, Any] = {
    spec.name: (Annotated[option_type(spec), Field(description=spec.help)], option_default(spec))
    for spec in OPTIONS.values()
    if spec.in_mcp
}


class SearchArguments(Arguments):
    """The arguments of `search` that are no search options."""

    rare = frozenset(["k", "mode", *_OPTION_FIELDS])
    query: Annotated[
        str,
        Field(
            min_length=1,
            max_length=_MAX_QUERY,
            description='What the code does in plain words, a name, "exact text" or /regex/. Filters may '
            "follow: lang:go path:src/** kind:class -path:vendor/**",
        ),
    ]
    detail: Annotated[
        Detail, Field(description="names: one line a hit; snippets: best lines; full: all lines.")
    ] = "snippets"
    max_tokens: _Budget = _HITS_TOKENS
    k: Annotated[int, Field(ge=1, le=100, description="Most hits.")] = 10
    offset: Annotated[int, Field(ge=0, le=900, description="Hits to skip.")] = 0
    mode: Annotated[
        Mode,
        Field(description="keyword: words alone; embedding: meaning alone; regex: lines; symbol: names."),
    ] = "auto"
    repo: _Repo = ""

    def options(self) -> dict[str, Any]:
        """Return the search options, as keyword arguments of `Index.search`."""
        return {name: getattr(self, name) for name in ("mode", *_OPTION_FIELDS)}


# With the search options as fields.
SEARCH_MODEL: type[SearchArguments] = create_model(
    "SearchArguments", __base__=SearchArguments, **_OPTION_FIELDS
)


class SymbolArguments(Arguments):
    """The arguments of `symbol`."""

    rare = frozenset(["neighbours"])
    symbol: _Symbol
    detail: Annotated[
        Detail, Field(description="names: no source; full: a class with all of its methods.")
    ] = "snippets"
    neighbours: Annotated[int, Field(ge=0, le=100, description="Most callers, and most callees.")] = 10
    max_tokens: _Budget = _ANSWER_TOKENS
    repo: _Repo = ""


class CallsArguments(Arguments):
    """The arguments of `calls`."""

    symbol: _Symbol
    relation: Annotated[Relation, Field(description="Which way to look.")] = "callers"
    depth: Annotated[int, Field(ge=0, le=20, description="Calls to follow; 0: as usual.")] = 0
    max_tokens: _Budget = _ANSWER_TOKENS
    repo: _Repo = ""


class RelatedArguments(Arguments):
    """The arguments of `related`."""

    symbol: _Symbol
    k: Annotated[int, Field(ge=1, le=50, description="Most neighbours.")] = 10
    detail: Annotated[Detail, Field(description="As for search.")] = "names"
    max_tokens: _Budget = _ANSWER_TOKENS
    repo: _Repo = ""


class ContextArguments(Arguments):
    """The arguments of `context`."""

    text: Annotated[
        str, Field(min_length=1, max_length=_MAX_QUERY, description="The issue or task, as it is.")
    ]
    max_tokens: _Budget = _ANSWER_TOKENS
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
    max_tokens: _Budget = _ANSWER_TOKENS
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


def input_schema(model: type[Arguments], *, rare: bool) -> dict[str, Any]:
    """Return the JSON schema of a tool's arguments, without keywords that cost tokens and say little."""
    schema: dict[str, Any] = _without_keywords(model.model_json_schema())
    schema.pop("description", None)
    listed = schema["properties"].items()
    schema["properties"] = {name: each for name, each in listed if rare or name not in model.rare}
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
