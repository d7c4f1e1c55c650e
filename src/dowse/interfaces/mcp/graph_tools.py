"""`callers`, `callees`, `impact`: walks from a symbol, as many steps as the budget allows."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

from dowse.formats.graph_text import render_graph
from dowse.formats.json_format import graph_to_json
from dowse.formats.style import Style
from dowse.graph.answer import GraphAnswer
from dowse.graph.queries import ask_about
from dowse.interfaces.mcp.arguments import GraphArguments
from dowse.interfaces.mcp.budget import clipped, most_that_fit
from dowse.interfaces.mcp.frame import framed, quoted
from dowse.interfaces.mcp.naming import found_symbol
from dowse.interfaces.mcp.reply import Asked, Reply, for_agents, note_lines, places_said, work_said
from dowse.services.targets import check_symbol, rows_of

_PLAIN = Style()
_COUNTED = {"callers": "callers", "callees": "callees", "impact": "symbols touched"}
_HEADS = {"callers": "callers of", "callees": "callees of", "impact": "touched by a change of"}


def walker(relation: str) -> Callable[[Asked, GraphArguments], Reply]:
    """Return the tool that walks one relation."""

    def walk(asked: Asked, given: GraphArguments) -> Reply:
        return _walk(relation, asked, given)

    return walk


def _walk(relation: str, asked: Asked, given: GraphArguments) -> Reply:
    with found_symbol(asked, given.symbol) as (repository, at):
        check_symbol(at.row)
        seeds = rows_of(at.place, at.reader, at.row.key)
        shows = at.place.index.settings.show_secrets
        answer = ask_about(at.reader, relation, seeds, given.depth or None, show_secrets=shows)
    notes = for_agents(answer.notes)
    own = [*asked.notes, *work_said([repository], by_meaning=False)]
    where = f"in {places_said([repository])}"
    text = _largest(answer, given.max_tokens, lambda part: _text(part, where, notes, own))
    data = _largest(answer, given.max_tokens, lambda part: _json(part, repository.name, [*notes, *own]))
    return Reply(clipped(text, given.max_tokens), json.loads(data))


def _largest(answer: GraphAnswer, max_tokens: int, render: Callable[[GraphAnswer], str]) -> str:
    """Return the rendering of as many steps, the nearest, as are within the budget."""

    def part(count: int) -> str:
        return render(replace(answer, steps=answer.steps[:count]))

    return part(most_that_fit(len(answer.steps), max_tokens, part))


def _text(part: GraphAnswer, where: str, notes: list[str], own: list[str]) -> str:
    """Return an answer; notes about symbols quote their names, and stand with them."""
    shown, total, seed = len(part.steps), part.total, part.seed
    count = f"{total}" if shown == total else f"{shown} nearest of {total}"
    more = "" if shown == total else "; raise max_tokens for more"
    about = f"{seed.kind} {quoted(seed.qualified_name)} ({quoted(seed.path)}:{seed.start_line})"
    head = f"{count} {_COUNTED[part.relation]} {where}; depth {part.depth}{more}"
    # The first line of the rendering says the same for people.
    lines = [line for line in render_graph(part, _PLAIN).strip().split("\n")[1:] if line.strip()]
    inside = [f"{_HEADS[part.relation]} {about}", *note_lines(notes), *lines]
    return "\n".join([head, *note_lines(own), *framed(inside)])


def _json(part: GraphAnswer, index: str, notes: list[str]) -> str:
    cut = part.total - len(part.steps)
    more = [f"{cut} more steps did not fit: raise max_tokens"] if cut else []
    data = {**graph_to_json(part), "index": index, "notes": [*notes, *more]}
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))
