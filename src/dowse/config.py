"""Settings: flags override the environment, then come the project's file, the user's file, and the defaults.

Flags, environment and the user's file are trusted. The project's file comes with the repository, so it is
untrusted data: only settings of `PROJECT_SETTINGS` count, within bounds. All others are ignored with a note
until the user allows this very content with `dowse trust` (docs/SECURITY.md).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar, get_args

from dowse import runtime_paths
from dowse.errors import ConfigError
from dowse.security.safe_files import FileTooLarge, NotRegularFile, read_regular_file

PROJECT_FILE = ".dowse.toml"
USER_FILE = "config.toml"
_PREFIX = "DOWSE_"
Number = TypeVar("Number", int, float)
# Nobody writes more by hand; a larger file is no settings file.
_MAX_FILE_BYTES = 100_000
# Larger numbers overflow timers, SQLite or NumPy somewhere, and no setting needs them.
_MAX_INT, _MAX_FLOAT = 2**31 - 1, 1e6
_MAX_PATTERNS, _MAX_PATTERN_CHARS = 1_000, 1_000
_MAX_SHOWN_CHARS = 200

Mode = Literal["auto", "hybrid", "keyword", "tfidf", "embedding", "graph", "regex", "symbol"]
Fusion = Literal["auto", "blend", "rrf", "weighted", "convex", "intersection", "adaptive"]
Fuzziness = Literal["auto", "0", "1", "2"]
# Maximal marginal relevance; the best of each cluster; from each cluster its share.
Diversify = Literal["", "mmr", "cluster", "sample"]
# By location in the file tree (hyperbolic or Euclidean distance, or spectral on hops), or by embedding.
Clustering = Literal["hyperbolic", "euclidean", "spectral", "meaning"]

MODES: tuple[Mode, ...] = get_args(Mode)
FUSIONS: tuple[Fusion, ...] = get_args(Fusion)
ISOLATION = ("auto", "always", "never")
FUZZINESS: tuple[Fuzziness, ...] = get_args(Fuzziness)
DIVERSIFY: tuple[Diversify, ...] = get_args(Diversify)
CLUSTERINGS: tuple[Clustering, ...] = get_args(Clustering)
REFRESH = ("auto", "always", "never")
VIEWS = ("symbol", "docs")
VECTORS = ("auto", "exact", "approx")
DEVICES = ("auto", "cpu", "cuda")


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings; each field is also a key in the files, and DOWSE_<NAME> in the environment."""

    index_dir: str = ""  # where the index is stored; "" = the user's cache folder, by repository
    # A shared Elasticsearch cluster instead of a folder: `elastic://host:9200/NAME`; see docs/CLUSTER.md.
    backend: str = ""
    exclude: tuple[str, ...] = ()  # more gitignore patterns of files to leave out
    include_secrets: bool = False  # also index files that are secrets by name or content
    # Source files above this are data or bundles: parsing them costs seconds and finds nothing.
    max_file_bytes: int = 1_000_000
    strip_docs: bool = False  # leave docstrings and doc comments out of the index, for fair evaluation
    processes: int = max(1, os.cpu_count() or 1)  # parsing processes
    # Megabytes that indexing may take, all processes together; 0: 350 and 180 for each parsing process.
    memory: int = 0
    fuzziness: str = "auto"  # maximum edit distance of a term: auto, 0, 1 or 2
    relax_below: int = 100  # relax a query while it has fewer candidates than this
    candidates: int = 0  # per lane for ranking; 0: chosen by the shape of the index
    top_k: int = 10
    # auto checks for changed files before each search while the tree is small; see REFRESH_FILES.
    refresh: str = "auto"
    # The dense encoder: a shipped one, a folder, `hf:owner/name`, or "none" to do without.
    encoder: str = "base"
    view: str = "symbol"  # what is encoded of a symbol: "symbol", its code and documentation, or "docs" alone
    vectors: str = "auto"  # nearest-neighbour search: exact, approx, or auto by the number of vectors
    device: str = "auto"  # where encoders run: cpu, cuda, or auto by what is available
    threads: int = max(1, os.cpu_count() or 1)  # encoding threads
    # So many of a query's best candidates by words are encoded for it if they have no vector; 0 for none.
    encode_candidates: int = 200
    encode_seconds: float = 1.0  # within this time, the best first, if no table approximates the encoder
    background_embedding: bool = True  # go on embedding in the background after a search of the command line
    # A search leaves a process that answers the next ones and ends after so many idle minutes; 0 for none.
    warm_minutes: float = 10.0
    # Learn from the repository's commits where requests for a change lead (docs/RANKING.md).
    adapter: bool = True
    clusters: int = 50  # clusters of similar symbols for `dowse related`
    fusion: str = "auto"  # how lanes' rankings are fused; auto is what won on the average of all sets
    # What the fusions weigh: see docs/RANKING.md.
    rrf_k: int = 60  # the constant of reciprocal rank fusion: rrf, weighted, adaptive
    keyword_weight: float = 1.0  # of the lane, in weighted, adaptive and convex
    embedding_weight: float = 3.0
    graph_weight: float = 0.2
    lexical_weight: float = 1.0  # factor of the keyword lane and of coverage in blend
    lane_seconds: float = 3.0  # timeout of a lane that is ready; a late one is left out and named
    lane_start_seconds: float = 30.0  # timeout of a lane's start: a busy machine loads models slowly
    exact_seconds: float = 60.0  # timeout of the search for a phrase or pattern
    query_seconds: float = 120.0  # deadline of a query; what is not done in time is left out and named
    # Lanes in processes of their own: auto where several answer one query, always, or never (no timeouts).
    isolation: str = "auto"
    graph_depth: int = 2  # hops of a call graph query
    expand: bool = False  # pseudo-relevance feedback: add terms of the best hits to the query
    expand_documents: int = 5  # from so many hits
    expand_terms: int = 5  # so many terms
    rerank: bool = False  # rerank the best hits with a cross-encoder
    reranker: str = "rerank"  # the cross-encoder: a shipped one, or a folder
    rerank_candidates: int = 15  # twice as many cost twice the time and find nothing more
    rerank_weight: float = 0.3  # from 0, the first ranking, to 1, the cross-encoder's
    feedback: bool = True  # record clicks, on this machine alone, and boost what was chosen
    diversify: str = ""  # diversification of results; "" for none, see Diversify
    diversify_candidates: int = 100
    diversify_clusters: int = 10
    clustering: str = "euclidean"  # how candidates are clustered; see Clustering
    tree_dimension: int = 10  # of the ball that the file tree is embedded in; 2 is the Poincaré disk


