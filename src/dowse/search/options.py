"""Every option of a search, declared once.

`Index.search` takes the fields of `SearchOptions` as keyword arguments. The command line derives its flags
from them, HTTP its query parameters, MCP its tool arguments and evaluation the switches of its
configurations: a new option is one field here, and the code that acts on it.

Loads no more than `lazy_classes` and `typing`, for every command starts here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from dowse.config import (
    CLUSTERINGS,
    DIVERSIFY,
    FUSIONS,
    FUZZINESS,
    MODES,
    Clustering,
    Diversify,
    Fusion,
    Fuzziness,
    Mode,
    Settings,
)
from dowse.errors import DowseError
from dowse.lazy_classes import NamedTuple, dataclass, field, fields

if TYPE_CHECKING:
    from dataclasses import Field

# The order of lanes breaks ties, whichever lane answers first.
LANE_ORDER = ("keyword", "tfidf", "embedding", "graph")
# The lanes that the planner chooses from; tfidf answers on request only.
PLANNED_LANES = ("keyword", "embedding", "graph")
MODE_LANES: Mapping[str, tuple[str, ...]] = {
    "keyword": ("keyword",),
    "tfidf": ("tfidf",),
    "symbol": ("keyword",),
    "embedding": ("embedding",),
    "hybrid": ("keyword", "embedding"),
    "graph": ("graph",),
    "regex": (),
}
Kind = Literal["bool", "int", "float", "text", "choice", "list"]
_KINDS: Mapping[type, Kind] = {bool: "bool", int: "int", float: "float", str: "text", tuple: "list"}


class OptionSpec(NamedTuple):
    """What interfaces need to know of an option to derive a flag, a parameter or an argument from it."""

    name: str
    kind: Kind
    help: str
    choices: tuple[str, ...] = ()
    setting: str = ""  # the setting that holds the default, "" if there is none
    flags: tuple[str, ...] = ()  # on the command line; () for none
    metavar: str = ""
    value_without: str = ""  # of a flag without a value, where that is allowed
    in_http: bool = True
    in_mcp: bool = False  # each argument costs agents tokens in every session: only the useful ones
    maximum: float = 0  # of numbers; 0 for none
    switch: str = ""  # in names of evaluation configurations: `auto+rerank`


def option(default: Any, help: str, **spec: Any) -> Any:  # noqa: ANN401 - as `field`
    """Declare a field with its `OptionSpec`; kind and flag are derived from default and name unless given."""
    return field(default=default, metadata={"help": help, "spec": spec})


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOptions:
    """How a query is answered. `make_options` takes what is missing from the settings."""

    k: int = option(
        10,
        "how many hits; 0 for all hits of an exact search",
        setting="top_k",
        flags=("-k", "--top-k"),
        metavar="N",
        in_http=False,  # interfaces with pages have a parameter of their own
    )
    mode: Mode = option(
        "auto",
        "which lanes answer; auto lets the planner choose, regex lists exact lines, symbol matches names",
        choices=MODES,
    )
    plain: bool = option(False, "take the query as words: no filters, quotes or regexes", in_mcp=True)
    filters: str = option("", "more of the query language that must hold too, e.g. `lang:go -test`", flags=())
    lang: tuple[str, ...] = option((), "only these languages", metavar="L", in_mcp=True)
    path: tuple[str, ...] = option(
        (), "only paths like these globs", flags=("-g", "--path", "--glob"), metavar="GLOB", in_mcp=True
    )
    # Of the command line, where it is the folder or file that a search is started in.
    within: str = option("", "only this file, or what is below this folder", flags=(), in_http=False)
    # Of `dowse diff-search`: what a branch changed.
    rows: tuple[int, ...] = option((), "only these rows of the index", flags=(), in_http=False)
    exclude: tuple[str, ...] = option(
        (), "no paths like these globs", flags=("--not-path",), metavar="GLOB", in_mcp=True
    )
    kind: tuple[str, ...] = option(
        (),
        "only these kinds of symbols: function, method, class, interface, struct, enum, constant, …",
        metavar="K",
        in_mcp=True,
    )
    lanes: tuple[str, ...] = option(
        (),
        f"these lanes instead of the planner's, separated by commas: {', '.join(LANE_ORDER)}",
        kind="text",
        metavar="L,L",
    )
    fusion: Fusion = option("auto", "how the rankings of lanes are fused", choices=FUSIONS, setting="fusion")
    explain: bool = option(False, "show the plan, and what each score is made of")
    fuzziness: Fuzziness = option(
        "auto", "edit distance within which words still match", choices=FUZZINESS, setting="fuzziness"
    )
    min_score: float = option(
        0.0,
        "leave out weaker hits: by confidence (0 to 1) where the embedding lane answers, else by score",
        metavar="S",
        maximum=1e6,
    )
    expand: bool = option(
        False,
        "expand the query with terms of the best hits (pseudo-relevance feedback)",
        setting="expand",
        switch="expand",
    )
    rerank: bool = option(
        False, "rerank the best hits with a cross-encoder (slower)", setting="rerank", switch="rerank"
    )
    feedback: bool = option(True, "rank what was chosen for this query before higher", setting="feedback")
    diversify: Diversify = option(
        "",
        "keep similar hits apart: by maximal marginal relevance (mmr), the best of each cluster (cluster), "
        "or from each cluster its share (sample)",
        choices=DIVERSIFY,
        setting="diversify",
        value_without="mmr",
    )
    clustering: Clustering = option(
        "euclidean",
        "what clusters go by: location in the tree (the first three), or meaning",
        choices=CLUSTERINGS,
        setting="clustering",
    )
    page_size: int = option(
        0, "hits that a reader sees together: `sample` shares out so many; 0 for k", flags=(), maximum=100
    )


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A query and how it is answered."""

    text: str
    options: SearchOptions = SearchOptions()


