"""Settings: flags beat the environment, then come the project's file, the user's, and the defaults.

Flags, environment and the user's file are trusted. The project's file comes with the repository, so it is
data: only settings of `PROJECT_SETTINGS` count, within bounds. All others are ignored with a note until the
user allows this very content with `dowse trust` (docs/SECURITY.md).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar, get_args

from dowse import runtime_paths as runtime
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


@dataclass(frozen=True, slots=True)
class Settings:
    """All that can be set; each field is also a key in the files, and DOWSE_<NAME> in the environment."""

    index_dir: str = ""  # where the index lies; "" = the user's cache folder, by repository
    # A cluster that many share, instead of a folder: `elastic://host:9200/NAME`; see docs/CLUSTER.md.
    backend: str = ""
    exclude: tuple[str, ...] = ()  # more patterns to leave out, written as in .gitignore
    include_secrets: bool = False  # index files that are secrets by name or content, too
    show_secrets: bool = False  # do not mask likely secrets in answers
    # Source files above this are data or bundles: parsing them costs seconds and finds nothing.
    max_file_bytes: int = 1_000_000
    strip_docs: bool = False  # leave documentation out of the index, for honest evaluation
    processes: int = max(1, os.cpu_count() or 1)  # parsing processes
    fuzziness: str = "auto"  # auto, 0, 1 or 2: how many edits a word may be away
    relax_below: int = 100  # relax a query while it has fewer candidates than this
    candidates: int = 0  # that a lane hands to ranking; 0: as chosen for the shape of the index
    top_k: int = 10
    # auto looks for changed files before each search while the tree is small; see REFRESH_FILES.
    refresh: str = "auto"
    # What turns text into vectors: a shipped one, a folder, `hf:owner/name`, or "none" to do without.
    encoder: str = "base"
    view: str = "symbol"  # what is encoded: a "symbol", its code and documentation, or its "docs" alone
    vectors: str = "auto"  # how vectors are searched: exact, approx, or auto by how many there are
    device: str = "auto"  # where encoders run: cpu, cuda, or auto by what is there
    threads: int = max(1, os.cpu_count() or 1)  # that encode at once
    clusters: int = 50  # groups of similar symbols that `dowse related` knows
    fusion: str = "auto"  # how lanes' answers become one; auto is what won on the average of all sets
    lane_seconds: float = 3.0  # what a lane may take; a late one is left out and named
    exact_seconds: float = 60.0  # what the search for a phrase or pattern may take
    # Lanes in processes of their own: auto where several answer one query, always, or never (then no limits).
    isolation: str = "auto"
    graph_depth: int = 2  # hops that a question of structure walks
    expand: bool = False  # add terms of the best answers to the query (pseudo-relevance feedback)
    expand_documents: int = 5  # from so many answers
    expand_terms: int = 5  # so many terms
    graph_expand: bool = False  # add what the best answers call
    rerank: bool = False  # take a second look at the best answers, by a cross-encoder
    reranker: str = "rerank"  # which one: a shipped one, or a folder
    rerank_candidates: int = 15  # twice as many cost twice the time and find nothing more
    rerank_weight: float = 0.3  # from 0, the first order, to 1, the cross-encoder's
    feedback: bool = True  # note what is chosen, on this machine alone, and let it come first
    diversify: str = ""  # how answers that repeat each other are put apart; "" for not at all, see DIVERSIFY
    diversify_candidates: int = 100
    diversify_clusters: int = 10
    clustering: str = "euclidean"  # how the candidates are put into clusters; see CLUSTERINGS
    tree_dimension: int = 10  # of the ball that the tree of files is embedded in; 2 is the Poincaré disk


Mode = Literal["auto", "hybrid", "keyword", "tfidf", "embedding", "graph", "regex", "symbol"]
Fusion = Literal["auto", "blend", "rrf", "weighted", "convex", "intersection", "adaptive"]
Fuzziness = Literal["auto", "0", "1", "2"]
# Maximal marginal relevance; the best of each cluster; from each cluster its share.
Diversify = Literal["", "mmr", "cluster", "sample"]
# By location in the tree (hyperbolic or Euclidean distance, or spectral on hops), or by vectors.
Clustering = Literal["hyperbolic", "euclidean", "spectral", "meaning"]
MODES: tuple[Mode, ...] = get_args(Mode)
FUSIONS: tuple[Fusion, ...] = get_args(Fusion)
FUZZINESS: tuple[Fuzziness, ...] = get_args(Fuzziness)
DIVERSIFY: tuple[Diversify, ...] = get_args(Diversify)
CLUSTERINGS: tuple[Clustering, ...] = get_args(Clustering)
ISOLATION = ("auto", "always", "never")
REFRESH = ("auto", "always", "never")
VIEWS = ("symbol", "docs")
VECTORS = ("auto", "exact", "approx")
DEVICES = ("auto", "cpu", "cuda")
# What a project's own file may set, and the largest number it may ask for: which files are left out and how
# results are ranked. Nothing that names a path, host or model, or decides how much of the machine is used.
PROJECT_SETTINGS: Mapping[str, int | None] = {
    **dict.fromkeys(("exclude", "strip_docs", "fuzziness", "refresh", "view", "fusion", "expand")),
    **dict.fromkeys(("graph_expand", "rerank", "rerank_weight", "feedback", "diversify", "clustering")),
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
# Settings of files that may be relative paths: to the file they stand in, not to where a command is run.
_PATHS = frozenset(["index_dir", "encoder", "reranker"])
# Settings from 0 to 1.
_SHARES = frozenset(["rerank_weight"])
# Numbers that begin above 1: on a line there is no room for a tree.
_LEAST = {"tree_dimension": 2}
_CHOICES = {
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


class ProjectFile(NamedTuple):
    """What the settings file of a repository says, and what of it counts."""

    path: Path
    content: bytes = b""
    values: Mapping[str, Any] = {}
    asked: Mapping[str, Any] = {}  # all that the file says
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
    """Gather the settings for a repository; flags that are None count as not given."""
    values: dict[str, Any] = {}
    for place, found in _sources(root):
        for key, value in found.items():
            values[key] = _convert(key, value, place)
    for key, value in flags.items():
        if value is not None:
            values[key] = _convert(key, value, f"--{key.replace('_', '-')}")
    return replace(Settings(), **values)


def read_project_file(root: Path) -> ProjectFile:
    """Read the settings file of a repository, and tell what of it counts."""
    path = (root if root.is_dir() else root.parent) / PROJECT_FILE
    try:
        content = read_regular_file(path, _MAX_FILE_BYTES)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return ProjectFile(path)
    except (NotRegularFile, FileTooLarge) as error:
        return ProjectFile(path, problem=str(error.strerror))
    found = _parse_toml(path, content)
    ignored = _untrusted(found, path)
    if ignored:
        from dowse.security.trust import is_trusted  # only here: nearly all repositories need no trust

        if is_trusted(trust_file(), path, content):
            ignored = ()
    values = {key: value for key, value in found.items() if key not in ignored}
    if not ignored:
        values = {key: _relative_to(path.parent, key, value) for key, value in values.items()}
    return ProjectFile(path, content, values, found, ignored)


def _untrusted(found: Mapping[str, Any], path: Path) -> tuple[str, ...]:
    """Return the settings of a project file that may not count by themselves; unknown names are errors."""
    return tuple(key for key, value in found.items() if key in _NAMES and not _is_harmless(key, value, path))


def _is_harmless(key: str, value: object, path: Path) -> bool:
    if key not in PROJECT_SETTINGS:
        return False
    # What will count is looked at, not how it is written: "2_000" is a number, "a:!b" are two patterns.
    meant = _convert(key, value, str(path))
    if key == "exclude":
        # A negated pattern brings back what other rules leave out, such as files with secrets.
        return not any(pattern.startswith("!") for pattern in meant)
    most = PROJECT_SETTINGS[key]
    return most is None or meant <= most


def index_folder(root: Path, settings: Settings) -> Path:
    """Return where the index of a repository lies."""
    if settings.index_dir:
        return Path(settings.index_dir).expanduser()
    return cache_folder() / "indexes" / _own_name(root)


def feedback_file(place: Path) -> Path:
    """Return where it is kept what was chosen in a repository, or in an index that many share."""
    return data_folder() / "feedback" / f"{_own_name(place)}.sqlite"


def index_command(settings: Settings) -> str:
    """Return the command that finishes an index with these settings."""
    usual = Settings()
    flags = [
        f" --{name} {value}"
        for name in ("encoder", "view")
        if (value := getattr(settings, name)) != getattr(usual, name)
    ]
    return "dowse index" + "".join(flags)


def cache_folder() -> Path:
    """Return where all that can be made again is kept."""
    return Path(runtime.cache_folder())


def data_folder() -> Path:
    """Return where all that can't be made again is kept."""
    return Path(os.environ.get("DOWSE_DATA_DIR") or _user_data())


