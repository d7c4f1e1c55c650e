"""`symbol`: one symbol with its source, its members, and who calls it or is called."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dowse.formats.answer_json import notes_to_json
from dowse.interfaces.http.routes.symbol import described
from dowse.interfaces.mcp.arguments import SymbolArguments
from dowse.interfaces.mcp.budget import beginning, clipped, json_bytes, most_that_fit, short
from dowse.interfaces.mcp.frame import framed, quoted
from dowse.interfaces.mcp.hits import call_shape, numbered
from dowse.interfaces.mcp.naming import found_symbol
from dowse.interfaces.mcp.reply import Asked, Reply, for_agents, note_lines, places_said, work_said
from dowse.interfaces.mcp.repositories import Gathered, Repository
from dowse.interfaces.mcp.snippets import Line
from dowse.security.terminal import escape_name
from dowse.token_estimate import BYTES_PER_TOKEN
from dowse.types import Note

# What a list of neighbours and members may take of the budget, so that the source has the rest.
_BESIDES = 0.5


@dataclass(frozen=True, slots=True)
class _Parts:
    """A symbol as data, and the lists that an answer has the beginnings of."""

    data: dict[str, Any]
    lines: list[Line]  # of its source
    own_notes: list[Note]  # those that quote nothing of the repository
    besides: list[tuple[str, dict[str, Any]]]  # members, callers and callees, in the order they are shown


def symbol(asked: Asked, given: SymbolArguments) -> Reply:
    """Describe one symbol, as much of it as the budget allows."""
    with found_symbol(asked, given.symbol) as (repository, at):
        data = described(Gathered([repository.place]), None, at.row.key, given.neighbours)
    own = [*asked.notes, *work_said([repository], by_meaning=False)]
    data["notes"] = [*for_agents(data["notes"]), *own]
    parts = _Parts(data, _lines(data, given.detail), own, _besides(data))
    text = _largest(parts, given.max_tokens, lambda *counts: _text(parts, repository, given, *counts))
    said = _largest(parts, given.max_tokens, lambda *counts: _json(parts, given, *counts))
    return Reply(clipped(text, given.max_tokens), json.loads(said))


def _lines(data: dict[str, Any], detail: str) -> list[Line]:
    """Return the lines to show: all of them, the symbol's own, or none."""
    if detail == "names":
        return []
    if detail == "full":
        return list(enumerate(data["source"].split("\n"), data["symbol"]["start_line"]))
    own = zip(data["code_lines"], data["code"].split("\n"), strict=False)
    return [(number, text.rstrip("\r")) for number, text in own if text.strip()]


def _besides(data: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Return members, callers and callees by turns, so that a small budget has some of each."""
    # Some languages write the methods of a type outside of it.
    prefix = f"{data['symbol']['qualified_name']}."
    inside = [each for each in data["outline"] if each["qualified_name"].startswith(prefix)]
    lists = {"outline": inside, "callers": data["callers"], "callees": data["callees"]}
    longest = max(map(len, lists.values()))
    return [(name, found[at]) for at in range(longest) for name, found in lists.items() if at < len(found)]


def _largest(parts: _Parts, max_tokens: int, render: Callable[[int, int], str]) -> str:
    """Return the rendering with as many neighbours as half of the budget allows, and then lines."""
    besides = most_that_fit(len(parts.besides), int(max_tokens * _BESIDES), lambda count: render(0, count))
    lines = most_that_fit(len(parts.lines), max_tokens, lambda count: render(count, besides))
    if lines == len(parts.lines):  # there may be room for more neighbours
        besides = max(
            besides, most_that_fit(len(parts.besides), max_tokens, lambda count: render(lines, count))
        )
    return render(lines, besides)


def _text(parts: _Parts, repository: Repository, given: SymbolArguments, lines: int, besides: int) -> str:
    data, about = parts.data, parts.data["symbol"]
    where = f"{quoted(about['path'])}:{about['start_line']}-{about['end_line']}"
    own = set(parts.own_notes)
    cut = f" ({lines} of {len(parts.lines)} lines: raise max_tokens)" if lines < len(parts.lines) else ""
    head = f"symbol in {places_said([repository])}{cut}"
    out = [f"{where} {about['kind']} {quoted(about['qualified_name'])}"]
    out += note_lines([note for note in data["notes"] if note not in own])
    if given.detail == "names":
        doc = data["doc"].strip().split("\n")[0]
        out += [escape_name(each) for each in (about["signature"], short(doc)) if each]
    out += numbered(parts.lines[:lines])
    shown = parts.besides[:besides]
    out += _section("members", [_member(each) for name, each in shown if name == "outline"], _total(parts))
    for name, title in (("callers", "called by"), ("callees", "calls")):
        found = [_neighbour(each) for kind, each in shown if kind == name]
        out += _section(title, found, data[f"{name}_total"])
    return "\n".join([head, *note_lines(parts.own_notes), *framed(out)])


def _total(parts: _Parts) -> int:
    return sum(name == "outline" for name, _ in parts.besides)


def _section(title: str, lines: list[str], total: int) -> list[str]:
    if not total:
        return []
    count = f"{len(lines)} of {total}" if len(lines) < total else f"{total}"
    return [f"{title} ({count}):", *lines]


def _member(entry: dict[str, Any]) -> str:
    name = quoted(entry["name"]) + call_shape(entry)
    return f"  {entry['start_line']}-{entry['end_line']} {entry['kind']} {name}"


def _neighbour(step: dict[str, Any]) -> str:
    other = step["symbol"]
    test = ", test" if step["test"] else ""
    what = f"{other['kind']} {quoted(other['qualified_name'])}"
    return f"  {quoted(step['path'])}:{step['line']} {what} ({step['certainty']}{test})"


def _json(parts: _Parts, given: SymbolArguments, lines: int, besides: int) -> str:
    picked, shown = parts.lines[:lines], parts.besides[:besides]
    code = "\n".join(text for _, text in picked)
    full = given.detail == "full"
    notes = list(parts.data["notes"])
    if lines < len(parts.lines):
        notes.append(Note("truncated", f"{lines} of {len(parts.lines)} lines fit: raise max_tokens"))
    data = {
        **parts.data,
        "doc": "",  # it stands in the code
        "editor": "",  # for people who click
        "code": "" if full else code,
        "code_lines": [] if full else [number for number, _ in picked],
        "source": code if full else "",
        "notes": notes_to_json(notes),
        **{
            name: [each for kind, each in shown if kind == name] for name in ("outline", "callers", "callees")
        },
    }
    if given.detail == "names":  # no code is shown
        data["doc"] = beginning(parts.data["doc"], given.max_tokens * BYTES_PER_TOKEN - json_bytes(data))
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))
