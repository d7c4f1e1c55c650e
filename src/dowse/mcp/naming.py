"""From what a call names to the symbol; where that fails, the error names what comes nearest."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from dowse.errors import DowseError
from dowse.mcp.frame import quoted
from dowse.mcp.reply import Asked
from dowse.mcp.repositories import Gathered, Repository, located
from dowse.naming import UnknownName
from dowse.serve.problems import AmbiguousAcross
from dowse.serve.targets import Found, found
from dowse.terminal import escape_name

# Symbols that are named where none bears the name that was asked for.
_NEAREST = 5


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
    try:
        yield
    except AmbiguousAcross as error:
        lines = "\n".join(
            f"  {quoted(each['index'])}  {quoted(each['path'])}:{each['start_line']}"
            f"  {quoted(each['qualified_name'])}"
            for each in error.candidates
        )
        said = f"{quoted(name)} is in several repositories; name one of them with `repo`"
        raise _Candidates(f"{said}\n{lines}") from None
    except UnknownName as error:
        said = escape_name(str(error).partition("; ")[0])
        nearest = [line for each in repositories for line in _nearest(each, name)]
        remedy = (
            "name one of the nearest:\n" + "\n".join(nearest) if nearest else "use the search tool to find it"
        )
        raise _Candidates(f"{said}; {remedy}") from None


def _nearest(repository: Repository, name: str) -> list[str]:
    """Return symbols whose words come nearest to a name."""
    try:
        answer = repository.index.search(name, _NEAREST, "keyword", plain=True)
    except (DowseError, ValueError):
        return []
    return [
        f"  {quoted(hit.symbol.path)}:{hit.symbol.start_line}"
        f"  {hit.symbol.kind} {quoted(hit.symbol.qualified_name)}"
        for hit in answer.hits
    ]
