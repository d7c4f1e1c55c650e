"""The tools about one symbol: `symbol`, and `calls` from the call graph."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator, Sequence

from dowse.errors import DowseError
from dowse.formats.graph_text import render_graph
from dowse.formats.style import Style
from dowse.graph.model import GraphAnswer, GraphStep, Mention
from dowse.interfaces.mcp.arguments import CallsArguments, SymbolArguments
from dowse.interfaces.mcp.budget import max_items, truncate, truncate_line
from dowse.interfaces.mcp.frame import frame, quote_name
from dowse.interfaces.mcp.hits import Line, call_signature, numbered
from dowse.interfaces.mcp.reply import Reply, ToolContext, describe_roots, note_lines, notes_for_agents
from dowse.interfaces.mcp.repositories import Repository, parse_location
from dowse.lazy_classes import dataclass, replace
from dowse.security.terminal import escape_name
from dowse.services.errors import AmbiguousTarget
from dowse.services.indexes import ServedIndexes
from dowse.services.symbol_page import SymbolPage, symbol_page
from dowse.services.targets import GraphWalk, Target, check_symbol, open_target, walk
from dowse.symbol_lookup import UnknownName
from dowse.types import Note, SymbolRow

# The share of the budget for members, callers and callees; the source gets the rest.
_NEIGHBOUR_SHARE = 0.5
_Neighbour = SymbolRow | GraphStep | Mention
# The headings of their lists.
_MEMBERS, _CALLERS, _CALLEES = "members", "called by", "calls"
_USES = "used by"
_MENTIONS = "mentions of the name, not known to be calls"
_NAME_MENTIONS = "mentions of the name, not known to be uses"
_COUNTED = {"callers": "callers", "callees": "callees", "uses": "uses", "impact": "symbols touched"}
_HEADS = {
    **{"callers": "callers of", "callees": "callees of", "uses": "uses of"},
    "impact": "touched by a change of",
}
# Lines above a location that are shown before those further above.
_LINES_ABOVE = 10
# Similar symbols that are listed for an unknown name.
_MAX_SIMILAR = 5
# Candidates that are listed for an ambiguous name.
_MAX_CANDIDATES = 8


@dataclass(frozen=True, slots=True)
class _Page:
    """A symbol, and the lists of which a text shows the beginnings."""

    answer: SymbolPage
    lines: list[Line]  # of its source
    notes: list[Note]  # that may quote the repository
    own_notes: list[Note]
    # Members, callers, mentions and callees, by the heading of their list, in display order.
    neighbours: list[tuple[str, _Neighbour]]


def symbol(context: ToolContext, arguments: SymbolArguments) -> Reply:
    """Describe one symbol, as much of it as the budget allows."""
    with open_symbol(context, arguments.symbol) as (repository, target):
        answer = symbol_page(target, arguments.neighbours)
    notes, own = notes_for_agents(answer.notes), context.own_notes(repository)
    lines = _from_line(_lines(answer, arguments.detail), arguments.symbol)
    page = _Page(answer, lines, notes, own, _neighbours(answer))

    def render(*counts: int) -> str:
        return _symbol_text(page, repository, arguments, *counts)

    shown = _fit(page, arguments.max_tokens, render)
    text = truncate(render(*shown), arguments.max_tokens)
    return Reply(text, replace(answer, notes=(*notes, *own)))


def _lines(answer: SymbolPage, detail: str) -> list[Line]:
    """Return the lines to show: all of them, the symbol's own, or none."""
    if detail == "names":
        return []
    if detail == "full" and not answer.is_name:
        return list(enumerate(answer.source.split("\n"), answer.symbol.start_line))
    own = zip(answer.code_lines, answer.code.split("\n"), strict=False)
    return [(number, text.rstrip("\r")) for number, text in own if text.strip()]


def _from_line(lines: list[Line], target: str) -> list[Line]:
    """Return lines in the order in which they are shown: from a little above the named line, then the others.

    All of them are shown where the budget allows; their order in the file is restored.
    """
    location = re.search(r":(\d+)(?::\d+)?(?:-\d+)?\Z", target)
    if location is None:
        return lines
    start = int(location[1]) - _LINES_ABOVE
    return sorted(lines, key=lambda line: (line[0] < start, line[0]))


