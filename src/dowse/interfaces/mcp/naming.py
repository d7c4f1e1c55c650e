"""From what a call names to the symbol; where that fails, the error names what comes nearest."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from dowse.errors import DowseError
from dowse.interfaces.http.problems import AmbiguousAcross
from dowse.interfaces.mcp.frame import framed, quoted
from dowse.interfaces.mcp.reply import Asked
from dowse.interfaces.mcp.repositories import Gathered, Repository, located
from dowse.security.secret_masking import mask_text
from dowse.security.terminal import escape_name
from dowse.services.targets import Found, found
from dowse.symbol_lookup import AmbiguousName, UnknownName

# Symbols that are named where none bears the name that was asked for.
_NEAREST = 5
# Symbols that are named where several bear it.
_MOST_CANDIDATES = 8


class _Candidates(UnknownName):
    """A name that no symbol bears, or several; the message lists what may be meant, one a line."""

    is_list = True


@contextlib.contextmanager
def found_symbol(asked: Asked, target: str) -> Iterator[tuple[Repository, Found]]:
    """Give the one symbol that a call names, and its repository."""
    asked.call.check()
    repositories, name = located(asked.repositories, target)
    places = Gathered(each.place for each in repositories)
    with _suggesting(repositories, name), found(places, None, name) as at:
        yield next(each for each in repositories if each.place is at.place), at


@contextlib.contextmanager
def _suggesting(repositories: list[Repository], name: str) -> Iterator[None]:
    """Tell what can be named instead of what was; all that is the repository's is in a frame."""
    try:
        yield
    except AmbiguousAcross as error:
        lines = [
            f"  {quoted(each['index'])}  {quoted(each['path'])}:{each['start_line']}"
            f"  {quoted(each['qualified_name'])}"
            for each in error.candidates
        ]
        said = f"{quoted(name)} is in several repositories; name one of them with `repo`"
        raise _Candidates(_listed(said, lines)) from None
    except AmbiguousName as error:
        rows = error.candidates[:_MOST_CANDIDATES]
        lines = [_named(row.path, row.start_line, row.kind, mask_text(row.qualified_name)) for row in rows]
        more = len(error.candidates) - len(rows)
        count = f" ({more} more)" if more else ""
        said = f"{quoted(name)} could be any of these{count}; name one by its path:line"
        raise _Candidates(_listed(said, lines)) from None
    except UnknownName as error:
        said = escape_name(str(error).partition("; ")[0])
        nearest = [line for each in repositories for line in _nearest(each, name)]
        remedy = "name one of the nearest:" if nearest else "use the search tool to find it"
        raise _Candidates(_listed(f"{said}; {remedy}", nearest)) from None


def _listed(said: str, lines: list[str]) -> str:
    return "\n".join([said, *framed(lines)])


def _named(path: str, line: int, kind: str, name: str) -> str:
    return f"  {quoted(path)}:{line}  {kind} {quoted(name)}"


def _nearest(repository: Repository, name: str) -> list[str]:
    """Return symbols whose words come nearest to a name."""
    try:
        answer = repository.index.search(name, _NEAREST, "keyword", plain=True)
    except (DowseError, ValueError):
        return []
    found = [hit.symbol for hit in answer.hits]
    return [_named(each.path, each.start_line, each.kind, each.qualified_name) for each in found]
