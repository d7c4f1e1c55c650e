"""From what a tool found to what was asked for: each result becomes the name of the target it meets."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Set
from pathlib import PurePath
from typing import Any, NamedTuple

from dowse.eval.types import SearchResult
from dowse.types import Hit

# The lines of a file, after its path: `#10-20` or `#10`. Any other "#" belongs to the path.
SPAN = re.compile(r"#(\d+)(?:-(\d+))?\Z")
# What the fields of a result must be, where it is not text.
_FIELD_TYPES: dict[str, tuple[Any, str]] = {
    "path": (str | os.PathLike, "text or a path"),
    "start_line": (int, "a whole number"),
    "end_line": (int, "a whole number"),
}


def to_search_result(result: object) -> SearchResult:
    """Return any tool's result as `Found`: a `Hit`, a path, `path::name`, an id, or a mapping of its fields.

    Raises:
        TypeError: It is none of these, or a field of it has the wrong type.
    """
    if isinstance(result, Hit):
        symbol = result.symbol
        lines = (symbol.start_line, symbol.end_line)
        return SearchResult(symbol.path, symbol.qualified_name, *lines, symbol.id, symbol.repo)
    if isinstance(result, SearchResult):
        return _checked(result._asdict())
    if isinstance(result, Mapping):
        return _checked(result)
    if isinstance(result, str | os.PathLike):
        path, _, name = _plain_path(result).partition("::")
        return SearchResult(path, name, id=str(result))
    raise TypeError(
        f"a search gave {result!r:.80}; each result must be a Hit, a SearchResult, a path, `path::name`, an id, "
        f"or a mapping with any of {', '.join(SearchResult._fields)}"
    )


def ranked_keys(
    results: Iterable[SearchResult], targets: Iterable[str], level: str, counting: str = "distinct"
) -> list[str]:
    """Return one key for every result that counts: the target it meets, else a name of its own.

    A target counts where it is first met. What meets it again takes a place as something else if `counting`
    is "results", and none if it is "distinct"; neither does a second result in any one file or symbol then.
    A result that meets several targets of one file stands for all of them, in places one after another.
    """
    results = list(results)
    wanted = [parse_target(target, level) for target in targets]
    meant = _meant_paths(wanted, {found.path for found in results})
    keys: dict[str, None] = {}
    seen: set[str] = set()
    for found in results:
        own = _identity(found, level)
        met = [each for each in wanted if _meets(found, each, meant, level)]
        new = [each for each in met if each.key not in keys]
        if new:
            keys |= dict.fromkeys(each.key for each in new if each.path == new[0].path)
        elif counting == "results" or not (met or own in seen):
            # A name that no target can have: no path or identifier holds this character.
            keys[f"{own}\0{len(keys)}"] = None
        seen.add(own)
    return list(keys)


def shown(found: SearchResult, level: str) -> str:
    """Return how a result is called in reports."""
    if level == "file":
        return found.path or found.id
    if found.symbol:
        return f"{found.path}::{found.symbol}" if found.path else found.symbol
    return f"{found.path}:{found.start_line}" if found.path and found.start_line else found.path or found.id


def same_path(one: str, other: str) -> bool:
    """Whether two paths may name one file: they are equal, or one is the other seen from a folder above."""
    return ends_with(one, other, "/") or ends_with(other, one, "/")


class Target(NamedTuple):
    """What a case names: a file, lines of it, or a symbol."""

    key: str  # as the case writes it
    path: str = ""
    name: str = ""
    start: int = 0  # 0 for any line
    end: int = 0


def parse_target(target: str, level: str) -> Target:
    """Return what the text of a target names at a level."""
    if level == "symbol":
        path, separator, name = target.partition("::")
        return Target(target, _plain_path(path), name) if separator else Target(target, name=target)
    lines = SPAN.search(target)
    if lines is None:
        return Target(target, _plain_path(target))
    path, start, end = target[: lines.start()], lines[1], lines[2] or lines[1]
    return Target(target, _plain_path(path), "", int(start), int(end))


def _meant_paths(wanted: Iterable[Target], paths: set[str]) -> dict[str, set[str]]:
    """Return for every target's path those among the found ones that mean it: the closest only.

    `app.py` may be `src/web/app.py`, seen from the folder above; but not if `web/app.py` was found as well.
    """
    return {each.path: closest_paths(each.path, paths) for each in wanted if each.path}


def closest_paths(path: str, paths: Set[str]) -> set[str]:
    """Return those among some paths that a target's path means."""
    if path in paths:
        return {path}
    similar = {other: min(len(other), len(path)) for other in paths if same_path(other, path)}
    return {other for other, shared in similar.items() if shared == max(similar.values())}


def _meets(found: SearchResult, target: Target, meant: Mapping[str, set[str]], level: str) -> bool:
    if target.key == found.id:
        return True
    if target.path and found.path not in meant[target.path]:
        return False
    if level == "file":
        return _overlaps(found, target)
    if target.path:
        return found.symbol == target.name
    return bool(found.symbol) and ends_with(found.symbol, target.name, ".")


def _overlaps(found: SearchResult, target: Target) -> bool:
    """Whether a result has any line that is wanted; a tool that tells no lines is given the benefit."""
    if not target.start or not found.start_line:
        return True
    return found.start_line <= target.end and max(found.start_line, found.end_line) >= target.start


def _identity(found: SearchResult, level: str) -> str:
    """Return what tells results apart: entries of a corpus may share path and name, but not the id."""
    return shown(found, level) if level == "file" else found.id or shown(found, level)


def _checked(fields: Mapping[str, object]) -> SearchResult:
    """Return a result of the fields that are known; None is as good as absent."""
    known: dict[str, Any] = {
        name: fields[name] for name in SearchResult._fields if fields.get(name) is not None
    }
    if not known:
        raise TypeError(
            f"a search gave {dict(fields)!r:.80}; it needs any of the fields {', '.join(SearchResult._fields)}"
        )
    for name, value in known.items():
        kind, words = _FIELD_TYPES.get(name, (str, "text"))
        if not isinstance(value, kind) or isinstance(value, bool):
            raise TypeError(f"a search gave {value!r:.80} as {name}; it must be {words}")
    return SearchResult(**{**known, "path": _plain_path(known.get("path", ""))})


def _plain_path(path: str | os.PathLike[str]) -> str:
    """Return a path with "/" between folders and no "./" before it."""
    return (path.as_posix() if isinstance(path, PurePath) else os.fspath(path)).removeprefix("./")


def ends_with(whole: str, end: str, separator: str) -> bool:
    """Whether a name is another one, or its last parts."""
    return whole == end or whole.endswith(separator + end)
