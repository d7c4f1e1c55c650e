"""The tools that list hits within the budget: `search`, and `related` for the nearest by embedding."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from dowse.errors import DowseError
from dowse.interfaces.mcp.arguments import RelatedArguments, SearchArguments
from dowse.interfaces.mcp.budget import truncate
from dowse.interfaces.mcp.frame import quote_name
from dowse.interfaces.mcp.hits import ShownHit, Snippet, hits_text
from dowse.interfaces.mcp.readiness import NotReady
from dowse.interfaces.mcp.reply import (
    Reply,
    ToolContext,
    background_notes,
    describe_roots,
    note_lines,
    notes_for_agents,
)
from dowse.interfaces.mcp.repositories import Repository
from dowse.interfaces.mcp.symbol_tools import open_symbol
from dowse.lazy_classes import replace
from dowse.parsing.tokenizer import tokenize
from dowse.search.related import Related
from dowse.security.terminal import escape_name
from dowse.services.merge import LOOKAHEAD, IndexResult, SearchPage, merge_answers, merge_notes
from dowse.services.targets import RelatedPage, Target, check_symbol, related_to
from dowse.types import EmbeddingCoverage, Note

# Hits that are shown if none is relevant.
MAX_NEAREST = 5
_ADVICE = Note("other", "try other words, fewer filters, or detail=names with a larger k")


def search(context: ToolContext, arguments: SearchArguments) -> Reply:
    """Search, and show as much of the hits as the budget allows."""
    started = time.perf_counter()
    results = search_all(context, arguments)
    if all(each.error for each in results):
        raise results[0].error or DowseError("nothing to search")
    milliseconds = 1000 * (time.perf_counter() - started)
    page = merge_answers(arguments.query, results, arguments.offset, arguments.k, milliseconds)
    quoting, own = search_notes(context, results, page.embedded)
    hits = shown_hits(page)
    answered = [each for each in results if each.answer is not None]
    is_nothing = all(each.has_note("nothing-relevant") for each in answered)
    if is_nothing and arguments.detail == "snippets":
        hits = hits[:MAX_NEAREST]  # hits that are not relevant should not cost much
    head = _head(context, page, len(hits), is_nothing, own)
    detail, max_tokens = arguments.detail, arguments.max_tokens

    def more(shown: int) -> str:
        is_last = is_nothing or (shown == len(hits) and not page.more)
        return "" if is_last else f"(more: offset={arguments.offset + shown})"

    text = hits_text(hits, head, detail, max_tokens, context.several, note_lines(quoting), more)
    notes = sorted([*quoting, *own], key=lambda note: note.code != "nothing-relevant")
    return Reply(truncate(text, max_tokens), replace(page, notes=tuple(notes)))


def search_all(context: ToolContext, arguments: SearchArguments) -> list[IndexResult]:
    """Return the result of each repository, searched in parallel."""
    if not context.several:
        return [_search_one(context, context.repositories[0], arguments)]
    with ThreadPoolExecutor(len(context.repositories)) as threads:
        results = threads.map(lambda each: _search_one(context, each, arguments), context.repositories)
        # With equal scores, hits of repositories that know the name come first.
        return sorted(results, key=lambda each: each.has_note("unknown-name"))


def _search_one(context: ToolContext, repository: Repository, arguments: SearchArguments) -> IndexResult:
    context.call.check()
    try:
        depth = arguments.offset + arguments.k + (LOOKAHEAD if context.several else 1)
        answer = repository.index.search(
            arguments.query, depth, page_size=arguments.k, embed=False, **arguments.options()
        )
    except DowseError as error:
        return IndexResult(repository.name, None, error)
    return IndexResult(repository.name, answer)


def shown_hits(page: SearchPage) -> list[ShownHit]:
    """Return the hits of a page with the lines that can be shown of them."""
    terms = frozenset(tokenize(page.query))
    return [ShownHit(each.index, each.hit, Snippet.from_hit(each.hit, terms)) for each in page.hits]


def search_notes(
    context: ToolContext, results: Sequence[IndexResult], embedded: EmbeddingCoverage | None
) -> tuple[list[Note], list[Note]]:
    """Return the notes: those that may quote the repository, and those in words of our own."""
    notes = merge_notes(results)
    work = background_notes(context.repositories, by_meaning=False)
    if any(note.code in ("partly-embedded", "incomplete-index") for note in notes):
        running = [each.index.vectors.progress() for each in context.repositories if each.index.exists]
        left = [progress.time_left for progress in running if progress]
        percent = 100 * embedded.symbols // max(1, embedded.total) if embedded else 0
        progress = "; ".join([*map(str, background_notes(context.repositories, by_meaning=True)), *left])
        progress = f" ({progress})" if progress else ""
        text = f"by words all can be found, by meaning {percent} % so far{progress}: ask again in a while"
        work = [Note("partly-embedded", text)]
    kept = notes_for_agents(notes)
    nothing = [note for note in kept if note.code == "nothing-relevant"]
    return [note for note in kept if note not in nothing], [*nothing, *context.notes, *work]


def _head(context: ToolContext, page: SearchPage, count: int, is_nothing: bool, notes: Sequence[Note]) -> str:
    """Return the first lines: of which repositories the hits are, and the notes."""
    hits = f"nothing relevant; the {count} nearest" if is_nothing else "hits"
    has_confidence = any(each.hit.confidence is not None for each in page.hits)
    legend = "; [%]: how likely relevant" if has_confidence else ""
    line = f"{hits if count else 'no hits'} in {describe_roots(context.repositories)}{legend}"
    return "\n".join([line, *note_lines(notes if count else [*notes, _ADVICE])])


def related(context: ToolContext, arguments: RelatedArguments) -> Reply:
    """Show the symbols nearest to one by embedding, and the cluster it belongs to."""
    with open_symbol(context, arguments.symbol) as (repository, target):
        answer = _related(repository, target, arguments.k)
    terms = frozenset(tokenize(f"{answer.symbol.name} {answer.symbol.signature}"))
    hits = [
        # The similarity is shown where searches show the confidence.
        ShownHit(
            repository.name,
            replace(hit, confidence=max(0.0, min(1.0, hit.score))),
            Snippet.from_hit(hit, terms),
        )
        for hit in answer.neighbours
    ]
    head = f"symbols alike in {describe_roots([repository])}; [%]: how near"
    head = "\n".join([head, *note_lines(context.notes)])
    text = hits_text(
        hits, head, arguments.detail, arguments.max_tokens, several=False, first=[_about(answer)]
    )
    return Reply(truncate(text, arguments.max_tokens), RelatedPage(repository.name, answer))


def _related(repository: Repository, target: Target, k: int) -> Related:
    encoder = repository.index.encoder
    if encoder is None:
        raise DowseError("there is no encoder, so there are no embeddings; use search with words instead")
    check_symbol(target.row)
    if not target.reader.vectors(encoder.id, [target.row.row])[0].any():
        work = "; ".join(map(str, background_notes([repository], by_meaning=True)))
        work = work or "it is embedded in the background"
        raise NotReady(f"the symbol has no vector yet ({work}); call again in half a minute")
    return related_to(target, encoder.id, k)


def _about(answer: Related) -> str:
    """Return the symbol and the words of its cluster: text of the repository."""
    symbol, cluster = answer.symbol, answer.cluster
    words = escape_name(", ".join(cluster.words)) if cluster else ""
    group = f"; its cluster: {cluster.size} symbols about {words}" if cluster and words else ""
    name = f"{quote_name(symbol.path)}:{symbol.start_line} {symbol.kind} {quote_name(symbol.qualified_name)}"
    return f"like {name}{group}"
