"""Hits within a budget: as text to read, and as data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dowse.interfaces.mcp.budget import SNIPPET_LINES, TASTE_LINES, allot, json_bytes, short
from dowse.interfaces.mcp.frame import FRAME_BYTES, framed, one_line, quoted
from dowse.interfaces.mcp.snippets import Line, Snippet
from dowse.search.ranking.confidence import ABSTAIN
from dowse.security.terminal import escape_name
from dowse.token_estimate import BYTES_PER_TOKEN, byte_length

# Of a signature beside a name.
_SIGNATURE = 160
# Hits that get more than a taste where nothing says how likely they are relevant.
_FIRST_HITS = 3
# More lines than any symbol has.
_ALL = 1_000_000
# What hits are shown with: lines that every hit gets before any gets more, and lines that one gets at most.
_DETAIL = {"names": (0, 0), "snippets": (TASTE_LINES, SNIPPET_LINES), "full": (0, _ALL)}


@dataclass(frozen=True, slots=True)
class Shown:
    """One hit as data (docs/JSON.md), and the lines of it that can be shown."""

    data: dict[str, Any]
    snippet: Snippet

    @property
    def is_pattern(self) -> bool:
        """Whether lines of it were found by a pattern."""
        return bool(self.data["matches"])


def hits_text(
    hits: Sequence[Shown],
    head: str,
    detail: str,
    max_tokens: int,
    several: bool,
    first: Sequence[str] = (),
) -> str:
    """Return a head and as many hits below it as the budget allows, and say what is left out.

    Args:
        hits: What to show.
        head: Words of our own.
        detail: With how many lines.
        max_tokens: The budget.
        several: Whether each hit says its repository.
        first: Lines before the hits that quote the repository, and so belong into the frame.
    """
    left = max_tokens * BYTES_PER_TOKEN - byte_length("\n".join([head, *first])) - 1 - FRAME_BYTES

    def cost(at: int, count: int) -> int:
        return byte_length(_hit_text(hits[at], count, several)) + 1

    counts = allot(*_wanted(hits, detail), left, cost)
    shown = [_hit_text(hit, count, several) for hit, count in zip(hits, counts, strict=False)]
    return "\n".join([head, *framed([*first, *shown]), *left_out(len(hits) - len(counts), detail)])


def hits_data(hits: Sequence[Shown], left: int, detail: str, several: bool) -> list[dict[str, Any]]:
    """Return as many hits as fit into some bytes of JSON."""

    def cost(at: int, count: int) -> int:
        return json_bytes(_hit_data(hits[at], count, several)) + 1

    counts = allot(*_wanted(hits, detail), left, cost)
    return [_hit_data(hit, count, several) for hit, count in zip(hits, counts, strict=False)]


def _wanted(hits: Sequence[Shown], detail: str) -> tuple[list[int], list[int]]:
    """Return how many lines each hit gets before any gets more, and how many at most.

    A budget need not be spent: in snippets, hits that are not likely relevant get no more than a taste.
    """
    taste, most = _DETAIL[detail]
    tastes = [min(taste, len(hit.snippet.lines)) for hit in hits]
    grown = [min(most, len(hit.snippet.lines)) for hit in hits]
    if detail == "full":
        return tastes, grown
    return tastes, [
        all_ if _may_grow(hit) else few for hit, few, all_ in zip(hits, tastes, grown, strict=True)
    ]


def _may_grow(hit: Shown) -> bool:
    sure: float | None = hit.data["confidence"]
    return hit.data["rank"] <= _FIRST_HITS if sure is None else sure >= ABSTAIN


def left_out(count: int, detail: str) -> list[str]:
    """Say that some hits did not fit, and what helps."""
    if not count:
        return []
    remedy = "raise max_tokens" if detail == "names" else "raise max_tokens or take detail=names"
    return [f"({count} more hits did not fit: {remedy})"]


def _hit_text(hit: Shown, count: int, several: bool) -> str:
    data, lines = hit.data, hit.snippet.lines
    where = f"{quoted(data['path'])}:{data['start_line']}-{data['end_line']}"
    name = "" if data["kind"] == "file" else f" {quoted(data['qualified_name'])}"
    if not count:
        name += call_shape(data)
    sure = "" if data["confidence"] is None else f" [{_percent(data['confidence'])}]"
    cut = f" ({count} of {len(lines)} lines)" if 0 < count < len(lines) else ""
    index = f"{quoted(data['index'])} " if several else ""
    head = f"{data['rank']}. {index}{where} {data['kind']}{name}{sure}{cut}"
    return "\n".join([head, *numbered(hit.snippet.pick(count))])


def _percent(share: float) -> str:
    return f"{share:.0%}" if share >= 0.01 else "<1%"


def numbered(lines: Sequence[Line]) -> list[str]:
    """Return lines with their numbers in the file."""
    return [f"{number}  {one_line(short(text))}" for number, text in lines]


def call_shape(data: dict[str, Any]) -> str:
    """Return what a signature says behind the name: parameters and what is returned."""
    signature, name = data["signature"], data["name"]
    at = signature.find(name) if name else -1
    shape = signature[at + len(name) :] if at >= 0 else ""
    if not shape.startswith(("(", "<", "[", ":")):
        return ""
    return escape_name(short(shape.replace("( ", "(").replace(", )", ")").replace(" )", ")"), _SIGNATURE))


def _hit_data(hit: Shown, count: int, several: bool) -> dict[str, Any]:
    """Return a hit as data with so many lines; reasons are left out, they cost more than the code."""
    picked = hit.snippet.pick(count)
    data = {name: value for name, value in hit.data.items() if several or name != "index"}
    matches = []
    if hit.is_pattern:
        numbers = {number for number, _ in picked}
        matches = [match for match in hit.data["matches"] if match["line"] in numbers]
    code = "" if hit.is_pattern else with_gaps(picked, hit.snippet.lines)
    return {**data, "doc": "", "code": code, "lanes": [], "explanation": [], "matches": matches}


def with_gaps(picked: Sequence[Line], lines: Sequence[Line]) -> str:
    """Return lines as code, and say which are left out between and behind them."""
    out: list[str] = []
    places = {number: at for at, (number, _) in enumerate(lines)}
    last = 0  # the number of the last line that is shown
    for number, text in picked:
        if last and places[number] > places[last] + 1:
            out.append(f"… lines {last + 1}-{number - 1} left out")
        out.append(short(text))
        last = number
    if last and last < lines[-1][0]:
        out.append(f"… lines {last + 1}-{lines[-1][0]} left out")
    return "\n".join(out)
