"""The symbols that the frames of a pasted stack trace lie in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from dowse.query.stack_trace import Frame, StackTrace
from dowse.search.ranking.signals import RankedHit
from dowse.storage.protocol import Reader
from dowse.types import NON_DEFINITION_KINDS, Contribution, Note, StoredFile, SymbolRow

# Frames that become hits; those further out say less and less.
_MAX_HITS = 20
# Files of one name that are compared: large repositories have thousands of `index.ts`.
_MAX_SAME_NAME = 200
# Parts of a function's name as traces write it: `pkg.(*Type).Method[...]`, `Class::method`, `a.b#c`, `f/2`.
_NAME = re.compile(r"[A-Za-z_$][\w$]*[?!=]?")
_NOT_NAMES = frozenset(["anonymous", "async", "new", "lambda", "locals", "block", "closure", "init", "in", "rescue", "fn", "func1", "func2"])


class FrameHit(NamedTuple):
    """A frame of a trace, and the symbol of this index that it lies in."""

    row: SymbolRow
    frame: Frame


def find_frames(reader: Reader, trace: StackTrace) -> list[FrameHit]:
    """Return the symbols of the frames that lie in this index, innermost first, each once.

    Paths of traces have the prefix of the machine that wrote them, so the longest matching end of a path
    decides. A file name alone is enough only where the function has the same name, or nothing else was given.
    """
    by_name: dict[str, list[StoredFile]] = {}
    rows_by_file: dict[int, list[SymbolRow]] = {}
    hits: dict[int, FrameHit] = {}
    for frame in trace.frames:
        name = frame.path.rpartition("/")[2]
        if name and name not in by_name:
            by_name[name] = reader.files_with_suffix(name)[:_MAX_SAME_NAME]
        best: tuple[tuple[int, ...], SymbolRow] | None = None
        for file, shared in _same_path_end(frame.path, by_name.get(name, ())):
            if file.file_id not in rows_by_file:
                rows_by_file[file.file_id] = reader.rows_of_files([file.file_id])
            row, is_same_name = _symbol_of_frame(rows_by_file[file.file_id], frame)
            whole = shared == frame.path.strip("./").count("/") + 1
            if row is None or not (is_same_name or shared > 1 or whole):
                continue
            key = (is_same_name, shared, _shared_words(file.path, frame.path), not file.role, -len(file.path))
            if best is None or key > best[0]:
                best = key, row
        if best:
            hits.setdefault(best[1].row, FrameHit(best[1], frame))
        if len(hits) == _MAX_HITS:
            break
    return list(hits.values())


def frames_first(hits: Sequence[RankedHit], frames: Sequence[FrameHit]) -> list[RankedHit]:
    """Move the symbols of frames before all other hits, in the order of the frames."""
    if not frames:
        return list(hits)
    by_row = {hit.row.row: hit for hit in hits}
    best = max((hit.score for hit in hits), default=0.0) or 1.0
    first: list[RankedHit] = []
    for number, (row, frame) in enumerate(frames):
        hit = by_row.get(row.row) or RankedHit(row, 0.0, [])
        score = best * (2 - number / len(frames))
        detail = f"frame {number + 1}: {frame.path}:{frame.line}"
        contributions = [*hit.contributions, Contribution("frame", score - hit.score, detail)]
        first.append(RankedHit(hit.row, score, contributions))
    known = {row.row for row, _ in frames}
    return [*first, *(hit for hit in hits if hit.row.row not in known)]


def frame_note(trace: StackTrace, frames: Sequence[FrameHit]) -> Note:
    """Say how a pasted text was read."""
    total = len(trace.frames)
    if not frames:
        positions = "its position is" if total == 1 else f"none of its {total} positions is"
        return Note("trace", f"read as a {trace.source}; {positions} {'not ' if total == 1 else ''}in this index")
    text = f"{len(frames)} of its {total} positions lie in this index" if total > 1 else "its position comes first"
    return Note("trace", f"read as a {trace.source}: {text}, then what its message is about")


def _same_path_end(path: str, files: Iterable[StoredFile]) -> list[tuple[StoredFile, int]]:
    """Return the files whose paths end like a path, each with the number of components that agree."""
    wanted = path.strip("./").split("/")[::-1]
    found = []
    for file in files:
        shared = 0
        for mine, other in zip(file.path.split("/")[::-1], wanted, strict=False):
            if mine != other:
                break
            shared += 1
        found.append((file, shared))
    return sorted(found, key=lambda each: -each[1])


def _symbol_of_frame(rows: Sequence[SymbolRow], frame: Frame) -> tuple[SymbolRow | None, bool]:
    """Return the symbol at a frame's line, and whether it has the name of the frame's function.

    Where another symbol stands at that line by now, the nearest one with the function's name counts.
    """
    names = [name for name in _NAME.findall(frame.function) if name not in _NOT_NAMES]
    inner: SymbolRow | None = None
    for row in rows:
        if row.start_line <= frame.line <= row.end_line and (
            inner is None or row.end_line - row.start_line <= inner.end_line - inner.start_line
        ):
            inner = row
    if inner is not None and inner.kind not in NON_DEFINITION_KINDS and (not names or inner.name in names):
        return inner, inner.name in names
    same = [row for row in rows if names and row.name == names[-1] and row.kind not in NON_DEFINITION_KINDS]
    if same:
        nearest = min(same, key=lambda row: max(row.start_line - frame.line, frame.line - row.end_line, 0))
        if inner is None or inner.kind in NON_DEFINITION_KINDS or not nearest.start_line <= frame.line <= nearest.end_line:
            return nearest, True
    return inner, False


def _shared_words(path: str, other: str) -> int:
    """Return how many words of a path occur in another: `axum-0.8.1/src/x.rs` is `axum/src/x.rs`."""
    return len(set(re.findall(r"[a-z]+", path.lower())) & set(re.findall(r"[a-z]+", other.lower())))
