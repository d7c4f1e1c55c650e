"""What each tool takes: the models that arguments are checked by, and their schemas for clients."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from dowse.errors import DowseError
from dowse.interfaces.http.choices import Mode

# An answer needs room for its head and one hit.
LEAST_TOKENS, MOST_TOKENS = 300, 50_000
# Longer texts are no questions.
_MOST_QUERY = 10_000


# Keywords of schemas that are checked, but not listed.
_UNTOLD = frozenset(["title", "minLength", "maxLength", "maxItems"])


def _listed(value: object) -> object:
    """Take one text for a list of it: agents write both."""
    return [value] if isinstance(value, str) else value


Texts = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=500)]],
    BeforeValidator(_listed),
    Field(max_length=20),
]
Detail = Literal["names", "snippets", "full"]
_Repo = Annotated[
    str, Field(max_length=1_000, description="Only this repository, by name or folder (see status).")
]
_Budget = Annotated[
    int,
    Field(ge=LEAST_TOKENS, le=MOST_TOKENS, description="The answer is cut to so many tokens (bytes / 3)."),
]
_Symbol = Annotated[
    str,
    Field(
        min_length=1,
        max_length=1_000,
        description="`Class.method`, `name`, `pkg.mod.name`, or any line in it: `src/app.py:42`.",
    ),
]


class Arguments(BaseModel):
    """What all tools have in common."""

    model_config = ConfigDict(extra="forbid")


class StatusArguments(Arguments):
    """What `status` takes."""

    repo: _Repo = ""


class SearchArguments(Arguments):
    """What `search` takes."""

    query: Annotated[
        str,
        Field(
            min_length=1,
            max_length=_MOST_QUERY,
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
    mode: Annotated[
        Mode,
        Field(
            description="auto picks by the query; regex: exact lines; symbol: by name; keyword: words only."
        ),
    ] = "auto"
    lang: Annotated[Texts, Field(description="Only these languages.")] = []
    path: Annotated[Texts, Field(description="Only paths like these globs.")] = []
    exclude: Annotated[Texts, Field(description="No paths like these globs.")] = []
    kind: Annotated[
        Texts, Field(description="Only these: function, method, class, interface, struct, enum, constant, …")
    ] = []
    min_score: Annotated[
        float, Field(ge=0, le=1e6, description="Leave out hits less likely relevant than this (0 to 1).")
    ] = 0.0
    plain: Annotated[bool, Field(description="Take the query as words: no filters, quotes or regexes.")] = (
        False
    )
    repo: _Repo = ""


class SymbolArguments(Arguments):
    """What `symbol` takes."""

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
    """What `callers`, `callees` and `impact` take."""

    symbol: _Symbol
    depth: Annotated[
        int, Field(ge=0, le=20, description="Hops to walk; 0: callers, callees 1, impact 3.")
    ] = 0
    max_tokens: _Budget = 2_000
    repo: _Repo = ""


class RelatedArguments(Arguments):
    """What `related` takes."""

    symbol: _Symbol
    k: Annotated[int, Field(ge=1, le=50, description="Most neighbours.")] = 10
    detail: Annotated[Detail, Field(description="As for search.")] = "names"
    max_tokens: _Budget = 1_000
    repo: _Repo = ""


class BadArguments(DowseError):
    """Arguments that a tool does not take."""


def checked(model: type[Arguments], given: dict[str, Any] | None) -> Arguments:
    """Return the arguments of a call; raise with what to mend if they can't be used."""
    try:
        return model.model_validate(given or {})
    except ValidationError as error:
        wrong = "; ".join(_said(each["loc"], str(each["msg"])) for each in error.errors())
        takes = ", ".join(
            name + ("*" if field.is_required() else "") for name, field in model.model_fields.items()
        )
        raise BadArguments(
            f"{wrong}. The tool takes {takes} (* needed); mend the arguments and call again"
        ) from None


def _said(place: tuple[int | str, ...], message: str) -> str:
    """Return one problem in words; pydantic speaks of extra inputs where we mean unknown names."""
    name = ".".join(map(str, place))
    unknown = {"Extra inputs are not permitted": "there is no such argument", "Field required": "is needed"}
    return f"{name}: {unknown.get(message, message)}"


def input_schema(model: type[Arguments]) -> dict[str, Any]:
    """Return the schema of a tool's arguments, without what costs tokens and tells an agent little."""
    schema: dict[str, Any] = _plain(model.model_json_schema())
    schema.pop("description", None)
    return schema


def _plain(value: Any) -> Any:  # noqa: ANN401 - any JSON
    if isinstance(value, dict):
        # An argument may be called like a keyword; its value is then a schema.
        kept = ((name, each) for name, each in value.items() if name not in _UNTOLD or isinstance(each, dict))
        return {name: _plain(each) for name, each in kept}
    return [_plain(each) for each in value] if isinstance(value, list) else value
