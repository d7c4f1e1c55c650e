"""`related`: what is like a symbol, within the budget."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dowse.errors import DowseError
from dowse.formats.json_format import related_to_json
from dowse.interfaces.mcp.arguments import RelatedArguments
from dowse.interfaces.mcp.budget import clipped, json_bytes
from dowse.interfaces.mcp.frame import quoted
from dowse.interfaces.mcp.hits import Shown, hits_data, hits_text
from dowse.interfaces.mcp.naming import found_symbol
from dowse.interfaces.mcp.readiness import NotReady
from dowse.interfaces.mcp.reply import Asked, Reply, for_agents, note_lines, places_said, work_said
from dowse.interfaces.mcp.repositories import Repository
from dowse.interfaces.mcp.snippets import Snippet, words_of
from dowse.search.related import Related
from dowse.search.related import related as find_related
from dowse.security.terminal import escape_name
from dowse.services.targets import Found, check_symbol
from dowse.token_estimate import BYTES_PER_TOKEN
from dowse.types import Hit


def related(asked: Asked, given: RelatedArguments) -> Reply:
    """Show the symbols nearest in meaning to one, and the group it belongs to."""
    with found_symbol(asked, given.symbol) as (repository, at):
        found = _related(repository, at, given.k)
    words = words_of(f"{found.symbol.name} {found.symbol.signature}")
    data = related_to_json(found)
    shown = _shown(repository.name, data["neighbours"], found.neighbours, words)
    head = "\n".join(
        [f"symbols alike in {places_said([repository])}; [%]: how near", *note_lines(asked.notes)]
    )
    first = [_about(found), *note_lines(for_agents(data.pop("notes")))]
    text = hits_text(shown, head, given.detail, given.max_tokens, several=False, first=first)
    return Reply(clipped(text, given.max_tokens), _data(data, shown, repository.name, given))


def _related(repository: Repository, at: Found, k: int) -> Related:
    encoder = repository.index.encoder
    if encoder is None:
        raise DowseError("there is no encoder, so nothing is known of meaning; use search with words instead")
    check_symbol(at.row)
    if not at.reader.vectors(encoder.id, [at.row.row])[0].any():
        work = "; ".join(work_said([repository], by_meaning=True)) or "it is embedded in the background"
        raise NotReady(f"the symbol has no vector yet ({work}); call again in half a minute")
    settings = repository.index.settings
    return find_related(
        *(at.reader, encoder.id, at.row, k, settings.vectors), show_secrets=settings.show_secrets
    )


def _shown(
    index: str, hits: Sequence[dict[str, Any]], found: Sequence[Hit], words: frozenset[str]
) -> list[Shown]:
    """Return hits to show; how near they are stands where searches say how likely relevant."""
    return [
        Shown(
            {**data, "index": index, "confidence": max(0.0, min(1.0, data["score"]))}, Snippet.of(hit, words)
        )
        for data, hit in zip(hits, found, strict=True)
    ]


def _about(found: Related) -> str:
    """Say what the symbol is, and what its group is about: words of the repository."""
    symbol, cluster = found.symbol, found.cluster
    about = (
        f"; its group: {cluster.size} symbols about {escape_name(', '.join(cluster.words))}"
        if cluster and cluster.words
        else ""
    )
    like = f"{quoted(symbol.path)}:{symbol.start_line} {symbol.kind} {quoted(symbol.qualified_name)}"
    return f"like {like}{about}"


def _data(
    data: dict[str, Any], shown: Sequence[Shown], index: str, given: RelatedArguments
) -> dict[str, Any]:
    cluster = data["cluster"] and {**data["cluster"], "members": []}
    base = {**data, "index": index, "cluster": cluster}
    left = given.max_tokens * BYTES_PER_TOKEN - json_bytes({**base, "neighbours": []})
    hits = hits_data(shown, left, given.detail, several=True)
    return {**base, "neighbours": [{**hit, "confidence": None} for hit in hits]}