def _neighbours(answer: SymbolPage) -> list[tuple[str, _Neighbour]]:
    """Return members, callers and callees in turn, so that a small budget shows some of each."""
    # By name: some languages define the methods of a type outside of it.
    prefix = f"{answer.symbol.qualified_name}."
    members = [each for each in answer.outline if each.qualified_name.startswith(prefix)]
    lists: dict[str, Sequence[_Neighbour]] = {
        _MEMBERS: members,
        _USES if answer.is_name else _CALLERS: answer.callers,
        _NAME_MENTIONS if answer.is_name else _MENTIONS: answer.mentions,
        _CALLEES: answer.callees,
    }
    longest = max(map(len, lists.values()))
    return [
        (name, items[position])
        for position in range(longest)
        for name, items in lists.items()
        if position < len(items)
    ]


def _fit(page: _Page, max_tokens: int, render: Callable[[int, int], str]) -> tuple[int, int]:
    """Return how many lines, and how many neighbours within their share of the budget, are shown."""
    total = len(page.neighbours)
    neighbours = max_items(total, int(max_tokens * _NEIGHBOUR_SHARE), lambda count: render(0, count))
    lines = max_items(len(page.lines), max_tokens, lambda count: render(count, neighbours))
    if lines == len(page.lines):  # more neighbours may fit
        neighbours = max(neighbours, max_items(total, max_tokens, lambda count: render(lines, count)))
    return lines, neighbours


def _symbol_text(
    page: _Page, repository: Repository, arguments: SymbolArguments, lines: int, neighbours: int
) -> str:
    answer, about = page.answer, page.answer.symbol
    cut = f" ({lines} of {len(page.lines)} lines: raise max_tokens)" if lines < len(page.lines) else ""
    head = f"symbol in {describe_roots([repository])}{cut}"
    location = f"{quote_name(about.path)}:{about.start_line}-{about.end_line}"
    out = [f"{location} {about.kind} {quote_name(about.qualified_name)}", *note_lines(page.notes)]
    if answer.owner is not None:
        owner = answer.owner
        out.append(
            f"in {owner.kind} {quote_name(owner.qualified_name)}, lines {owner.start_line}-{owner.end_line}"
        )
    if arguments.detail == "names":
        doc = answer.doc.strip().split("\n")[0]
        out += [escape_name(each) for each in (about.signature, truncate_line(doc)) if each]
    out += numbered(sorted(page.lines[:lines]))
    totals = {
        _MEMBERS: sum(name == _MEMBERS for name, _ in page.neighbours),
        _USES if answer.is_name else _CALLERS: answer.callers_total,
        _NAME_MENTIONS if answer.is_name else _MENTIONS: answer.total_mentions,
        _CALLEES: answer.callees_total,
    }
    for title, total in totals.items():
        shown = [_line_of(each) for name, each in page.neighbours[:neighbours] if name == title]
        out += _section(title, shown, total)
    return "\n".join([head, *note_lines(page.own_notes), *frame(out)])


def _section(title: str, lines: list[str], total: int) -> list[str]:
    if not total:
        return []
    count = f"{len(lines)} of {total}" if len(lines) < total else f"{total}"
    return [f"{title} ({count}):", *lines]


def _line_of(neighbour: _Neighbour) -> str:
    """Return a member, a line that mentions the name, or the other end of a call."""
    if isinstance(neighbour, SymbolRow):
        name = quote_name(neighbour.name) + call_signature(neighbour)
        return f"  {neighbour.start_line}-{neighbour.end_line} {neighbour.kind} {name}"
    location = f"  {quote_name(neighbour.path)}:{neighbour.line}"
    if isinstance(neighbour, Mention):
        return f"{location} {escape_name(neighbour.text)}"
    test = ", test" if neighbour.is_test else ""
    name = f"{neighbour.symbol.kind} {quote_name(neighbour.symbol.qualified_name)}"
    return f"{location} {name} ({neighbour.certainty}{test})"


