"""`callers`, `callees`, `impact`: traversals of the call graph, as many steps as the budget allows."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

from dowse.formats.graph_text import render_graph
from dowse.formats.json_format import graph_to_json, notes_to_json
from dowse.formats.style import Style
from dowse.graph.model import GraphAnswer
from dowse.interfaces.mcp.arguments import GraphArguments
from dowse.interfaces.mcp.budget import max_items, truncate
from dowse.interfaces.mcp.frame import frame, quote_name
from dowse.interfaces.mcp.reply import Reply, ToolContext, describe_roots, note_lines, notes_for_agents
from dowse.interfaces.mcp.symbol_targets import open_symbol
from dowse.services.targets import check_symbol, walk
from dowse.types import Note

_COUNTED = {"callers": "callers", "callees": "callees", "impact": "symbols touched"}
_HEADS = {"callers": "callers of", "callees": "callees of", "impact": "touched by a change of"}


def graph_tool(relation: str) -> Callable[[ToolContext, GraphArguments], Reply]:
    """Return the tool that walks one relation."""

    def run(context: ToolContext, arguments: GraphArguments) -> Reply:
        return _walk(relation, context, arguments)

    return run


def _walk(relation: str, context: ToolContext, arguments: GraphArguments) -> Reply:
    with open_symbol(context, arguments.symbol) as (repository, target):
        check_symbol(target.row)
        answer = walk(target, relation, arguments.depth or None)
    notes, own = notes_for_agents(answer.notes), context.own_notes(repository)
    where = f"in {describe_roots([repository])}"
    text = _largest(answer, arguments.max_tokens, lambda part: _text(part, where, notes, own))
    data = _largest(answer, arguments.max_tokens, lambda part: _json(part, repository.name, [*notes, *own]))
    return Reply(truncate(text, arguments.max_tokens), json.loads(data))


def _largest(answer: GraphAnswer, max_tokens: int, render: Callable[[GraphAnswer], str]) -> str:
    """Return the rendering of as many of the nearest steps as fit the budget."""

    def render_first(count: int) -> str:
        return render(replace(answer, steps=answer.steps[:count]))

    return render_first(max_items(len(answer.steps), max_tokens, render_first))


def _text(part: GraphAnswer, where: str, notes: list[Note], own: list[Note]) -> str:
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


def _json(part: GraphAnswer, index: str, notes: list[Note]) -> str:
    omitted = part.total - len(part.steps)
    if omitted:
        notes = [*notes, Note("truncated", f"{omitted} more steps did not fit: raise max_tokens")]
    data = {**graph_to_json(part), "index": index, "notes": notes_to_json(notes)}
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))
