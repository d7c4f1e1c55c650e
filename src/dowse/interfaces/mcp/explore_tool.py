"""`explore`: one tool for a question, a name, a location or a pasted error; no line is shown twice."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

from dowse.errors import DowseError, QueryError
from dowse.interfaces.mcp.arguments import MAX_SYMBOL, SEARCH_MODEL, ExploreArguments, SymbolArguments
from dowse.interfaces.mcp.budget import truncate
from dowse.interfaces.mcp.frame import quote_name
from dowse.interfaces.mcp.hits import NEAREST, ShownHit, Snippet, hits_text
from dowse.interfaces.mcp.reply import Reply, ToolContext, describe_roots, note_lines
from dowse.interfaces.mcp.search_tools import MAX_NEAREST, is_complete, search_all, search_notes, shown_hits
from dowse.interfaces.mcp.symbol_tools import symbol
from dowse.services.merge import IndexResult, SearchPage, merge_answers
from dowse.storage.protocol import Reader
from dowse.symbol_lookup import UnknownName
from dowse.types import Edge, Note

# Hits of an answer, and how many are retrieved: those that were shown before are left out.
_HITS, _CANDIDATES = 10, 40
# Hits between which calls are looked for, calls that are named, and symbols in the middle of two calls.
_LINKED_HITS, _MAX_LINKS, _MAX_MIDDLE = 6, 4, 200
# A name or a location; anything else is a question.
_NAME = re.compile(r"[\w.$:#/\\~-]*\w(?:\(\))?")
_LOCATION = re.compile(r".+\.\w+:\d+(?:[:-]\d+)?")
_NEXT = "next: a name or path:line of a hit for the rest of it, `what calls NAME`, or the same for more hits"
_OTHER_WORDS = "next: other words, a name, or a part of the error"


def explore(context: ToolContext, arguments: ExploreArguments) -> Reply:
    """Answer with the lines that matter and were not shown yet."""
    if arguments.again:
        context = replace(context, shows_again=True)
    ask = arguments.ask.strip()
    is_short = len(ask) <= MAX_SYMBOL
    if is_short and _LOCATION.fullmatch(ask):
        return _symbol(context, ask, arguments)
    if is_short and _NAME.fullmatch(ask):
        try:
            return _symbol(context, ask.removesuffix("()"), arguments)
        except UnknownName:  # also an ambiguous one: a search shows what may be meant
            pass
    return _search(context, arguments)


def _symbol(context: ToolContext, name: str, arguments: ExploreArguments) -> Reply:
    return symbol(context, SymbolArguments(symbol=name, max_tokens=arguments.max_tokens))


def _search(context: ToolContext, arguments: ExploreArguments) -> Reply:
    started = time.perf_counter()
    results = _results(context, arguments.ask)
    if all(each.error for each in results):
        raise results[0].error or DowseError("nothing to search")
    milliseconds = 1000 * (time.perf_counter() - started)
    page = merge_answers(arguments.ask, results, 0, _CANDIDATES, milliseconds)
    quoting, own = search_notes(context, results, page.embedded)
    hits, before = _unseen_hits(context, shown_hits(page))
    answered = [each for each in results if each.answer is not None]
    is_nothing = all(each.has_note("nothing-relevant") for each in answered)
    hits = hits[: MAX_NEAREST if is_nothing else _HITS]
    head = _head(context, page, len(hits), before, is_nothing, own)
    text = hits_text(
        hits,
        head,
        NEAREST if is_nothing else "snippets",
        arguments.max_tokens,
        context.several,
        [*note_lines(quoting), *_links(context, hits)],
        on_shown=lambda hit, lines: context.remember(*hit.file, lines),
    )
    return Reply(truncate(text, arguments.max_tokens))


def _results(context: ToolContext, ask: str) -> list[IndexResult]:
    """Return the results of each repository; what is no query is taken as words."""
    try:
        return search_all(context, SEARCH_MODEL(query=ask, k=_CANDIDATES))
    except QueryError:
        words = SEARCH_MODEL.model_validate({"query": ask, "k": _CANDIDATES, "plain": True})
        return search_all(context, words)


def _unseen_hits(context: ToolContext, hits: Sequence[ShownHit]) -> tuple[list[ShownHit], int]:
    """Return the hits with lines that were not shown, with these lines, and how many hits had none."""
    fresh = []
    for hit in hits:
        lines = context.unseen(*hit.file, hit.snippet.lines)
        if lines or not hit.snippet.lines:
            fresh.append(replace(hit, snippet=Snippet(lines, hit.snippet.terms)))
    return fresh, len(hits) - len(fresh)


def _head(
    context: ToolContext,
    page: SearchPage,
    count: int,
    before: int,
    is_nothing: bool,
    notes: Sequence[Note],
) -> str:
    hits = f"nothing relevant; the {count} nearest" if is_nothing else f"{count} hits" if count else "no hits"
    known = f" ({before} shown before; again=true repeats them)" if before else ""
    state = "; index complete" if is_complete(context, page.embedded) else ""
    line = f"{hits}{known} in {describe_roots(context.repositories)}{state}"
    return "\n".join([line, *note_lines(notes), _NEXT if count and not is_nothing else _OTHER_WORDS])


def _links(context: ToolContext, hits: Sequence[ShownHit]) -> list[str]:
    """Return the calls between the first hits, directly or through one other symbol, by their ranks."""
    links = []
    for repository in context.repositories:
        ranks = {
            each.hit.symbol.id: each.hit.rank for each in hits[:_LINKED_HITS] if each.index == repository.name
        }
        if len(ranks) > 1:
            with repository.index.backend.reader() as reader:
                links += list(_calls(reader, ranks))
    return [f"calls: {'; '.join(links[:_MAX_LINKS])}"] if links else []


def _calls(reader: Reader, ranks: dict[str, int]) -> Iterator[str]:
    by_row = {row.row: ranks[row.key] for row in reader.rows_by_key(list(ranks))}
    out = _sure_calls(reader, sorted(by_row))
    linked = {(edge.source, edge.target) for edge in out if edge.target in by_row}
    for source, target in sorted(linked, key=lambda pair: (by_row[pair[0]], by_row[pair[1]])):
        if source != target:
            yield f"{by_row[source]} → {by_row[target]}"
    first: dict[int, Edge] = {}
    for edge in out:
        if edge.target not in by_row:
            first.setdefault(edge.target, edge)
    middle = sorted(first)[:_MAX_MIDDLE]
    second = [edge for edge in _sure_calls(reader, middle) if edge.target in by_row]
    names = {row.row: row for row in reader.rows(sorted({edge.source for edge in second}))}
    for edge in second:
        source, row = first[edge.source].source, names[edge.source]
        if source != edge.target and (source, edge.target) not in linked:
            linked.add((source, edge.target))
            name = f"{quote_name(row.qualified_name)} ({quote_name(row.path)}:{row.start_line})"
            yield f"{by_row[source]} → {name} → {by_row[edge.target]}"


def _sure_calls(reader: Reader, rows: Sequence[int]) -> list[Edge]:
    return [edge for edge in reader.edges(rows, ("calls",)) if edge.confidence != "ambiguous"]
