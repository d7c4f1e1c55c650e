"""Resolve the symbol that a call names; errors list candidates or similar names."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from dowse.errors import DowseError
from dowse.interfaces.mcp.frame import frame, quote_name
from dowse.interfaces.mcp.reply import ToolContext
from dowse.interfaces.mcp.repositories import Repository, parse_location
from dowse.security.secret_masking import mask_text
from dowse.security.terminal import escape_name
from dowse.services.errors import AmbiguousTarget
from dowse.services.indexes import ServedIndexes
from dowse.services.targets import Target, open_target
from dowse.symbol_lookup import UnknownName

# Similar symbols that are listed for an unknown name.
_MAX_SIMILAR = 5
# Candidates that are listed for an ambiguous name.
_MAX_CANDIDATES = 8


class _Candidates(UnknownName):
    """An unknown or ambiguous name; the message lists what may be meant, one a line."""

    is_list = True

    def __init__(self, message: str, lines: list[str]) -> None:
        """Put the lines, which quote the repository, into a frame."""
        super().__init__("\n".join([message, *frame(lines)]))


@contextlib.contextmanager
def open_symbol(context: ToolContext, target: str) -> Iterator[tuple[Repository, Target]]:
    """Give the one symbol that a call names, and its repository."""
    context.call.check()
    repositories, name = parse_location(context.repositories, target)
    indexes = ServedIndexes(each.served for each in repositories)
    with _listing_candidates(repositories, name), open_target(indexes, None, name) as found:
        yield next(each for each in repositories if each.served is found.served), found


@contextlib.contextmanager
def _listing_candidates(repositories: list[Repository], name: str) -> Iterator[None]:
    """Have errors about a name list what can be named instead."""
    try:
        yield
    except AmbiguousTarget as error:
        raise _ambiguous(name, error) from None
    except UnknownName as error:
        message = escape_name(str(error).partition("; ")[0])
        similar = [line for each in repositories for line in _similar(each, name)]
        remedy = "name one of the nearest:" if similar else "use the search tool to find it"
        raise _Candidates(f"{message}; {remedy}", similar) from None


def _ambiguous(name: str, error: AmbiguousTarget) -> _Candidates:
    if len({index for index, _ in error.candidates}) > 1:
        lines = [
            f"  {quote_name(index)}  {quote_name(row.path)}:{row.start_line}"
            f"  {quote_name(mask_text(row.qualified_name))}"
            for index, row in error.candidates
        ]
        message = f"{quote_name(name)} is in several repositories; name one of them with `repo`"
        return _Candidates(message, lines)
    rows = [row for _, row in error.candidates[:_MAX_CANDIDATES]]
    lines = [_line(row.path, row.start_line, row.kind, mask_text(row.qualified_name)) for row in rows]
    more = len(error.candidates) - len(rows)
    count = f" ({more} more)" if more else ""
    return _Candidates(f"{quote_name(name)} could be any of these{count}; name one by its path:line", lines)


def _line(path: str, line: int, kind: str, name: str) -> str:
    return f"  {quote_name(path)}:{line}  {kind} {quote_name(name)}"


def _similar(repository: Repository, name: str) -> list[str]:
    """Return the symbols that a keyword search for a name finds."""
    try:
        answer = repository.index.search(name, _MAX_SIMILAR, "keyword", plain=True)
    except (DowseError, ValueError):
        return []
    symbols = [hit.symbol for hit in answer.hits]
    return [_line(each.path, each.start_line, each.kind, each.qualified_name) for each in symbols]