def _user_data() -> str:
    if sys.platform.startswith("linux"):
        base = os.environ.get("XDG_DATA_HOME") or str(Path("~/.local/share").expanduser())
        return str(Path(base, "dowse"))
    import platformdirs

    return platformdirs.user_data_dir("dowse", appauthor=False)


def _sources(root: Path | None) -> list[tuple[str, Mapping[str, Any]]]:
    """Return what the files and the environment say, weakest first."""
    user = user_file()
    values = {key: _relative_to(user.parent, key, value) for key, value in _read_user_file(user).items()}
    sources: list[tuple[str, Mapping[str, Any]]] = [(str(user), values)]
    if root is not None:
        project = read_project_file(root)
        sources.append((str(project.path), project.values))
    sources.append(("the environment", _from_environment(os.environ)))
    return sources


def _relative_to(folder: Path, key: str, value: object) -> object:
    """Return a path of a settings file as seen from that file; a plain name is no path."""
    if key not in _PATHS or not isinstance(value, str) or "\0" in value:
        return value
    if key != "index_dir" and ("/" not in value or value.startswith("hf:")):
        return value
    return str(folder / Path(value).expanduser()) if value else value


def user_file() -> Path:
    """Return the user's own settings file; it need not exist."""
    named = os.environ.get("DOWSE_CONFIG")
    if named:
        return Path(named)
    home = os.environ.get("XDG_CONFIG_HOME") or str(Path("~/.config").expanduser())
    return Path(home) / "dowse" / USER_FILE


