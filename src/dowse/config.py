"""Settings: flags override the environment, then come the project's file, the user's file, and the defaults.

Flags, environment and the user's file are trusted. The project's file comes with the repository, so it is
untrusted data: only settings that are declared for it count, within bounds. All others are ignored with a
note (docs/SECURITY.md).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from dowse import runtime_paths
from dowse.errors import ConfigError
from dowse.lazy_classes import NamedTuple, dataclass, field, fields, replace
from dowse.security.safe_files import FileTooLarge, NotRegularFile, read_regular_file

if TYPE_CHECKING:
    from dataclasses import Field

PROJECT_FILE = ".dowse.toml"
USER_FILE = "config.toml"
_PREFIX = "DOWSE_"
# Nobody writes more by hand; a larger file is no settings file.
_MAX_FILE_BYTES = 100_000
# Larger numbers overflow timers, SQLite or NumPy somewhere, and no setting needs them.
_MAX_INT, _MAX_FLOAT = 2**31 - 1, 1e6
_MAX_PATTERNS, _MAX_PATTERN_CHARS = 1_000, 1_000
_MAX_SHOWN_CHARS = 200
_TRUE, _FALSE = frozenset(["1", "true", "yes", "on"]), frozenset(["0", "false", "no", "off"])

Mode = Literal["auto", "hybrid", "keyword", "tfidf", "embedding", "graph", "regex", "symbol"]
Fusion = Literal["auto", "blend", "rrf", "weighted", "convex", "intersection", "adaptive"]
Fuzziness = Literal["auto", "0", "1", "2"]
# Maximal marginal relevance; the best of each cluster; from each cluster its share.
Diversify = Literal["", "mmr", "cluster", "sample"]
View = Literal["symbol", "docs"]
VectorSearch = Literal["auto", "exact", "approx"]
Device = Literal["auto", "cpu", "cuda"]
When = Literal["auto", "always", "never"]
# By location in the file tree (hyperbolic or Euclidean distance, or spectral on hops), or by embedding.
Clustering = Literal["hyperbolic", "euclidean", "spectral", "meaning"]

MODES: tuple[Mode, ...] = get_args(Mode)
FUSIONS: tuple[Fusion, ...] = get_args(Fusion)
FUZZINESS: tuple[Fuzziness, ...] = get_args(Fuzziness)
DIVERSIFY: tuple[Diversify, ...] = get_args(Diversify)
CLUSTERINGS: tuple[Clustering, ...] = get_args(Clustering)
_WHEN: tuple[When, ...] = get_args(When)
_CORES = max(1, os.cpu_count() or 1)


class SettingSpec(NamedTuple):
    """What is known of a setting beside its value: checks, flags and docs come from here."""

    name: str
    default: Any
    help: str
    choices: tuple[str, ...] = ()
    minimum: float = 0
    # Whether the project's own file may choose it: which files are left out and how results are ranked, but
    # nothing that names a path, host or model, or decides how much of the machine is used.
    project: bool = False
    project_maximum: float = 0  # of numbers in the project's own file; 0 for the same as elsewhere
    is_path: bool = False  # relative to the file that sets it, not to the working directory
    shown_default: str = ""  # where the default is not the same everywhere


def setting(default: Any, help: str, **spec: Any) -> Any:  # noqa: ANN401 - as `field`
    """Declare a field of `Settings` with its `SettingSpec`."""
    return field(default=default, metadata={"help": help, "spec": spec})


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings; each field is also a key in the files, and DOWSE_<NAME> in the environment."""

    index_dir: str = setting("", "folder of the index", is_path=True, shown_default="in the user's cache")
    backend: str = setting("", "a shared index: elastic://host:9200/NAME (docs/CLUSTER.md)")
    exclude: tuple[str, ...] = setting((), "files to leave out; same syntax as .gitignore", project=True)
    include_secrets: bool = setting(False, "index secrets too: .env, private keys, credentials")
    # Source files above this are data or bundles: parsing them costs seconds and finds nothing.
    max_file_bytes: int = setting(1_000_000, "larger files are left out", minimum=1)
    strip_docs: bool = setting(
        False, "leave documentation out of the index, for fair evaluation", project=True
    )
    processes: int = setting(_CORES, "parsing processes", minimum=1, shown_default="all cores")
    encoder: str = setting("base", "base, small, a model's folder, hf:owner/name, or none", is_path=True)
    view: str = setting(
        "symbol", "encode whole symbols, or only their docs", choices=get_args(View), project=True
    )
    vectors: str = setting(
        "auto", "nearest-neighbour search, auto by the number of vectors", choices=get_args(VectorSearch)
    )
    device: str = setting("auto", "device that encoders run on", choices=get_args(Device))
    threads: int = setting(_CORES, "encoding threads", minimum=1, shown_default="all cores")
    resident_minutes: float = setting(
        10.0, "idle minutes of the process that a search leaves to embed and to answer the next ones; 0: none"
    )
    adapter: bool = setting(True, "learn from commits where requests for a change lead (docs/RANKING.md)")
    refresh: str = setting(
        "auto",
        "update the index with changed files before a search, auto in trees of up to 5,000 files",
        choices=_WHEN,
    )
    top_k: int = setting(10, "hits of an answer", minimum=1, project=True, project_maximum=100)
    fuzziness: str = setting(
        "auto", "edit distance within which words still match", choices=FUZZINESS, project=True
    )
    fusion: str = setting("auto", "how the rankings of lanes are fused", choices=FUSIONS, project=True)
    expand: bool = setting(False, "expand the query with terms of the best hits", project=True)
    rerank: bool = setting(False, "rerank the best hits with a cross-encoder", project=True)
    reranker: str = setting("rerank", "the cross-encoder: rerank (shipped), or a folder", is_path=True)
    feedback: bool = setting(
        True, "record clicks, on this machine alone, and rank what was chosen higher", project=True
    )
    diversify: str = setting("", "keep similar hits apart", choices=DIVERSIFY, project=True)
    clustering: str = setting("euclidean", "what clusters go by", choices=CLUSTERINGS, project=True)
    lane_seconds: float = setting(3.0, "timeout of a lane; a late one is left out and named", minimum=0.001)
    exact_seconds: float = setting(60.0, "timeout of the search for a phrase or pattern", minimum=0.001)
    query_seconds: float = setting(
        120.0, "deadline of a query; what is not done in time is left out and named", minimum=0.001
    )
    isolation: str = setting(
        "auto",
        "lanes in processes of their own, auto where several answer one query; never: no timeouts",
        choices=_WHEN,
    )