# What a project's own file may set, and the largest number for it: which files are left out and how results
# are ranked. Nothing that names a path, host or model, or decides how much of the machine is used.
PROJECT_SETTINGS: Mapping[str, int | None] = {
    **dict.fromkeys(("exclude", "strip_docs", "fuzziness", "refresh", "view", "fusion", "expand")),
    **dict.fromkeys(("rerank", "rerank_weight", "feedback", "diversify", "clustering")),
    **dict.fromkeys(("keyword_weight", "embedding_weight", "graph_weight", "lexical_weight"), 100),
    "rrf_k": 1_000,
    "relax_below": 1_000,
    "candidates": 1_000,
    "top_k": 100,
    "clusters": 500,
    "graph_depth": 5,
    "expand_documents": 50,
    "expand_terms": 50,
    "rerank_candidates": 100,
    "diversify_candidates": 1_000,
    "diversify_clusters": 100,
    "tree_dimension": 64,
}
# Settings that may be relative paths: to the file that sets them, not to the working directory.
_PATHS = frozenset(["index_dir", "encoder", "reranker"])
# Settings from 0 to 1.
_FRACTIONS = frozenset(["rerank_weight"])
# Numbers that may be 0.
_MAY_BE_ZERO = frozenset(
    ["keyword_weight", "embedding_weight", "graph_weight", "lexical_weight", "warm_minutes"]
)
# Numbers that do not begin at 1: a tree can't be embedded in one dimension, and 0 candidates switch it off.
_MINIMUMS = {"tree_dimension": 2, "encode_candidates": 0}
_CHOICES: Mapping[str, tuple[str, ...]] = {
    "fuzziness": FUZZINESS,
    "refresh": REFRESH,
    "view": VIEWS,
    "vectors": VECTORS,
    "device": DEVICES,
    "fusion": FUSIONS,
    "isolation": ISOLATION,
    "diversify": DIVERSIFY,
    "clustering": CLUSTERINGS,
}
_DEFAULTS = {field.name: getattr(Settings(), field.name) for field in fields(Settings)}