def trust_file() -> Path:
    """Return where it is recorded which project files the user trusts; it need not exist."""
    return user_file().with_name("trusted.json")


def _read_user_file(path: Path) -> dict[str, Any]:
    try:
        return _parse_toml(path, read_regular_file(path, _MAX_FILE_BYTES, follow_symlinks=True))
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return {}
    except NotRegularFile:  # /dev/null, for no settings
        return {}
    except FileTooLarge as error:
        raise ConfigError(f"{path} is {error.strerror}; is it a settings file?") from None


def _parse_toml(path: Path, content: bytes) -> dict[str, Any]:
    import tomllib  # only when there is a file: starting up stays fast

    try:
        return tomllib.loads(content.decode())
    except (ValueError, RecursionError) as error:  # also of numbers with thousands of digits
        raise ConfigError(f"{path} is not valid TOML: {_shown(error)}") from None


def _from_environment(environment: Mapping[str, str]) -> dict[str, Any]:
    names = {f"{_PREFIX}{field.name.upper()}": field.name for field in fields(Settings)}
    return {names[key]: value for key, value in environment.items() if key in names and value}


_DEFAULTS = {field.name: getattr(Settings(), field.name) for field in fields(Settings)}
_NAMES = frozenset(_DEFAULTS)


def _convert(key: str, value: Any, place: str) -> Any:  # noqa: ANN401 - settings have several types
    if key not in _DEFAULTS:
        known = ", ".join(sorted(_DEFAULTS))
        raise ConfigError(f"{place}: there is no setting `{_shown(key)}`; there are {known}")
    default = _DEFAULTS[key]
    try:
        if isinstance(default, bool):
            return _to_bool(value)
        if isinstance(default, int):
            number = _to_int(value)
            number = number if default == 0 and number == 0 else _in_range(number, _MAX_INT)
            return _at_least(_LEAST.get(key, 0), number)
        if isinstance(default, float):
            return _share(float(value)) if key in _SHARES else _in_range(float(value), _MAX_FLOAT)
        if isinstance(default, tuple):
            return _to_patterns(value)
        text = _to_text(value)
    except (ValueError, TypeError, OverflowError):
        raise ConfigError(f"{place}: `{key}` can't be {_shown(repr(value))}") from None
    choices = _CHOICES.get(key)
    if choices and text not in choices:
        raise ConfigError(f"{place}: `{key}` is one of {', '.join(choices)}, not {_shown(repr(value))}")
    return text


def _shown(value: object) -> str:
    """Return a text of a file for a message: not a page of it."""
    text = str(value)
    return text if len(text) <= 200 else text[:200] + "…"


def _to_int(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise TypeError
    return int(value)


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


def _in_range(value: Number, most: Number) -> Number:
    if not 0 < value <= most:
        raise ValueError
    return value


def _at_least(least: int, value: int) -> int:
    if value < least:
        raise ValueError
    return value


def _share(value: float) -> float:
    if not 0 <= value <= 1:
        raise ValueError
    return value


def _own_name(root: Path) -> str:
    """Return a file name for a repository that no other one has."""
    import hashlib

    digest = hashlib.blake2b(os.fsencode(root), digest_size=6).hexdigest()
    return f"{_plain(root.name)}-{digest}"


def _plain(name: str) -> str:
    return "".join(c if c.isalnum() or c in "-_." else "-" for c in name) or "root"
