"""Targets that an index does not hold: else a typing error in a judgement would be a miss of every row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import cached_property
from pathlib import PurePosixPath

from dowse.errors import EvalError
from dowse.eval.index_symbols import iter_symbols
from dowse.eval.matching import Target, closest_paths, ends_with, parse_target
from dowse.eval.types import Dataset
from dowse.index import Index


def note_missing_targets(index: Index, dataset: Dataset) -> str:
    """Return a note on relevant targets that an index does not hold, "" if it has them all.

    Entries of a corpus have ids that its own set names; they are not checked.

    Raises:
        EvalError: It holds none of them: another repository is meant.
    """
    with index.backend.reader() as reader:
        if reader.is_corpus:
            return ""
    wanted = [parse_target(name, dataset.level) for name in dataset.relevant_targets]
    indexed = _IndexedTargets(index, wanted)
    missing = [target for target in wanted if not indexed.holds(target)]
    if not missing:
        return ""
    example = f"{missing[0].key}{indexed.hint(missing[0])}"
    if len(missing) == len(wanted):
        raise EvalError(
            f"no answer of {dataset.name or 'these questions'} is in the index of {index.root}, e.g. "
            f"{example}; name the repository that is asked about, and look whether --exclude leaves them out"
        )
    are = "is" if len(missing) == 1 else "are"
    return f"{len(missing)} of {len(wanted)} answers {are} not in this index, e.g. {example}"


class _IndexedTargets:
    """The files of an index, and the names and ids of its symbols, read when they are needed."""

    def __init__(self, index: Index, wanted: Sequence[Target]) -> None:
        self._index = index
        self._files = {file.path: file for file in index.files()}
        # One search among all paths for each path of a target, however often it occurs.
        paths = {each.path for each in wanted if each.path}
        self._closest = {path: closest_paths(path, self._files.keys()) for path in paths}

    def holds(self, target: Target) -> bool:
        """Whether some result can match a target."""
        if not target.path:
            return target.key in self._ids or any(ends_with(name, target.name, ".") for name in self._names)
        files = [self._files[path] for path in self._closest[target.path]]
        if not target.name:
            return any(target.start <= max(1, file.lines) for file in files)
        return any(target.name in self._names_by_path[file.path] for file in files)

    def hint(self, target: Target) -> str:
        """Return what may have been meant, in brackets."""
        if not target.path:
            return _suggestion(_closest(target.name, self._names))
        files = [self._files[path] for path in sorted(self._closest[target.path])]
        if files and not target.name:
            return f" (it has {files[0].lines:,} lines)"
        if files:
            name = _closest(target.name, self._names_by_path[files[0].path])
            return _suggestion(f"{files[0].path}::{name}" if name else "")
        same = [path for path in self._files if PurePosixPath(path).name == PurePosixPath(target.path).name]
        path = _closest(target.path, same) or next(iter(same), "") or _closest(target.path, self._files)
        return _suggestion(f"{path}::{target.name}" if path and target.name else path)

    @cached_property
    def _names_by_path(self) -> Mapping[str, set[str]]:
        """The qualified names in the files that targets name."""
        paths = {path for closest in self._closest.values() for path in closest}
        names: dict[str, set[str]] = {path: set() for path in paths}
        with self._index.backend.reader() as reader:
            for row in reader.rows_of_files([self._files[path].file_id for path in paths]):
                names[row.path].add(row.qualified_name)
        return names

    @cached_property
    def _symbols(self) -> dict[str, str]:
        """The qualified name of every symbol by its id."""
        return {row.key: row.qualified_name for row in iter_symbols(self._index)}

    @cached_property
    def _names(self) -> set[str]:
        return set(self._symbols.values())

    @property
    def _ids(self) -> Iterable[str]:
        return self._symbols.keys()


def _closest(name: str, known: Iterable[str]) -> str:
    # In order, so that the same is suggested each time.
    return next(iter(get_close_matches(name, sorted(known), 1)), "")


def _suggestion(name: str) -> str:
    return f" (did you mean {name}?)" if name else ""