class ProjectFile(NamedTuple):
    """The settings file of a repository."""

    path: Path
    content: bytes = b""
    values: Mapping[str, Any] = {}  # the settings that count
    declared: Mapping[str, Any] = {}  # all settings of the file
    ignored: tuple[str, ...] = ()  # settings that need the user's trust
    problem: str = ""  # why the file is not read at all

    @property
    def note(self) -> str:
        """One line for the user about what is ignored, "" if nothing is."""
        if self.problem:
            return f"{self.path} is ignored: {self.problem}"
        if not self.ignored:
            return ""
        return (
            f"{self.path}: ignored {', '.join(self.ignored)}: a repository may not choose "
            f"{'this' if len(self.ignored) == 1 else 'these'}; `dowse trust` allows it after a look"
        )


def load_settings(root: Path | None = None, **flags: object) -> Settings:
    """Return the settings for a repository; flags that are None count as not given."""
    values: dict[str, Any] = {}
    for source, settings in _sources(root):
        for key, value in settings.items():
            values[key] = _convert(key, value, source)
    for key, value in flags.items():
        if value is not None:
            values[key] = _convert(key, value, f"--{key.replace('_', '-')}")
    return replace(Settings(), **values)


def read_project_file(root: Path) -> ProjectFile:
    """Read the settings file of a repository, and decide which of its settings count."""
    path = (root if root.is_dir() else root.parent) / PROJECT_FILE
    try:
        content = read_regular_file(path, _MAX_FILE_BYTES)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return ProjectFile(path)
    except (NotRegularFile, FileTooLarge) as error:
        return ProjectFile(path, problem=str(error.strerror))
    declared = _parse_toml(path, content)
    # Unknown names are kept: they become errors.
    ignored = tuple(
        key for key, value in declared.items() if key in _DEFAULTS and not _is_harmless(key, value, path)
    )
    if ignored:
        from dowse.security.trust import is_trusted  # only here: nearly all repositories need no trust

        if is_trusted(trust_file(), path, content):
            ignored = ()
    values = {key: value for key, value in declared.items() if key not in ignored}
    if not ignored:
        values = {key: _resolve_path(path.parent, key, value) for key, value in values.items()}
    return ProjectFile(path, content, values, declared, ignored)


def _is_harmless(key: str, value: object, path: Path) -> bool:
    """Whether a repository may choose this value without the user's trust."""
    if key not in PROJECT_SETTINGS:
        return False
    # The converted value is checked, not its notation: "2_000" is a number, "a:!b" are two patterns.
    converted = _convert(key, value, str(path))
    if key == "exclude":
        # A negated pattern brings back what other rules leave out, such as files with secrets.
        return not any(pattern.startswith("!") for pattern in converted)
    limit = PROJECT_SETTINGS[key]
    return limit is None or converted <= limit


def index_folder(root: Path, settings: Settings) -> Path:
    """Return the folder of a repository's index."""
    if settings.index_dir:
        return Path(settings.index_dir).expanduser()
    return cache_folder() / "indexes" / _unique_name(root)


def feedback_file(root: Path) -> Path:
    """Return the feedback file of a repository, or of a shared index."""
    return data_folder() / "feedback" / f"{_unique_name(root)}.sqlite"


def index_command(settings: Settings) -> str:
    """Return the command that completes an index with these settings."""
    flags = [
        f" --{name} {value}"
        for name in ("encoder", "view")
        if (value := getattr(settings, name)) != _DEFAULTS[name]
    ]
    return "dowse index" + "".join(flags)


def cache_folder() -> Path:
    """Return the folder of files that can be rebuilt."""
    return Path(runtime_paths.cache_folder())


def data_folder() -> Path:
    """Return the folder of files that can't be rebuilt."""
    return Path(runtime_paths.data_folder())


def user_file() -> Path:
    """Return the user's own settings file; it need not exist."""
    path = os.environ.get("DOWSE_CONFIG")
    if path:
        return Path(path)
    base = os.environ.get("XDG_CONFIG_HOME") or str(Path("~/.config").expanduser())
    return Path(base) / "dowse" / USER_FILE


def trust_file() -> Path:
    """Return the record of the project files that the user trusts; it need not exist."""
    return user_file().with_name("trusted.json")


def _sources(root: Path | None) -> list[tuple[str, Mapping[str, Any]]]:
    """Return the settings of the files and the environment, the weakest source first."""
    user = user_file()
    values = {key: _resolve_path(user.parent, key, value) for key, value in _read_user_file(user).items()}
    sources: list[tuple[str, Mapping[str, Any]]] = [(str(user), values)]
    if root is not None:
        project = read_project_file(root)
        sources.append((str(project.path), project.values))
    names = {f"{_PREFIX}{key.upper()}": key for key in _DEFAULTS}
    environment = {names[key]: value for key, value in os.environ.items() if key in names and value}
    return [*sources, ("the environment", environment)]


