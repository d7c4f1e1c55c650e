"""The SCIP files of an index: those that the user named, or `index.scip` in the root of the repository."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dowse.graph.scip.importing import import_scip, refuse_own_export
from dowse.graph.scip.reading import ScipError, ScipFile, open_scip
from dowse.indexing.hashes import content_hash
from dowse.indexing.scip_stamps import DEFAULT_SCIP, ScipStamp, ScipStamps, read_stamps
from dowse.storage.protocol import Writer


@dataclass(frozen=True, slots=True)
class ScipFiles:
    """The SCIP files that an index is to be linked with."""

    files: tuple[ScipFile, ...]
    is_named: bool  # by the user, so that a problem is an error and not a note
    is_new: bool  # whether the last generation was linked with others, or with older ones
    problem: str = ""

    def import_into(self, writer: Writer, root: Path) -> tuple[str, ...]:
        """Read the files into the graph; return notes about what of them counts."""
        writer.begin_generation()
        try:
            report = import_scip(writer.graph(), root, self.files, content_hash)
        except ScipError as error:
            if self.is_named:
                raise
            import_scip(writer.graph(), root, (), content_hash)
            return (f"{error}; it is not used",)
        if self.problem:
            return (self.problem,)
        return (_summary(self.files, *report),) if self.files else ()

    def stamps(self) -> ScipStamps:
        """Return what the index remembers of the files, to see whether they are written again."""
        files = (ScipStamp(str(file.path), file.size, file.mtime_ns) for file in self.files)
        return ScipStamps(self.is_named, tuple(files))


def find_scip_files(root: Path, meta: Mapping[str, str], named: Sequence[Path]) -> ScipFiles:
    """Return the SCIP files to use: those named now, those named for an earlier update, or the default one.

    Raises:
        ScipError: A file that is named now can't be read.
    """
    before = read_stamps(meta)
    if named:
        files = tuple(open_scip(path.expanduser().resolve()) for path in named)
        for file in files:
            _check(file)
        return _compared(ScipFiles(files, True, True), before)
    if before.is_named:
        try:
            return _compared(
                ScipFiles(tuple(open_scip(Path(file.path)) for file in before.files), True, True), before
            )
        except ScipError:  # it was removed: what was read of it stays
            return ScipFiles((), True, False)
    path = root / DEFAULT_SCIP
    if not os.path.lexists(path):
        return _compared(ScipFiles((), False, True), before)
    try:
        found = open_scip(path, follow_symlinks=False)
    except ScipError as error:
        return _compared(ScipFiles((), False, True, f"{error}; it is not used"), before)
    return _compared(ScipFiles((found,), False, True), before)


def _compared(scip: ScipFiles, before: ScipStamps) -> ScipFiles:
    return ScipFiles(scip.files, scip.is_named, scip.stamps() != before, scip.problem)


def _check(file: ScipFile) -> None:
    """Read a file once before anything is written: an error at its end would undo an hour of indexing."""
    refuse_own_export(file)
    for _ in file.documents():
        pass


def _summary(files: Sequence[ScipFile], used: int, changed: int, unknown: int) -> str:
    names = ", ".join(file.path.name for file in files)
    counts = [f"{used:,} files as the compiler saw them"]
    counts += [f"{changed:,} changed since then"] if changed else []
    counts += [f"{unknown:,} documents outside the index"] if unknown else []
    return f"{names}: {', '.join(counts)}"
