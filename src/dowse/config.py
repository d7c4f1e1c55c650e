"""Settings: flags beat the environment, then come the project's file, the user's, and the defaults."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, TypeVar

from dowse import runtime
from dowse.errors import ConfigError

PROJECT_FILE = ".dowse.toml"
USER_FILE = "config.toml"
_PREFIX = "DOWSE_"
Number = TypeVar("Number", int, float)


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


MODES = ("auto", "hybrid", "keyword", "tfidf", "embedding", "graph", "regex", "symbol")
FUSIONS = ("auto", "blend", "rrf", "weighted", "convex", "intersection", "adaptive")
ISOLATION = ("auto", "always", "never")
FUZZINESS = ("auto", "0", "1", "2")
# Maximal marginal relevance; the best of each cluster; from each cluster its share.
DIVERSIFY = ("", "mmr", "cluster", "sample")
# By place in the tree (by hyperbolic or Euclidean distance, or spectral on hops), or by meaning.
CLUSTERINGS = ("hyperbolic", "euclidean", "spectral", "meaning")
REFRESH = ("auto", "always", "never")
VIEWS = ("symbol", "docs")
VECTORS = ("auto", "exact", "approx")
DEVICES = ("auto", "cpu", "cuda")
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


def _sources(root: Path | None) -> list[tuple[str, dict[str, Any]]]:
    """Return what the files and the environment say, weakest first."""
    user = _user_file()
    sources = [(str(user), _read_toml(user))]
    if root is not None:
        project = (root if root.is_dir() else root.parent) / PROJECT_FILE
        sources.append((str(project), _read_toml(project)))
    sources.append(("the environment", _from_environment(os.environ)))
    return sources


def _user_file() -> Path:
    named = os.environ.get("DOWSE_CONFIG")
    if named:
        return Path(named)
    home = os.environ.get("XDG_CONFIG_HOME") or str(Path("~/.config").expanduser())
    return Path(home) / "dowse" / USER_FILE


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        data = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return {}
    import tomllib  # only when there is a file: starting up stays fast

    try:
        return tomllib.loads(data.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is not valid TOML: {error}") from error


def _from_environment(environment: Mapping[str, str]) -> dict[str, Any]:
    names = {f"{_PREFIX}{field.name.upper()}": field.name for field in fields(Settings)}
    return {names[key]: value for key, value in environment.items() if key in names and value}


def _convert(key: str, value: Any, place: str) -> Any:  # noqa: ANN401 - settings have several types
    defaults = {field.name: getattr(Settings(), field.name) for field in fields(Settings)}
    if key not in defaults:
        raise ConfigError(f"{place}: there is no setting `{key}`; there are {', '.join(sorted(defaults))}")
    default = defaults[key]
    try:
        if isinstance(default, bool):
            return _to_bool(value)
        if isinstance(default, int):
            number = int(value) if default == 0 and int(value) == 0 else _positive(int(value))
            return _at_least(_LEAST.get(key, 0), number)
        if isinstance(default, float):
            return _share(float(value)) if key in _SHARES else _positive(float(value))
        if isinstance(default, tuple):
            return tuple(value.split(os.pathsep) if isinstance(value, str) else map(str, value))
    except (ValueError, TypeError):
        raise ConfigError(f"{place}: `{key}` can't be {value!r}") from None
    choices = _CHOICES.get(key)
    if choices and str(value) not in choices:
        raise ConfigError(f"{place}: `{key}` is one of {', '.join(choices)}, not {value!r}")
    return str(value)


def _to_bool(value: object) -> bool:
    if isinstance(value, bool):
        return value
    text = str(value).lower()
    if text in ("1", "true", "yes", "on"):
        return True
    if text in ("0", "false", "no", "off"):
        return False
    raise ValueError


def _positive(value: Number) -> Number:
    if not 0 < value < math.inf:
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
