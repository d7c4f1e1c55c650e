"""Match results with targets: each result becomes the key of the target that it matches."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Set
from pathlib import PurePath

from dowse.eval.types import SearchResult
from dowse.lazy_classes import NamedTuple
from dowse.types import Hit, Symbol

# The lines of a file, after its path: `#10-20` or `#10`. Any other "#" belongs to the path.
SPAN = re.compile(r"#(\d+)(?:-(\d+))?\Z")


def to_search_result(result: object) -> SearchResult:
    """Return any tool's result: a `Hit`, a `Symbol`, a path, `path::name` or an id; TypeError for others."""
    symbol = result.symbol if isinstance(result, Hit) else result
    if isinstance(symbol, Symbol):
        lines = (symbol.start_line, symbol.end_line)
        return SearchResult(symbol.path, symbol.qualified_name, *lines, symbol.id, symbol.repo)
    if isinstance(result, SearchResult):
        return result._replace(path=_plain_path(result.path))
    if isinstance(result, str | os.PathLike):
        path, _, name = _plain_path(result).partition("::")
        return SearchResult(path, name, id=str(result))
    raise TypeError(
        f"a search gave {result!r:.80}; each result must be a Hit, a SearchResult, a path, `path::name` or id"
    )


def ranked_keys(
    results: Iterable[SearchResult], targets: Iterable[str], level: str, counting: str = "distinct"
) -> list[str]:
    """Return one key for every result that counts: that of the target it matches, else a unique one.

    A target counts at its first match. What matches it again takes a rank as something else if `counting`
    is "results", and none if it is "distinct"; neither does a second result in any one file or symbol then.
    A result that matches several targets of one file stands for all of them, at successive ranks.
    """
    results = list(results)
    wanted = [parse_target(target, level) for target in targets]
    found_paths = {result.path for result in results}
    # `app.py` may be `src/web/app.py`, seen from the folder above; but not if `web/app.py` was found as well.
    paths = {each.path: closest_paths(each.path, found_paths) for each in wanted if each.path}
    keys: dict[str, None] = {}
    seen: set[str] = set()
    for result in results:
        own = _identity(result, level)
        matched = [each for each in wanted if _matches(result, each, paths, level)]
        new = [each for each in matched if each.key not in keys]
        if new:
            keys |= dict.fromkeys(each.key for each in new if each.path == new[0].path)
        elif counting == "results" or not (matched or own in seen):
            # A key that no target can have: no path or identifier holds this character.
            keys[f"{own}\0{len(keys)}"] = None
        seen.add(own)
    return list(keys)


def display_name(result: SearchResult, level: str) -> str:
    """Return the name of a result in reports."""
    if level == "file":
        return result.path or result.id
    if result.symbol:
        return f"{result.path}::{result.symbol}" if result.path else result.symbol
    return (
        f"{result.path}:{result.start_line}"
        if result.path and result.start_line
        else result.path or result.id
    )


def same_path(one: str, other: str) -> bool:
    """Whether two paths may name one file: they are equal, or one is a suffix of the other."""
    return ends_with(one, other, "/") or ends_with(other, one, "/")


class Target(NamedTuple):
    """A judged target: a file, lines of it, or a symbol."""

    key: str  # as the case writes it
    path: str = ""
    name: str = ""
    start: int = 0  # 0 for any line
    end: int = 0


def parse_target(target: str, level: str) -> Target:
    """Parse the text of a target at a level."""
    if level == "symbol":
        path, separator, name = target.partition("::")
        return Target(target, _plain_path(path), name) if separator else Target(target, name=target)
    lines = SPAN.search(target)
    if lines is None:
        return Target(target, _plain_path(target))
    path, start, end = target[: lines.start()], lines[1], lines[2] or lines[1]
    return Target(target, _plain_path(path), "", int(start), int(end))


def closest_paths(path: str, paths: Set[str]) -> set[str]:
    """Return those among some paths that match a target's path best."""
    if path in paths:
        return {path}
    similar = {other: min(len(other), len(path)) for other in paths if same_path(other, path)}
    return {other for other, shared in similar.items() if shared == max(similar.values())}


def ends_with(whole: str, end: str, separator: str) -> bool:
    """Whether a name is another one, or its last parts."""
    return whole == end or whole.endswith(separator + end)


def _matches(result: SearchResult, target: Target, paths: Mapping[str, set[str]], level: str) -> bool:
    if target.key == result.id:
        return True
    if target.path and result.path not in paths[target.path]:
        return False
    if level == "file":
        # A tool that tells no lines is given the benefit of the doubt.
        if not target.start or not result.start_line:
            return True
        return result.start_line <= target.end and max(result.start_line, result.end_line) >= target.start
    if target.path:
        return result.symbol == target.name
    return bool(result.symbol) and ends_with(result.symbol, target.name, ".")


def _identity(result: SearchResult, level: str) -> str:
    """Return what tells results apart: entries of a corpus may share path and name, but not the id."""
    return display_name(result, level) if level == "file" else result.id or display_name(result, level)


def _plain_path(path: str | os.PathLike[str]) -> str:
    """Return a path with "/" between folders and no "./" before it."""
    return (path.as_posix() if isinstance(path, PurePath) else os.fspath(path)).removeprefix("./")