def calls(context: ToolContext, arguments: CallsArguments) -> Reply:
    """Walk one relation of the call graph: as many of the nearest steps as the budget allows."""
    with open_symbol(context, arguments.symbol, names_at_lines=True) as (repository, target):
        check_symbol(target.row)
        answer = walk(target, arguments.relation, arguments.depth or None)
    notes, own = notes_for_agents(answer.notes), context.own_notes(repository)
    where = f"in {describe_roots([repository])}"

    def render(count: int) -> str:
        mentions = answer.mentions[: max(0, count - len(answer.steps))]
        part = replace(answer, steps=answer.steps[:count], mentions=mentions)
        return _graph_text(part, where, notes, own)

    text = render(max_items(len(answer.steps) + len(answer.mentions), arguments.max_tokens, render))
    data = GraphWalk(repository.name, replace(answer, notes=(*notes, *own)))
    return Reply(truncate(text, arguments.max_tokens), data)


def _graph_text(part: GraphAnswer, where: str, notes: list[Note], own: list[Note]) -> str:
    """Return an answer as text; notes about symbols quote their names, and are in the frame."""
    shown, total, seed = len(part.steps), part.total, part.seed
    count = f"{total}" if shown == total else f"{shown} nearest of {total}"
    more = "" if shown == total else "; raise max_tokens for more"
    about = f"{seed.kind} {quote_name(seed.qualified_name)} ({quote_name(seed.path)}:{seed.start_line})"
    head = f"{count} {_COUNTED[part.relation]} {where}; depth {part.depth}{more}"
    # The first line of the rendering says the same for people.
    lines = [line for line in render_graph(part, Style()).strip().split("\n")[1:] if line.strip()]
    quoting = [f"{_HEADS[part.relation]} {about}", *note_lines(notes), *lines]
    return "\n".join([head, *note_lines(own), *frame(quoting)])


class _Candidates(UnknownName):
    """An unknown or ambiguous name; the message lists what may be meant, one a line."""

    is_list = True

    def __init__(self, message: str, lines: list[str]) -> None:
        """Put the lines, which quote the repository, into a frame."""
        super().__init__("\n".join([message, *frame(lines)]))


@contextlib.contextmanager
def open_symbol(
    context: ToolContext, target: str, *, names_at_lines: bool = False
) -> Iterator[tuple[Repository, Target]]:
    """Give the one symbol that a call names, and its repository."""
    context.call.check()
    repositories, name = parse_location(context.repositories, target)
    indexes = ServedIndexes(each.served for each in repositories)
    found = open_target(indexes, None, name, names_at_lines=names_at_lines)
    with _listing_candidates(repositories, name), found as match:
        yield next(each for each in repositories if each.served is match.served), match


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
            f"  {quote_name(row.qualified_name)}"
            for index, row in error.candidates
        ]
        message = f"{quote_name(name)} is in several repositories; name one of them with `repo`"
        return _Candidates(message, lines)
    rows = [row for _, row in error.candidates[:_MAX_CANDIDATES]]
    lines = [_line(row.path, row.start_line, row.kind, row.qualified_name) for row in rows]
    more = len(error.candidates) - len(rows)
    count = f" ({more} more)" if more else ""
    return _Candidates(f"{quote_name(name)} could be any of these{count}; name one by its path:line", lines)


def _line(path: str, line: int, kind: str, name: str) -> str:
    return f"  {quote_name(path)}:{line}  {kind} {quote_name(name)}"


def _similar(repository: Repository, name: str) -> list[str]:
    """Return the symbols that a keyword search for a name finds."""
    try:
        answer = repository.index.search(name, _MAX_SIMILAR, "keyword", plain=True, embed=False)
    except (DowseError, ValueError):
        return []
    symbols = [hit.symbol for hit in answer.hits]
    return [_line(each.path, each.start_line, each.kind, each.qualified_name) for each in symbols]
