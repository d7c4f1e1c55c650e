"""The symbols that the frames of a pasted stack trace lie in."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile
from typing import TYPE_CHECKING

from dowse.lazy_classes import NamedTuple
from dowse.search.ranking.signals import RankedHit
from dowse.storage.protocol import Reader
from dowse.types import NON_DEFINITION_KINDS, Contribution, Note, StoredFile, SymbolRow

if TYPE_CHECKING:
    from dowse.query.stack_trace import Frame, StackTrace

# Frames that become hits; those further out say less and less.
_MAX_HITS = 20
# Files of one name that are compared: large repositories have thousands of `index.ts`.
_MAX_SAME_NAME = 200
# Parts of a function's name as traces write it: `pkg.(*Type).Method[...]`, `Class::method`, `a.b#c`, `f/2`.
_NAME = re.compile(r"[A-Za-z_$][\w$]*[?!=]?")
_NOT_NAMES = frozenset(
    [
        "anonymous",
        "async",
        "new",
        "lambda",
        "locals",
        "block",
        "closure",
        "init",
        "in",
        "rescue",
        "fn",
        "func1",
        "func2",
    ]
)


class LocatedHit(NamedTuple):
    """A symbol or name that a query points to: by a position, by the words of a message, by its name."""

    row: SymbolRow
    line: int
    source: str  # of its contribution: "frame", "message", "definition" or "occurrence"
    detail: str


def find_frames(reader: Reader, trace: StackTrace) -> list[LocatedHit]:
    """Return the symbols of the frames that lie in this index, innermost first, each once.

    Paths of traces have the prefix of the machine that wrote them, so the longest matching end of a path
    decides. Where several files match equally well, or the file name is all that matches and nothing else
    confirms it, the frame is one of other code.
    """
    files: dict[str, list[StoredFile]] = {}
    rows: dict[int, list[SymbolRow]] = {}
    hits: dict[int, LocatedHit] = {}
    for frame in trace.frames:
        if not frame.path:  # a backtrace of C: if one function has the name, it is that one
            same = [
                row for row in reader.rows_named([frame.function], 3) if row.kind not in NON_DEFINITION_KINDS
            ]
            if len(same) == 1:
                detail = f"frame {len(hits) + 1}: {frame.function}"
                hits.setdefault(same[0].row, LocatedHit(same[0], same[0].start_line, "frame", detail))
            continue
        name = frame.path.rpartition("/")[2]
        if name not in files:
            files[name] = reader.files_with_suffix(name)[:_MAX_SAME_NAME]
        matches = []
        for file in files[name]:
            if file.file_id not in rows:
                rows[file.file_id] = reader.rows_of_files([file.file_id])
            row, is_same_name = _symbol_of_frame(rows[file.file_id], frame)
            if row is not None:
                matches.append((_match_quality(file, frame, is_same_name), row))
        matches.sort(key=lambda match: match[0], reverse=True)
        if matches and matches[0][0].is_enough and [match[0] for match in matches].count(matches[0][0]) == 1:
            row = matches[0][1]
            detail = f"frame {len(hits) + 1}: {frame.path}:{frame.line}"
            hits.setdefault(row.row, LocatedHit(row, frame.line, "frame", detail))
        if len(hits) == _MAX_HITS:
            break
    return list(hits.values())


def located_first(
    hits: Sequence[RankedHit], located: Sequence[LocatedHit], position: int = 0
) -> list[RankedHit]:
    """Move what a query points to before all other hits, or behind some of them, in their order."""
    if not located:
        return list(hits)
    by_row = {hit.row.row: hit for hit in hits}
    best = max((hit.score for hit in hits), default=0.0) or 1.0
    highest, lowest = 2 * best, best
    if position:
        highest = hits[position - 1].score
        lowest = min(highest, hits[position].score) if position < len(hits) else highest / 2
    first: list[RankedHit] = []
    for number, (row, _, source, detail) in enumerate(located):
        hit = by_row.get(row.row) or RankedHit(row, 0.0, [])
        score = highest - (highest - lowest) * number / len(located)
        contributions = [*hit.contributions, Contribution(source, score - hit.score, detail)]
        first.append(RankedHit(hit.row, score, contributions))
    known = {each.row.row for each in located}
    others = [hit for hit in hits if hit.row.row not in known]
    return [*others[:position], *first, *others[position:]]


def frame_note(trace: StackTrace, frames: Sequence[LocatedHit]) -> Note:
    """Say how a pasted text was read."""
    total = len(trace.frames)
    known = f"{len(frames)} of its {total} positions" if total > 1 else "its position"
    if not frames:
        unknown = f"none of its {total} positions is" if total > 1 else "its position is not"
        return Note("trace", f"read as {trace.source}; {unknown} in this index")
    return Note("trace", f"read as {trace.source}: {known} first, then what its message is about")


class _Match(NamedTuple):
    """How well a file matches the path of a frame; compared field by field."""

    is_enough: bool
    is_same_name: bool  # the symbol at the line has the name of the frame's function
    shared: int  # components at the end of both paths that agree
    shared_words: int  # `axum-0.8.1/src/x.rs` is rather `axum/src/x.rs` than `axum-core/src/x.rs`
    is_own_code: bool
    brevity: int


def _match_quality(file: StoredFile, frame: Frame, is_same_name: bool) -> _Match:
    path, other = file.path.split("/"), frame.path.strip("./").split("/")
    shared = sum(
        1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(path[::-1], other[::-1], strict=False))
    )
    # A file at the root of the repository: the folder above it has the repository's name.
    above = other[-shared - 1] if shared == len(path) < len(other) else ""
    is_in_root = bool(_words(file.repo) & _words(above))
    return _Match(
        is_same_name or shared > 1 or shared == len(other) or is_in_root,
        is_same_name,
        shared,
        len(_words(file.path) & _words(frame.path)),
        not file.role,
        -len(path),
    )


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
        if (
            inner is None
            or inner.kind in NON_DEFINITION_KINDS
            or not nearest.start_line <= frame.line <= nearest.end_line
        ):
            return nearest, True
    return inner, False


def _words(path: str) -> set[str]:
    return set(re.findall(r"[a-z]+", path.lower()))
