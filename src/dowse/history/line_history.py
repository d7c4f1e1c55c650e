"""The commits that changed a definition: git follows its lines back from where they are today."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from dowse.errors import DowseError
from dowse.history.sources import definitions_in
from dowse.lazy_classes import NamedTuple
from dowse.parsing.languages import detect_language, has_symbols
from dowse.source.git_objects import open_blobs
from dowse.source.git_process import GitError, SandboxedGit
from dowse.source.walk import MAX_FILE_BYTES

# A name of more definitions means none of them.
MAX_DEFINITIONS = 40
# Files with the name that are parsed.
_MAX_FILES = 400
_OTHER = "[^A-Za-z0-9_]"
_NO_PROSE = (":!*.md", ":!*.rst", ":!*.txt", ":!*.adoc", ":!*.html")
_SEPARATORS = re.compile(r"::|[.#]")


class LineRange(NamedTuple):
    """Where a definition is in HEAD."""

    path: str
    first: int
    last: int


def commits_of_symbol(git: SandboxedGit, name: str, is_wanted: Callable[[str], bool]) -> set[str] | None:
    """Return the ids of the commits that changed the lines of a definition; None if HEAD has none.

    Args:
        git: The repository.
        name: `name` or `Class.name`, of a function, a class, a constant, a field.
        is_wanted: Whether definitions of a file count.

    Raises:
        DowseError: So many definitions have the name that it means none.
    """
    parts = [part for part in _SEPARATORS.split(name) if part]
    ranges = list(dict.fromkeys(_ranges(git, parts, is_wanted))) if parts else []
    if len(ranges) > MAX_DEFINITIONS:
        text = f"{name} has {len(ranges)} definitions; name one as Class.{parts[-1]}, or add path:"
        raise DowseError(text)
    if not ranges:
        return None
    lines = [f"-L{each.first},{each.last}:{each.path}" for each in ranges]
    return set(_ids(git, "--no-merges", "-M50%", *lines, "HEAD"))


def commits_with_changed_name(git: SandboxedGit, word: str, among: list[str]) -> set[str]:
    """Return which commits changed a line that may define or call a name, but for prose."""
    if not among:
        return set()
    pattern = f"-G(^|{_OTHER}){re.escape(word)}[ \t]*([(:={{<]|struct|interface)"
    return set(_ids(git, "--no-walk=unsorted", pattern, *among, "--", ".", *_NO_PROSE))


def _ids(git: SandboxedGit, *arguments: str) -> Iterator[str]:
    options = ("--no-patch", "--format=%H", "--no-ext-diff", "--no-textconv", "--no-show-signature")
    with git.start("log", *options, *arguments) as process:
        yield from (line.decode("ascii").strip() for line in process.lines(1_000))
        process.finish()


def _ranges(git: SandboxedGit, parts: list[str], is_wanted: Callable[[str], bool]) -> Iterator[LineRange]:
    """Give the lines of every definition that has these last parts of a qualified name."""
    paths = [path for path in _files_with(git, parts[-1]) if has_symbols(detect_language(path))]
    with open_blobs(git, MAX_FILE_BYTES) as blobs:
        for path in list(filter(is_wanted, paths))[:_MAX_FILES]:
            data = blobs.read(f"HEAD:{path}")
            found = definitions_in(data, path) if data else None
            for each in found.definitions if found else ():
                if each.qualified_name.split(".")[-len(parts) :] == parts:
                    yield LineRange(path, each.start_line, each.end_line)
            for name in found.names if found else ():
                if name.qualified_name.split(".")[-len(parts) :] == parts:
                    yield LineRange(path, name.line, name.line)


def _files_with(git: SandboxedGit, word: str) -> list[str]:
    """Return the files of HEAD that have a word; none if git finds none."""
    arguments = ("grep", "-l", "-w", "-F", "-I", "-z", "--full-name", "-e", word, "HEAD", "--")
    try:
        with git.start(*arguments) as process:
            output = b"".join(iter(process.read_block, b""))
            process.finish()
    except GitError:  # nothing has it
        return []
    paths = (entry.removeprefix(b"HEAD:") for entry in output.split(b"\0") if entry)
    return [path.decode() for path in paths if b"\n" not in path and _is_utf8(path)]


def _is_utf8(path: bytes) -> bool:
    try:
        path.decode()
    except UnicodeDecodeError:
        return False
    return True
