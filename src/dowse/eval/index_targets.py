"""The targets of a dataset in an index: where they are, and which are missing."""

from __future__ import annotations

from difflib import get_close_matches
from functools import cached_property

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
        self.files = {file.path: file for file in index.contents.files()}
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
    known = targets.files if target.path else targets.names
    # In order, so that the same is suggested each time.
    close = get_close_matches(target.path or target.name, sorted(known), 1)
    return f" (did you mean {close[0]}?)" if close and close[0] != target.path else ""
