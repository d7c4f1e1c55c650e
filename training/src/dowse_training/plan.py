"""A training plan: the stages of a run, read from TOML. `Fit` tells what a training stage can set.

A plan sets `seed` and `limit` (ids of a code view), and has a table [[stage]] for each stage, with its `kind`
and settings: kind = "load" with weights = ["base"], kind = "contrast" with seconds = 240 and rate = 5e-4, …
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from dowse.errors import ConfigError
from dowse_training.schedule import SCHEDULES

ORDERS = ("package", "cluster")
# How a batch shows its code: with its name, without it, or with documentation among the code.
VIEWS = ("named", "nameless", "documented")
QUERY_KINDS = ("sentence", "paragraph", "text", "web", "name", "few")
_QUERIES: dict[str, dict[str, float]] = {
    "named": {"sentence": 0.2, "paragraph": 0.15, "text": 0.25, "web": 0.25, "few": 0.15},
    "nameless": {"sentence": 0.15, "paragraph": 0.1, "text": 0.1, "web": 0.2, "name": 0.35, "few": 0.1},
    "documented": {"sentence": 0.05, "web": 0.3, "name": 0.35, "few": 0.3},
}


@dataclass(frozen=True, slots=True)
class Load:
    """Start from weights, or from the mean of several."""

    weights: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Average:
    """Go on with the mean of the current weights and others."""

    weights: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Student:
    """Go on with some layers of the current weights."""

    layers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Mine:
    """Encode all pairs with the current weights; find clusters, and hard negatives if wanted."""

    skip: int = 2  # best codes left out: they are often right
    candidates: int = 32
    threshold: float = 0.98  # of the own code's score; above it a code counts as right
    cluster_size: int = 128
    rounds: int = 6
    negatives: bool = True


@dataclass(frozen=True, slots=True)
class Fit:
    """Train: contrast, and with teachers distillation too. Lasts `seconds`, `epochs` or `steps`."""

    rate: float
    seconds: float = 0.0
    epochs: float = 0.0
    steps: int = 0
    schedule: str = "linear"
    end: float = 0.02  # last rate, as a share of `rate`
    warm_steps: int = 40
    temperature: float = 0.05
    batch: int = 8192
    negatives: int = 0  # mined ones for each pair
    order: str = "package"  # what a chunk of a batch has in common
    chunk: int = 8
    mask: float = 0.98  # as Mine.threshold, with the guide's vectors; 0 hides equal pairs only
    dropout: float = 0.1
    lose_words: bool = True
    limit: int = 0  # ids of a code view; 0: the plan's
    shares: Mapping[str, float] = field(default_factory=dict)  # weight of a language beside its size
    views: Mapping[str, float] = field(default_factory=lambda: {"named": 7.5, "nameless": 2.5})
    queries: Mapping[str, Mapping[str, float]] = field(default_factory=dict)  # of each view; see _QUERIES
    qualifier: float = 0.6  # share of named views that show it
    weight_decay: float = 0.01
    beta2: float = 0.98
    ema: float = 0.0  # decay of a running mean of the weights, which then replaces them at the end
    dimensions: tuple[int, ...] = ()  # Matryoshka
    evaluate_seconds: float = 0.0  # between evaluations on the way; 0: none
    log_seconds: float = 30.0
    teachers: tuple[str, ...] = ()
    untaught: tuple[str, ...] = ()  # languages that learn by contrast alone: what the teachers do not know
    contrast: float = 0.3  # weight of the contrast beside the teachers
    distance: float = 1.0  # weight of the squared distance to the first teacher's vectors
    package_chunks: Mapping[str, int] = field(default_factory=dict)  # languages in chunks of one package
    cross: tuple[str, ...] = ()  # an encoder and a cross-encoder whose order of chunks is learnt, too
    cross_rows: int = 1024  # of a batch
    cross_weight: float = 0.5

    def mix(self, view: str) -> Mapping[str, float]:
        """Weights of the kinds of queries that meet a view."""
        return self.queries.get(view, _QUERIES[view])


@dataclass(frozen=True, slots=True)
class Save:
    """Write the current weights, as parts or safetensors, to keep ("out") or to use later ("work")."""

    name: str
    form: str = "parts"
    folder: str = "out"


@dataclass(frozen=True, slots=True)
class Evaluate:
    """Measure on the evaluation sets and on the packages kept aside."""

    sets: bool = True
    valid: bool = True
    full: bool = False  # more forms of the documents
    limit: int = 0


Stage = Load | Average | Student | Mine | Fit | Save | Evaluate

_KINDS: dict[str, type[Any]] = {
    "load": Load,
    "average": Average,
    "student": Student,
    "mine": Mine,
    "contrast": Fit,
    "distil": Fit,
    "save": Save,
    "evaluate": Evaluate,
}


@dataclass(frozen=True, slots=True)
class Plan:
    """All stages in order."""

    stages: tuple[Stage, ...]
    seed: int = 1
    limit: int = 128


def read(path: Path) -> Plan:
    """Read a plan; a mistake in it is told with the stage it is in."""
    try:
        return parse(path.read_text("utf-8"))
    except OSError as error:
        raise ConfigError(f"can't read the plan {path}: {error.strerror}") from error


def parse(text: str) -> Plan:
    """Parse the text of a plan."""
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"the plan is not TOML: {error}") from error
    stages = tuple(_stage(number, entry) for number, entry in enumerate(table.pop("stage", []), 1))
    if not stages:
        raise ConfigError('the plan has no [[stage]]; begin with kind = "load"')
    if unknown := set(table) - {"seed", "limit"}:
        raise ConfigError(f"the plan has no setting {sorted(unknown)[0]!r}; known are seed and limit")
    return Plan(stages, **table)


def _stage(number: int, entry: dict[str, Any]) -> Stage:
    where = f"stage {number} of the plan"
    kind = entry.pop("kind", None)
    if kind not in _KINDS:
        raise ConfigError(f"{where} has kind {kind!r}; known are {', '.join(_KINDS)}")
    if kind == "distil":
        entry.setdefault("dropout", 0.0)  # the student is to match vectors, not to be robust
    known = {one.name: one for one in fields(_KINDS[kind])}
    for key, value in entry.items():
        if key not in known:
            raise ConfigError(f"{where} ({kind}) has no setting {key!r}; known are {', '.join(known)}")
        entry[key] = _checked(f"{where}: {key}", value, str(known[key].type))
    try:
        stage: Stage = _KINDS[kind](**entry)
    except TypeError as error:
        raise ConfigError(f"{where} ({kind}) is not complete: {error}") from error
    if isinstance(stage, Fit):
        _check_fit(where, kind, stage)
    return stage


def _checked(where: str, value: Any, kind: str) -> Any:  # noqa: ANN401 (whatever TOML holds)
    """The value, with numbers and lists as the field wants them."""
    if kind == "float" and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if kind.startswith("tuple") and isinstance(value, list):
        return tuple(value)
    expected = {"int": int, "float": float, "str": str, "bool": bool}.get(kind, (dict, tuple))
    if not isinstance(value, expected) or (kind == "int" and isinstance(value, bool)):
        raise ConfigError(f"{where} = {value!r} should be {kind}")
    return value


def _check_fit(where: str, kind: str, stage: Fit) -> None:
    mixes = [key for mix in stage.queries.values() for key in mix]
    problems = {
        "wants one of seconds, epochs and steps": sum(map(bool, (stage.seconds, stage.epochs, stage.steps)))
        != 1,
        f"wants schedule to be one of {', '.join(SCHEDULES)}": stage.schedule not in SCHEDULES,
        f"wants order to be one of {', '.join(ORDERS)}": stage.order not in ORDERS,
        f"knows the views {', '.join(VIEWS)}": not set(stage.views) | set(stage.queries) <= set(VIEWS),
        f"knows the queries {', '.join(QUERY_KINDS)}": not set(mixes) <= set(QUERY_KINDS),
        "wants teachers": kind == "distil" and not stage.teachers,
        'has teachers; its kind should be "distil"': kind == "contrast" and bool(stage.teachers),
        "wants two names as cross: an encoder and a cross-encoder": len(stage.cross) not in (0, 2),
    }
    for problem, present in problems.items():
        if present:
            raise ConfigError(f"{where} ({kind}) {problem}")
