"""`symbol`: one symbol with its source, its members, its callers and callees."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dowse.formats.json_format import notes_to_json
from dowse.interfaces.mcp.arguments import SymbolArguments
from dowse.interfaces.mcp.budget import json_bytes, max_items, truncate, truncate_json, truncate_line
from dowse.interfaces.mcp.frame import frame, quote_name
from dowse.interfaces.mcp.hits import call_signature, numbered
from dowse.interfaces.mcp.reply import Reply, ToolContext, describe_roots, note_lines, notes_for_agents
from dowse.interfaces.mcp.repositories import Repository
from dowse.interfaces.mcp.snippets import Line
from dowse.interfaces.mcp.symbol_targets import open_symbol
from dowse.security.terminal import escape_name
from dowse.services.symbol_page import symbol_page
from dowse.token_estimate import BYTES_PER_TOKEN
from dowse.types import Note

# The share of the budget for members, callers and callees; the source gets the rest.
_NEIGHBOUR_SHARE = 0.5
_LISTS = ("outline", "callers", "callees")


@dataclass(frozen=True, slots=True)
class _Page:
    """A symbol as data, and the lists of which an answer shows the beginnings."""

    data: dict[str, Any]
    lines: list[Line]  # of its source
    notes: list[Note]  # that may quote the repository
    own_notes: list[Note]
    neighbours: list[tuple[str, dict[str, Any]]]  # members, callers and callees by list, in display order


def symbol(context: ToolContext, arguments: SymbolArguments) -> Reply:
    """Describe one symbol, as much of it as the budget allows."""
    with open_symbol(context, arguments.symbol) as (repository, target):
        data = symbol_page(target, arguments.neighbours)
    notes, own = notes_for_agents(data["notes"]), context.own_notes(repository)
    page = _Page(data, _lines(data, arguments.detail), notes, own, _neighbours(data))
    max_tokens = arguments.max_tokens
    text = _largest(page, max_tokens, lambda *counts: _text(page, repository, arguments, *counts))
    content = _largest(page, max_tokens, lambda *counts: _json(page, arguments, *counts))
    return Reply(truncate(text, max_tokens), json.loads(content))


def _lines(data: dict[str, Any], detail: str) -> list[Line]:
    """Return the lines to show: all of them, the symbol's own, or none."""
    if detail == "names":
        return []
    if detail == "full":
        return list(enumerate(data["source"].split("\n"), data["symbol"]["start_line"]))
    own = zip(data["code_lines"], data["code"].split("\n"), strict=False)
    return [(number, text.rstrip("\r")) for number, text in own if text.strip()]


def _neighbours(data: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Return members, callers and callees in turn, so that a small budget shows some of each."""
    # By name: some languages define the methods of a type outside of it.
    prefix = f"{data['symbol']['qualified_name']}."
    members = [each for each in data["outline"] if each["qualified_name"].startswith(prefix)]
    lists = {"outline": members, "callers": data["callers"], "callees": data["callees"]}
    longest = max(map(len, lists.values()))
    return [
        (name, items[position])
        for position in range(longest)
        for name, items in lists.items()
        if position < len(items)
    ]


def _largest(page: _Page, max_tokens: int, render: Callable[[int, int], str]) -> str:
    """Return the rendering with as many neighbours as their share of the budget allows, and then lines."""
    total = len(page.neighbours)
    neighbours = max_items(total, int(max_tokens * _NEIGHBOUR_SHARE), lambda count: render(0, count))
    lines = max_items(len(page.lines), max_tokens, lambda count: render(count, neighbours))
    if lines == len(page.lines):  # more neighbours may fit
        neighbours = max(neighbours, max_items(total, max_tokens, lambda count: render(lines, count)))
    return render(lines, neighbours)


def _text(
    page: _Page, repository: Repository, arguments: SymbolArguments, lines: int, neighbours: int
) -> str:
    data, about = page.data, page.data["symbol"]
    cut = f" ({lines} of {len(page.lines)} lines: raise max_tokens)" if lines < len(page.lines) else ""
    head = f"symbol in {describe_roots([repository])}{cut}"
    location = f"{quote_name(about['path'])}:{about['start_line']}-{about['end_line']}"
    out = [f"{location} {about['kind']} {quote_name(about['qualified_name'])}", *note_lines(page.notes)]
    if arguments.detail == "names":
        doc = data["doc"].strip().split("\n")[0]
        out += [escape_name(each) for each in (about["signature"], truncate_line(doc)) if each]
    out += numbered(page.lines[:lines])
    shown = page.neighbours[:neighbours]
    members = [_member(each) for name, each in shown if name == "outline"]
    out += _section("members", members, sum(name == "outline" for name, _ in page.neighbours))
    for name, title in (("callers", "called by"), ("callees", "calls")):
        steps = [_neighbour(each) for kind, each in shown if kind == name]
        out += _section(title, steps, data[f"{name}_total"])
    return "\n".join([head, *note_lines(page.own_notes), *frame(out)])


def _section(title: str, lines: list[str], total: int) -> list[str]:
    if not total:
        return []
    count = f"{len(lines)} of {total}" if len(lines) < total else f"{total}"
    return [f"{title} ({count}):", *lines]


def _member(entry: dict[str, Any]) -> str:
    name = quote_name(entry["name"]) + call_signature(entry)
    return f"  {entry['start_line']}-{entry['end_line']} {entry['kind']} {name}"


def _neighbour(step: dict[str, Any]) -> str:
    other = step["symbol"]
    test = ", test" if step["test"] else ""
    name = f"{other['kind']} {quote_name(other['qualified_name'])}"
    return f"  {quote_name(step['path'])}:{step['line']} {name} ({step['certainty']}{test})"


def _json(page: _Page, arguments: SymbolArguments, lines: int, neighbours: int) -> str:
    selected, shown = page.lines[:lines], page.neighbours[:neighbours]
    code = "\n".join(text for _, text in selected)
    is_full = arguments.detail == "full"
    notes = [*page.notes, *page.own_notes]
    if lines < len(page.lines):
        notes.append(Note("truncated", f"{lines} of {len(page.lines)} lines fit: raise max_tokens"))
    data = {
        **page.data,
        "doc": "",  # it is in the code
        "editor": "",  # for people who click
        "code": "" if is_full else code,
        "code_lines": [] if is_full else [number for number, _ in selected],
        "source": code if is_full else "",
        "notes": notes_to_json(notes),
        **{name: [each for kind, each in shown if kind == name] for name in _LISTS},
    }
    if arguments.detail == "names":  # no code is shown
        budget = arguments.max_tokens * BYTES_PER_TOKEN - json_bytes(data)
        data["doc"] = truncate_json(page.data["doc"], budget)
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))
