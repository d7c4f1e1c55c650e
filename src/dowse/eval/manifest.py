"""Manifests: a JSON list of repositories for one run, each with its code, its index and its cases."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from dowse.errors import EvalError
from dowse.eval.datasets import load_datasets
from dowse.eval.datasets.lines import read_json
from dowse.eval.datasets.repos import is_suite
from dowse.eval.types import Dataset
from dowse.lazy_classes import dataclass, replace

_TEXTS = ("name", "watched_dir", "store_dir", "dataset", "level", "queries", "metric", "checkouts")
_KEYS = (*_TEXTS, "strip_docs")
_VARIABLE = re.compile(r"\$(?:\w+|\{[^}]*\})")
_PATHS = ("watched_dir", "checkouts", "store_dir", "dataset")
_FORM = '[{"name": …, "watched_dir": …, "store_dir": …, "dataset": …}, …]'


@dataclass(frozen=True, slots=True)
class Entry:
    """One repository of a manifest; all but its name and dataset may be left out."""

    name: str
    dataset: str  # a file or a folder
    watched_dir: Path | None = None  # what to search; None where the dataset says so
    store_dir: str = ""  # where its index lies
    level: str = ""
    queries: str = ""  # of a BEIR folder with several
    metric: str = ""
    checkouts: Path | None = None  # of the repositories that a suite asks about
    strip_docs: bool | None = None

    def datasets(self, level: str = "", half: str = "all") -> list[Dataset]:
        """Read the questions."""
        sets = load_datasets(
            self.dataset,
            level=self.level or level,
            queries=self.queries,
            half=half,
            checkouts=self.checkouts,
            strip_docs=self.strip_docs,
            name=self.name,
            root=self.watched_dir,
        )
        if len(sets) > 1 and self.watched_dir and self._is_suite:
            raise EvalError(
                f"{self.dataset} asks about {len(sets)} repositories, and {self.watched_dir} is one; name "
                "where they lie with checkouts (--checkouts), or choose one of them with queries (--queries)"
            )
        return [replace(each, metric=self.metric) for each in sets] if self.metric else sets

    @property
    def _is_suite(self) -> bool:
        return is_suite(Path(self.dataset))

    def index_dir(self, dataset: Dataset) -> str:
        """Return where the index of a set lies: below `store_dir` for a suite, "" where none is named."""
        if self.store_dir and self._is_suite:
            return str(Path(self.store_dir) / dataset.name.replace(":", "-"))
        return self.store_dir


def read_manifest(path: Path) -> list[Entry]:
    """Read a manifest; paths are relative to it, and `$NAME` stands for a variable of the environment."""
    entries = read_json(path, _FORM)
    if not isinstance(entries, list) or not entries:
        raise EvalError(f"{path} holds no repositories; write {_FORM}")
    manifest = [_entry(entry, path, number) for number, entry in enumerate(entries, 1)]
    names = [entry.name for entry in manifest]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise EvalError(f"{path} has several entries called {', '.join(twice)}; give each a name of its own")
    return manifest


def _entry(entry: object, path: Path, number: int) -> Entry:
    where = f"{path}, entry {number}"
    if not isinstance(entry, dict):
        raise EvalError(f"{where} is no object; write {_FORM}")
    _check_types(entry, where)
    values: dict[str, Any] = {key: _expanded(value, where) for key, value in entry.items()}
    if not values.get("name") or not values.get("dataset"):
        raise EvalError(f"{where} needs a name and a dataset; write {_FORM}")
    for key in _PATHS:
        if values.get(key):
            values[key] = str((path.parent / Path(values[key]).expanduser()).resolve())
    for key in ("watched_dir", "checkouts"):
        values[key] = Path(values[key]) if values.get(key) else None
    return Entry(**values)


def _check_types(entry: dict[str, object], where: str) -> None:
    unknown = sorted(set(entry) - set(_KEYS))
    if unknown:
        raise EvalError(f"{where} has {', '.join(unknown)}; an entry may have {', '.join(_KEYS)}")
    wrong = [key for key in _TEXTS if not isinstance(entry.get(key, ""), str)]
    if wrong:
        raise EvalError(f"{where}: {', '.join(wrong)} must be text in quotes")
    if not isinstance(entry.get("strip_docs", False), bool):
        raise EvalError(f"{where}: strip_docs must be true or false")


def _expanded(value: object, where: str) -> object:
    """Expand environment variables; raise EvalError for one that is not set."""
    if not isinstance(value, str):
        return value
    full = os.path.expandvars(value)
    unset = _VARIABLE.search(full)
    if unset:
        raise EvalError(f"{where} speaks of {unset[0]}, which is not set; set it in the environment")
    return full
