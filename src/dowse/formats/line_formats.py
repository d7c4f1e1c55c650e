"""The formats that editors and shell tools read line by line: `path`, `grep` and `vimgrep`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from dowse.formats.locations import Location
from dowse.security.terminal import escape_controls, escape_line_ends, escape_name


def format_paths(locations: Iterable[Location]) -> str:
    """Return each path once, in the order of the answer."""
    return "".join(f"{path}\n" for path in dict.fromkeys(location.path for location in locations))


def format_grep(locations: Iterable[Location]) -> str:
    """Return `path:line:text` as `grep -n` prints it; several matches in a line are one."""
    lines = dict.fromkeys((location.path, location.line, location.text) for location in locations)
    return "".join(f"{path}:{line}:{text}\n" for path, line, text in lines)


def format_vimgrep(locations: Iterable[Location]) -> str:
    """Return `path:line:column:text` for every match, as `rg --vimgrep` prints it."""
    return "".join(
        f"{path}:{line}:{column}:{text}\n" for path, line, column, text in dict.fromkeys(locations)
    )


LINE_FORMATS = {"path": format_paths, "grep": format_grep, "vimgrep": format_vimgrep}


def format_lines(name: str, locations: Iterable[Location], target: str, root: Path, *, terminal: bool) -> str:
    """Return locations in one of `LINE_FORMATS`; the arguments are those of `escape_locations`."""
    return LINE_FORMATS[name](escape_locations(locations, target, root, terminal=terminal))


def escape_locations(
    locations: Iterable[Location], target: str, root: Path, *, terminal: bool
) -> Iterator[Location]:
    """Yield locations whose parts fit on one line, with paths that can be opened (`openable_path`).

    Args:
        locations: The locations, with paths as in the index.
        target: What was searched, as the user wrote it.
        root: The resolved folder or corpus of `target`.
        terminal: Whether control characters in code are escaped as well; in a pipe it stays exact.
    """
    escape = escape_controls if terminal else escape_line_ends
    paths: dict[str, str] = {}  # an answer has many locations in each file
    for location in locations:
        path = paths.get(location.path)
        if path is None:
            path = paths[location.path] = escape_name(openable_path(location.path, target, root))
        yield location._replace(path=path, text=escape(location.text))


def openable_path(path: str, target: str, root: Path) -> str:
    """Return a path that can be opened from the current folder, as ripgrep prints it.

    A corpus is a file, and its paths are no files: they stay as they are.
    """
    if target in ("", ".") or not root.is_dir():
        return path
    return str(Path(target).expanduser() / path)
