"""Answers as text: path:line, signature, the lines that match best, and the explanation of scores."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from dowse.formats.snippets import NumberedLine, Window, around, snippet, with_gaps
from dowse.formats.style import Style
from dowse.security.terminal import escape_controls, escape_name
from dowse.types import EmbeddingCoverage, Hit

if TYPE_CHECKING:
    from dowse.answer import Answer
    from dowse.search.related import Related

# Copies of a hit that are named beneath it.
_MAX_COPIES = 4
_WINDOW = Window()
# Matching lines shown under one symbol of an exact search.
_MAX_MATCHES = 20
_MAX_WIDTH = 200
_WORD = re.compile(r"\w+")
# Stands for lines that are not shown.
_SKIPPED = f"{'⋮':>6}"


def render_answer(answer: Answer, style: Style, window: Window = _WINDOW, *, explain: bool) -> str:
    """Return the hits of a search as text."""
    terms = query_terms(answer)
    plan = _render_plan(answer, style) if explain else ""
    return plan + "".join(_render_hit(hit, terms, style, window, explain) + "\n" for hit in answer.hits)


def format_relevance(hit: Hit) -> str:
    """Return the confidence of a hit in per cent; the score where it has none."""
    if hit.confidence is None:
        return format_score(hit.score)
    return format_percent(hit.confidence)


def format_percent(share: float) -> str:
    """Return a share in per cent."""
    return f"{share:.0%}" if share >= 0.01 else "<1%"


def format_score(score: float) -> str:
    """Return a score with two significant digits; those before the decimal point are all shown."""
    size = abs(float(f"{score:.1e}"))
    digits = 1 - math.floor(math.log10(size)) if size else 0
    return f"{score:.{max(0, digits)}f}"


def render_related(related: Related, style: Style) -> str:
    """Return the neighbours of a symbol and its cluster, one line each."""
    symbol = related.symbol
    location = f"{escape_name(symbol.path)}:{symbol.start_line}"
    lines = [f"like {location}  {escape_name(symbol.qualified_name)}", ""]
    lines += [_one_line(hit, style) for hit in related.neighbours]
    if cluster := related.cluster:
        words = escape_name(", ".join(cluster.words))
        about = f" about {words}" if words else ""
        lines += [
            "",
            f"cluster {cluster.number}{about}: {cluster.size:,} symbols, nearest to the centroid first",
        ]
        lines += [_one_line(hit, style) for hit in cluster.members]
    return "\n".join(lines) + "\n"


def format_size(size: int) -> str:
    """Return a number of bytes with its unit."""
    value = float(size)
    for unit in ("B", "KB", "MB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} GB"


def format_age(timestamp: int) -> str:
    """Return how long ago a Unix timestamp was."""
    seconds = max(0, int(time.time()) - timestamp)
    for size, unit in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= size:
            count = seconds // size
            return f"{count} {unit}{'s' if count > 1 else ''} ago"
    return "just now"


def also_in_line(places: Sequence[tuple[str, int]]) -> str:
    """Return where the near-identical symbols are that a hit stands for."""
    shown = ", ".join(f"{path}:{line}" for path, line in places[:_MAX_COPIES])
    more = f" and {len(places) - _MAX_COPIES} more" if len(places) > _MAX_COPIES else ""
    return f"also in {shown}{more}"


def mark_spans(text: str, spans: tuple[tuple[int, int], ...], style: Style) -> str:
    """Return a line with its matches highlighted; spans of several patterns may overlap."""
    text = text.rstrip("\r")
    if not style.match:
        return escape_controls(text)
    parts, position = [], 0
    for start, end in merge_spans(spans):
        match = f"{style.match}{escape_controls(text[start:end])}{style.reset}"
        parts += [escape_controls(text[position:start]), match]
        position = end
    return "".join(parts) + escape_controls(text[position:])


def _render_plan(answer: Answer, style: Style) -> str:
    """Return the plan of the query, and the report of each lane."""
    plan = answer.plan
    if plan is None:
        return ""
    lanes = [
        f"{lane.lane} ({lane.problem or f'{lane.found:,} found, {lane.milliseconds:.1f} ms'})"
        for lane in answer.lanes
    ]
    fields = {
        "plan": plan.reason,
        "lanes": ", ".join(lanes),
        "stages": ", ".join(f"{each.stage} {each.milliseconds:.1f} ms" for each in answer.stages),
        "fusion": plan.fusion,
        "graph": " ".join((plan.relation or "around", *plan.seeds)) if plan.relation or plan.seeds else "",
        "expanded": ", ".join(plan.expanded),
    }
    if answer.embedded:
        fields["embedded"] = _describe_coverage(answer.embedded)
    lines = [f"{name:<9} {value}" for name, value in fields.items() if value or name == "plan"]
    return "".join(f"{style.dim}{escape_name(line)}{style.reset}\n" for line in lines) + "\n"


def _describe_coverage(embedded: EmbeddingCoverage) -> str:
    """Return how many symbols have a vector, and how many got one for this query."""
    text = f"{embedded.symbols:,} of {embedded.total:,} symbols"
    if embedded.encoded:
        text += f"; {embedded.encoded:,} candidates encoded for this query"
    if embedded.candidates_missing:
        text += f"; {embedded.candidates_missing:,} candidates without a vector"
    if embedded.approximate:
        text += "; approximate vectors of what is not embedded"
    return text


def _render_hit(hit: Hit, terms: frozenset[str], style: Style, window: Window, explain: bool) -> str:
    symbol = hit.symbol
    name = escape_name(f"{symbol.kind} {symbol.qualified_name if symbol.kind != 'file' else ''}")
    location = style.location(symbol.path, symbol.start_line)
    out = [f"{location}  {style.bold}{name}{style.reset}  {style.dim}{format_relevance(hit)}{style.reset}"]
    out += _render_matches(hit, style, window) if hit.matches else _render_snippet(hit, terms, style, window)
    if hit.also_in:
        out.append(f"        {style.dim}{escape_name(also_in_line(hit.also_in))}{style.reset}")
    if explain:
        out += _render_explanation(hit, style)
    return "\n".join(out) + "\n"


def _render_matches(hit: Hit, style: Style, window: Window) -> list[str]:
    """Return the lines that a pattern matched, with lines around them if the window has context."""
    matches = {match.line: match for match in hit.matches[:_MAX_MATCHES]}
    shown: list[NumberedLine | None] = [(match.line, match.text) for match in matches.values()]
    if window.context:
        lines = around(list(matches), (), window.file_lines(hit.symbol), window.context)
        shown = with_gaps([(number, text[:_MAX_WIDTH]) for number, text in lines], hit.symbol)
    out = []
    for line in shown:
        if line is None:
            out.append(_SKIPPED)
        elif match := matches.get(line[0]):
            out.append(f"{match.line:>6}  {mark_spans(match.text, match.spans, style)}")
        else:
            out.append(f"{line[0]:>6}  {style.dim}{escape_controls(line[1])}{style.reset}")
    if len(hit.matches) > _MAX_MATCHES:
        out.append(f"        … {len(hit.matches) - _MAX_MATCHES} more lines")
    return out


def _render_snippet(hit: Hit, terms: frozenset[str], style: Style, window: Window) -> list[str]:
    """Return the lines of a symbol that tell most, with their numbers."""
    lines = with_gaps(snippet(hit, terms, window, tokenize_lazily), hit.symbol)
    return [
        _SKIPPED if line is None else f"{line[0]:>6}  {_mark_terms(line[1], terms, style)}" for line in lines
    ]


def _one_line(hit: Hit, style: Style) -> str:
    symbol = hit.symbol
    location = style.location(symbol.path, symbol.start_line)
    name = escape_name(f"{symbol.kind} {symbol.qualified_name}")
    return f"{style.dim}{format_relevance(hit)}{style.reset}  {location}  {name}"


def _render_explanation(hit: Hit, style: Style) -> list[str]:
    """Return the contributions to the score, and the rank of the symbol in each lane."""
    width = max((len(part.source) for part in hit.explanation), default=0)
    lines = [f"{part.value:>+9.3f}  {part.source:<{width}}  {part.detail}" for part in hit.explanation]
    lines += [
        f"{lane.lane} rank {lane.rank}: {lane.score:.3f} (normalised {lane.normalised:.2f})"
        + (f", {lane.detail}" if lane.detail else "")
        for lane in hit.lanes
    ]
    if hit.confidence is not None:
        lines.append(f"score {format_score(hit.score)}")
    return [f"{style.dim}        {escape_controls(line)}{style.reset}".rstrip() for line in lines]


def query_terms(answer: Answer) -> frozenset[str]:
    """Return the terms to highlight."""
    from dowse.parsing.tokenizer import tokenize_query

    return frozenset(tokenize_query(" ".join(answer.words)))


def tokenize_lazily(text: str) -> list[str]:
    """Return the terms of a text; the tokenizer is loaded when first needed."""
    from dowse.parsing.tokenizer import tokenize

    return tokenize(text)


def _mark_terms(text: str, terms: frozenset[str], style: Style) -> str:
    text = escape_controls(text[:_MAX_WIDTH].rstrip("\r"))
    if not style.match:
        return text
    return _WORD.sub(
        lambda word: (
            word[0] if terms.isdisjoint(tokenize_lazily(word[0])) else f"{style.match}{word[0]}{style.reset}"
        ),
        text,
    )


def merge_spans(spans: tuple[tuple[int, int], ...]) -> list[tuple[int, int]]:
    """Return overlapping spans as one."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