def _resolve_path(folder: Path, key: str, value: object) -> object:
    """Return a path setting of a file relative to that file's folder; a plain name is no path."""
    if key not in _PATHS or not isinstance(value, str) or "\0" in value:
        return value
    if key != "index_dir" and ("/" not in value or value.startswith("hf:")):
        return value
    return str(folder / Path(value).expanduser()) if value else value


def _read_user_file(path: Path) -> dict[str, Any]:
    try:
        return _parse_toml(path, read_regular_file(path, _MAX_FILE_BYTES, follow_symlinks=True))
    except (FileNotFoundError, NotADirectoryError, PermissionError, NotRegularFile):
        return {}  # /dev/null is not regular: no settings
    except FileTooLarge as error:
        raise ConfigError(f"{path} is {error.strerror}; is it a settings file?") from None


def _parse_toml(path: Path, content: bytes) -> dict[str, Any]:
    import tomllib  # only when there is a file: starting up stays fast

    try:
        return tomllib.loads(content.decode())
    except (ValueError, RecursionError) as error:  # also of numbers with thousands of digits
        raise ConfigError(f"{path} is not valid TOML: {_truncate(error)}") from None


def _convert(key: str, value: Any, source: str) -> Any:  # noqa: ANN401 - settings have several types
    if key not in _DEFAULTS:
        known = ", ".join(sorted(_DEFAULTS))
        raise ConfigError(f"{source}: there is no setting `{_truncate(key)}`; there are {known}")
    default = _DEFAULTS[key]
    try:
        if isinstance(default, bool):
            return _to_bool(value)
        if isinstance(default, int):
            minimum = _MINIMUMS.get(key, 0 if default == 0 else 1)
            return _in_range(_to_int(value), minimum, _MAX_INT)
        if isinstance(default, float):
            return _to_float(value, is_fraction=key in _FRACTIONS, may_be_zero=key in _MAY_BE_ZERO)
        if isinstance(default, tuple):
            return _to_patterns(value)
        text = _to_text(value)
    except (ValueError, TypeError, OverflowError):
        raise ConfigError(f"{source}: `{key}` can't be {_truncate(repr(value))}") from None
    choices = _CHOICES.get(key)
    if choices and text not in choices:
        raise ConfigError(f"{source}: `{key}` is one of {', '.join(choices)}, not {_truncate(repr(value))}")
    return text


def _truncate(value: object) -> str:
    """Return a text of a file for a message: not a page of it."""
    text = str(value)
    return text if len(text) <= _MAX_SHOWN_CHARS else text[:_MAX_SHOWN_CHARS] + "…"


def _to_int(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise TypeError
    return int(value)


def _to_float(value: Any, *, is_fraction: bool, may_be_zero: bool) -> float:  # noqa: ANN401 - what a file says
    number = float(value)
    if is_fraction:
        return _in_range(number, 0.0, 1.0)
    if not number and not may_be_zero:
        raise ValueError
    return _in_range(number, 0.0, _MAX_FLOAT)


def _to_text(value: object) -> str:
    if not isinstance(value, str | int | float):
        raise TypeError
    text = str(value)
    if "\0" in text or "\n" in text:
        raise ValueError
    return text


def _to_patterns(value: object) -> tuple[str, ...]:
    patterns = value.split(os.pathsep) if isinstance(value, str) else value
    if not isinstance(patterns, list | tuple) or len(patterns) > _MAX_PATTERNS:
        raise TypeError
    if not all(isinstance(each, str) and len(each) <= _MAX_PATTERN_CHARS for each in patterns):
        raise TypeError
    return tuple(map(_to_text, patterns))


def _to_bool(value: object) -> bool:
    if isinstance(value, bool):
        return value
    text = str(value).lower()
    if text in ("1", "true", "yes", "on"):
        return True
    if text in ("0", "false", "no", "off"):
        return False
    raise ValueError


def _in_range(value: Number, minimum: Number, maximum: Number) -> Number:
    if not minimum <= value <= maximum:
        raise ValueError
    return value


def _unique_name(root: Path) -> str:
    """Return a file name for a repository that no other one has."""
    name = "".join(c if c.isalnum() or c in "-_." else "-" for c in root.name) or "root"
    return f"{name}-{runtime_paths.digest(root)}"
