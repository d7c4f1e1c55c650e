"""The targets of a dataset in an index: where they are, their aspects for α-nDCG, and which are missing."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from functools import cached_property
from pathlib import PurePosixPath

from dowse.errors import EvalError
from dowse.eval.index_symbols import iter_symbols
from dowse.eval.matching import Target, closest_paths, ends_with, parse_target
from dowse.eval.types import Dataset
from dowse.index import Index
from dowse.types import SymbolRow


class IndexTargets:
    """Resolves the relevant targets of a dataset to files and symbols of an index, read on first use."""

    def __init__(self, index: Index, dataset: Dataset) -> None:
        self._index = index
        self.all = [parse_target(name, dataset.level) for name in dataset.relevant_targets]
        self.files = {file.path: file for file in index.files()}
        # One search among all paths for each path of a target, however often it occurs.
        paths = {target.path for target in self.all if target.path}
        self._closest = {path: closest_paths(path, self.files.keys()) for path in paths}

    def paths(self, target: Target) -> list[str]:
        """Return the files that a target's path may name, in order."""
        return sorted(self._closest.get(target.path, ()))

    def symbols(self, target: Target) -> list[SymbolRow]:
        """Return the symbols that a target names: by file and name, by id, or by the end of their names."""
        rows = (row for path in self.paths(target) for row in self.rows_by_path[path])
        in_file = [row for row in rows if row.qualified_name == target.name]
        if in_file or target.key in self._rows:
            return in_file or [self._rows[target.key]]
        if target.path:
            return []
        same = self._rows_by_last_name.get(target.name.rpartition(".")[2], [])
        return [row for row in same if ends_with(row.qualified_name, target.name, ".")]

    def holds(self, target: Target) -> bool:
        """Whether some result can match a target."""
        if target.name:
            return bool(self.symbols(target))
        return any(target.start <= max(1, self.files[path].lines) for path in self.paths(target))

    def location(self, target: Target) -> tuple[str, str] | None:
        """Return repository and path of a target; of several always the same, None if there is none."""
        if target.path:
            locations = [(self.files[path].repo, path) for path in self.paths(target)[:1]]
        else:
            locations = [(row.repo, row.path) for row in self.symbols(target)]
        return next((each for each in sorted(locations)[:1] if each[1]), None)

    @cached_property
    def rows_by_path(self) -> dict[str, list[SymbolRow]]:
        """The symbols of the files that targets name."""
        paths = {path for closest in self._closest.values() for path in closest}
        rows: dict[str, list[SymbolRow]] = {path: [] for path in paths}
        with self._index.backend.reader() as reader:
            for row in reader.rows_of_files([self.files[path].file_id for path in paths]):
                rows[row.path].append(row)
        return rows

    @cached_property
    def names(self) -> set[str]:
        """The qualified name of every symbol."""
        return {row.qualified_name for row in self._rows.values()}

    @cached_property
    def _rows(self) -> dict[str, SymbolRow]:
        return {row.key: row for row in iter_symbols(self._index)}

    @cached_property
    def _rows_by_last_name(self) -> dict[str, list[SymbolRow]]:
        by_name: dict[str, list[SymbolRow]] = {}
        for row in self._rows.values():
            by_name.setdefault(row.qualified_name.rpartition(".")[2], []).append(row)
        return by_name


def target_aspects(index: Index, dataset: Dataset) -> dict[str, str]:
    """Return the aspect of every relevant target: its repository, or its folder if all are in one repository.

    A target that is not in the index is an aspect of its own; {} where the index holds none.
    """
    targets = IndexTargets(index, dataset)
    locations = {target.key: location for target in targets.all if (location := targets.location(target))}
    if not locations:
        return {}
    if len({repo for repo, _ in locations.values()}) > 1:
        aspects = {key: repo for key, (repo, _) in locations.items() if repo}
    else:
        aspects = {key: path.rpartition("/")[0] for key, (_, path) in locations.items()}
    # No repository or folder has this character in its name.
    return {target.key: aspects.get(target.key, f"\0{target.key}") for target in targets.all}


def note_missing_targets(index: Index, dataset: Dataset) -> str:
    """Return a note on relevant targets that an index does not hold, "" if it has them all.

    Without it a typing error in a judgement would be a miss of every row. Entries of a corpus have ids that
    its own set names; they are not checked.

    Raises:
        EvalError: It holds none of them: another repository is meant.
    """
    with index.backend.reader() as reader:
        if reader.is_corpus:
            return ""
    targets = IndexTargets(index, dataset)
    missing = [target for target in targets.all if not targets.holds(target)]
    if not missing:
        return ""
    example = f"{missing[0].key}{_hint(targets, missing[0])}"
    if len(missing) == len(targets.all):
        raise EvalError(
            f"no answer of {dataset.name or 'these questions'} is in the index of {index.root}, e.g. "
            f"{example}; name the repository that is asked about, and look whether --exclude leaves them out"
        )
    are = "is" if len(missing) == 1 else "are"
    return f"{len(missing)} of {len(targets.all)} answers {are} not in this index, e.g. {example}"


def _hint(targets: IndexTargets, target: Target) -> str:
    """Return what may have been meant, in brackets."""
    if not target.path:
        return _suggestion(_closest(target.name, targets.names))
    paths = targets.paths(target)
    if paths and not target.name:
        return f" (it has {targets.files[paths[0]].lines:,} lines)"
    if paths:
        name = _closest(target.name, {row.qualified_name for row in targets.rows_by_path[paths[0]]})
        return _suggestion(f"{paths[0]}::{name}" if name else "")
    same = [path for path in targets.files if PurePosixPath(path).name == PurePosixPath(target.path).name]
    path = _closest(target.path, same) or next(iter(same), "") or _closest(target.path, targets.files)
    return _suggestion(f"{path}::{target.name}" if path and target.name else path)


def _closest(name: str, known: Iterable[str]) -> str:
    # In order, so that the same is suggested each time.
    return next(iter(get_close_matches(name, sorted(known), 1)), "")


def _suggestion(name: str) -> str:
    return f" (did you mean {name}?)" if name else ""
