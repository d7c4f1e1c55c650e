"""Whether what a set wants can be found at all: else a typo in an answer is a miss of every row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import cached_property
from pathlib import PurePosixPath

from dowse.errors import EvalError
from dowse.eval.matching import Target, closest_paths, ends_with, parse_target
from dowse.eval.types import Dataset
from dowse.index import Index
from dowse.types import StoredFile


def note_missing_targets(index: Index, dataset: Dataset) -> str:
    """Return a note on answers that an index does not hold, "" if it has them all.

    Entries of a corpus have ids that its own set names; they are not looked at.

    Raises:
        EvalError: It holds none of them: another repository is meant.
    """
    with index.backend.reader() as reader:
        if reader.is_corpus:
            return ""
    wanted = [parse_target(name, dataset.level) for name in dataset.relevant]
    there = _Indexed(index, wanted)
    absent = [target for target in wanted if not there.holds(target)]
    if not absent:
        return ""
    told = f"{absent[0].key}{there.hint(absent[0])}"
    if len(absent) == len(wanted):
        raise EvalError(
            f"no answer of {dataset.name or 'these questions'} is in the index of {index.root}, e.g. {told}; "
            "name the repository that is asked about, and look whether --exclude leaves them out"
        )
    are = "is" if len(absent) == 1 else "are"
    return f"{len(absent)} of {len(wanted)} answers {are} not in this index, e.g. {told}"


class _Indexed:
    """The files of an index, and the names in those that are asked for."""

    def __init__(self, index: Index, wanted: Sequence[Target]) -> None:
        self._index, self._wanted = index, wanted
        self._files = {file.path: file for file in index.files()}
        # One search among all paths for each path of an answer, however often it is asked for.
        known = set(self._files)
        self._meant = {path: closest_paths(path, known) for path in {each.path for each in wanted} if path}

    def holds(self, target: Target) -> bool:
        """Whether some result can meet a target."""
        if not target.path:
            return target.key in self._keys or any(ends_with(name, target.name, ".") for name in self._names)
        files = [self._files[path] for path in self._meant[target.path]]
        if not target.name:
            return any(target.start <= max(1, file.lines) for file in files)
        return any(target.name in self._names_in[file.path] for file in files)

    def hint(self, target: Target) -> str:
        """Return what may have been meant, in brackets."""
        if not target.path:
            return _suggestion(_closest(target.name, self._names))
        files = [self._files[path] for path in sorted(self._meant[target.path])]
        if files and not target.name:
            return f" (it has {files[0].lines:,} lines)"
        if files:
            name = _closest(target.name, self._names_in[files[0].path])
            return _suggestion(f"{files[0].path}::{name}" if name else "")
        same = [path for path in self._files if PurePosixPath(path).name == PurePosixPath(target.path).name]
        path = _closest(target.path, same) or next(iter(same), "") or _closest(target.path, self._files)
        return _suggestion(f"{path}::{target.name}" if path and target.name else path)

    @cached_property
    def _names_in(self) -> Mapping[str, set[str]]:
        """The qualified names in the files that answers name."""
        meant = {path for paths in self._meant.values() for path in paths}
        return self._read([self._files[path] for path in meant])[0]

    @cached_property
    def _everything(self) -> tuple[set[str], set[str]]:
        names, keys = self._read(list(self._files.values()))
        return {name for each in names.values() for name in each}, keys

    @property
    def _names(self) -> set[str]:
        return self._everything[0]

    @property
    def _keys(self) -> set[str]:
        return self._everything[1]

    def _read(self, files: Sequence[StoredFile]) -> tuple[dict[str, set[str]], set[str]]:
        """Return the names of some files, and the ids of their symbols."""
        names: dict[str, set[str]] = {file.path: set() for file in files}
        with self._index.backend.reader() as reader:
            rows = reader.rows_of_files([file.file_id for file in files])
        for row in rows:
            names[row.path].add(row.qualified_name)
        return names, {row.key for row in rows}


def _closest(name: str, known: Iterable[str]) -> str:
    # In order, so that the same is suggested each time.
    return next(iter(get_close_matches(name, sorted(known), 1)), "")


def _suggestion(name: str) -> str:
    return f" (did you mean {name}?)" if name else ""