def _spec(declared: Field[Any]) -> OptionSpec:
    spec = dict(declared.metadata["spec"])
    kind = spec.pop("kind", "choice" if "choices" in spec else _KINDS[type(declared.default)])
    spec.setdefault("flags", (f"--{declared.name.replace('_', '-')}",))
    return OptionSpec(declared.name, kind, declared.metadata["help"], **spec)


OPTIONS: Mapping[str, OptionSpec] = {each.name: _spec(each) for each in fields(SearchOptions)}


def make_options(settings: Settings, **options: Any) -> SearchOptions:  # noqa: ANN401 - options have several types
    """Return checked options; what is missing or None comes from the settings, else from the defaults.

    Raises:
        DowseError: An option does not exist or has a wrong value.
    """
    values = {spec.name: getattr(settings, spec.setting) for spec in OPTIONS.values() if spec.setting}
    for name, value in options.items():
        spec = OPTIONS.get(name)
        if spec is None:
            raise DowseError(f"a search has no option `{name}`; there are {', '.join(OPTIONS)}")
        if value is not None:
            values[name] = _checked(spec, value)
    return SearchOptions(**values)


def _checked(spec: OptionSpec, value: Any) -> Any:  # noqa: ANN401 - options have several types
    if spec.name == "lanes":
        return parse_lanes(value) if value else ()
    if spec.choices and value not in spec.choices:
        names = ", ".join(filter(None, spec.choices)) + (', or "" for none' if "" in spec.choices else "")
        raise DowseError(f"`{spec.name}` is one of {names}, not {value!r}")
    if spec.kind in ("int", "float") and value < 0:
        raise DowseError(f"`{spec.name}` can't be below 0, as {value} is")
    if spec.kind == "list":
        return (value,) if isinstance(value, str) else tuple(value)
    return value


def parse_lanes(text: str | Sequence[str]) -> tuple[str, ...]:
    """Return the lanes of `keyword,graph`, in their fixed order."""
    names = [each.strip() for each in (text.split(",") if isinstance(text, str) else text)]
    unknown = [name for name in names if name not in LANE_ORDER]
    if unknown or not names:
        raise DowseError(f"lanes are {', '.join(LANE_ORDER)}, not {', '.join(unknown) or 'none'}")
    return tuple(lane for lane in LANE_ORDER if lane in names)
