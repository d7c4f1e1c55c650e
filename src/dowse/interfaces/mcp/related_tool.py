"""`related`: the symbols nearest to one by embedding, within the budget."""

from __future__ import annotations

from typing import Any

from dowse.errors import DowseError
from dowse.formats.json_format import related_to_json
from dowse.interfaces.mcp.arguments import RelatedArguments
from dowse.interfaces.mcp.budget import json_bytes, truncate
from dowse.interfaces.mcp.frame import quote_name
from dowse.interfaces.mcp.hits import ShownHit, hits_data, hits_text
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
from dowse.interfaces.mcp.snippets import Snippet
from dowse.interfaces.mcp.symbol_targets import open_symbol
from dowse.parsing.tokenizer import tokenize
from dowse.search.related import Related
from dowse.security.terminal import escape_name
from dowse.services.targets import Target, check_symbol, related_to
from dowse.token_estimate import BYTES_PER_TOKEN


def related(context: ToolContext, arguments: RelatedArguments) -> Reply:
    """Show the symbols nearest to one by embedding, and the cluster it belongs to."""
    with open_symbol(context, arguments.symbol) as (repository, target):
        answer = _related(repository, target, arguments.k)
    data = {**related_to_json(answer), "index": repository.name}
    del data["notes"]  # the schema has none; the text has them
    terms = frozenset(tokenize(f"{answer.symbol.name} {answer.symbol.signature}"))
    hits = []
    for hit_data, hit in zip(data["neighbours"], answer.neighbours, strict=True):
        # The similarity is shown where searches show the confidence.
        similarity = max(0.0, min(1.0, hit_data["score"]))
        hit_data = {**hit_data, "index": repository.name, "confidence": similarity}
        hits.append(ShownHit(hit_data, Snippet.from_hit(hit, terms)))
    head = f"symbols alike in {describe_roots([repository])}; [%]: how near"
    head = "\n".join([head, *note_lines(context.notes)])
    first = [_about(answer), *note_lines(notes_for_agents(answer.notes))]
    text = hits_text(hits, head, arguments.detail, arguments.max_tokens, several=False, first=first)
    return Reply(truncate(text, arguments.max_tokens), _data(data, hits, arguments))


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
    group = f"; its group: {cluster.size} symbols about {words}" if cluster and words else ""
    name = f"{quote_name(symbol.path)}:{symbol.start_line} {symbol.kind} {quote_name(symbol.qualified_name)}"
    return f"like {name}{group}"


def _data(data: dict[str, Any], hits: list[ShownHit], arguments: RelatedArguments) -> dict[str, Any]:
    cluster = data["cluster"] and {**data["cluster"], "members": []}
    base = {**data, "cluster": cluster, "neighbours": []}
    budget = arguments.max_tokens * BYTES_PER_TOKEN - json_bytes(base)
    neighbours = hits_data(hits, budget, arguments.detail, several=True)
    return {**base, "neighbours": [{**hit, "confidence": None} for hit in neighbours]}