def _spec(declared: Field[Any]) -> SettingSpec:
    return SettingSpec(
        declared.name, declared.default, declared.metadata["help"], **declared.metadata["spec"]
    )


SETTINGS: Mapping[str, SettingSpec] = {each.name: _spec(each) for each in fields(Settings)}


class ProjectFile(NamedTuple):
    """The settings file of a repository."""

    path: Path
    values: Mapping[str, Any] = {}  # the settings that count
    ignored: tuple[str, ...] = ()  # settings that only the user may choose
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
            f"{'this' if len(self.ignored) == 1 else 'these'}; set it in {user_file()} if you want it"
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
        key for key, value in declared.items() if key in SETTINGS and not _is_harmless(key, value, path)
    )
    values = {key: value for key, value in declared.items() if key not in ignored}
    return ProjectFile(path, values, ignored)


def _is_harmless(key: str, value: object, path: Path) -> bool:
    """Whether a repository may choose this value."""
    spec = SETTINGS[key]
    if not spec.project:
        return False
    # The converted value is checked, not its notation: "2_000" is a number, "a:!b" are two patterns.
    converted = _convert(key, value, str(path))
    if key == "exclude":
        # A negated pattern brings back what other rules leave out, such as files with secrets.
        return not any(pattern.startswith("!") for pattern in converted)
    return not spec.project_maximum or converted <= spec.project_maximum


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
        if (value := getattr(settings, name)) != SETTINGS[name].default
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


def _sources(root: Path | None) -> list[tuple[str, Mapping[str, Any]]]:
    """Return the settings of the files and the environment, the weakest source first."""
    user = user_file()
    values = {key: _resolve_path(user.parent, key, value) for key, value in _read_user_file(user).items()}
    sources: list[tuple[str, Mapping[str, Any]]] = [(str(user), values)]
    if root is not None:
        project = read_project_file(root)
        sources.append((str(project.path), project.values))
    names = {f"{_PREFIX}{key.upper()}": key for key in SETTINGS}
    environment = {names[key]: value for key, value in os.environ.items() if key in names and value}
    return [*sources, ("the environment", environment)]


def _resolve_path(folder: Path, key: str, value: object) -> object:
    """Return a path setting of a file relative to that file's folder; a plain name is no path."""
    is_path = key in SETTINGS and SETTINGS[key].is_path
    if not is_path or not isinstance(value, str) or "\0" in value:
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
    spec = SETTINGS.get(key)
    if spec is None:
        known = ", ".join(sorted(SETTINGS))
        raise ConfigError(f"{source}: there is no setting `{_truncate(key)}`; there are {known}")
    try:
        converted = _to_type(spec, value)
    except (ValueError, TypeError, OverflowError):
        raise ConfigError(f"{source}: `{key}` can't be {_truncate(repr(value))}") from None
    if spec.choices and converted not in spec.choices:
        choices = ", ".join(spec.choices)
        raise ConfigError(f"{source}: `{key}` is one of {choices}, not {_truncate(repr(value))}")
    return converted


def _truncate(value: object) -> str:
    """Return a text of a file for a message: not a page of it."""
    text = str(value)
    return text if len(text) <= _MAX_SHOWN_CHARS else text[:_MAX_SHOWN_CHARS] + "…"


def _to_type(spec: SettingSpec, value: Any) -> Any:  # noqa: ANN401 - what a file says
    """Return a value as the type of a setting's default, within its bounds."""
    if isinstance(spec.default, bool):
        return _to_bool(value)
    if isinstance(spec.default, tuple):
        return _to_patterns(value)
    if isinstance(spec.default, str):
        return _to_text(value)
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise TypeError
    number = type(spec.default)(value)
    if not spec.minimum <= number <= (_MAX_INT if isinstance(number, int) else _MAX_FLOAT):
        raise ValueError
    return number


def _to_text(value: object) -> str:
    if not isinstance(value, str | int | float | os.PathLike):
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
    text = str(value).lower()
    if text not in _TRUE | _FALSE:
        raise ValueError
    return text in _TRUE


def _unique_name(root: Path) -> str:
    """Return a file name for a repository that no other one has."""
    name = "".join(c if c.isalnum() or c in "-_." else "-" for c in root.name) or "root"
    return f"{name}-{runtime_paths.digest(root)}"
