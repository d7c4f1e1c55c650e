"""Answers for people: path:line, signature, the lines that matter, and why."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dowse.interfaces.cli.environment import environment
from dowse.security.terminal import escape_controls, escape_json, escape_name
from dowse.types import Answer, Hit

if TYPE_CHECKING:
    from dowse.encoders.registry import EncoderInfo
    from dowse.formats.links import Links
    from dowse.indexing.embed import EmbedReport
    from dowse.indexing.update import Report
    from dowse.search.related import Related

# Lines of a snippet unless -C says otherwise.
SNIPPET_LINES = 5
# Matching lines shown under one symbol of an exact search.
_MAX_MATCHES = 20
_MAX_WIDTH = 200
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Style:
    """Escape sequences, all empty where there is no terminal or NO_COLOR is set."""

    path: str = ""
    line: str = ""
    match: str = ""
    dim: str = ""
    bold: str = ""
    reset: str = ""
    links: Links | None = None  # None where places can't be clicked

    @classmethod
    def choose(cls, when: str) -> Style:
        """Return colours or none, as the user and the terminal wish."""
        wanted = when == "always" or (
            when == "auto" and sys.stdout.isatty() and not environment().get("NO_COLOR")
        )
        if not wanted:
            return cls()
        return cls("\x1b[35m", "\x1b[32m", "\x1b[1;31m", "\x1b[2m", "\x1b[1m", "\x1b[0m")

    def place(self, path: str, line: int) -> str:
        """Return `path:line`, coloured and to be clicked where that is wished for."""
        text = f"{self.path}{escape_name(path)}{self.reset}:{self.line}{line}{self.reset}"
        return self.links.around(text, path, line) if self.links else text


def render_answer(answer: Answer, style: Style, *, context: int | None, explain: bool) -> str:
    """Return all hits as text."""
    words = frozenset(_terms(answer.query))
    lines = SNIPPET_LINES if context is None else context
    plan = _render_plan(answer, style) if explain else ""
    return plan + "".join(_render_hit(hit, words, style, lines, explain) + "\n" for hit in answer.hits)


def _render_plan(answer: Answer, style: Style) -> str:
    """Return how the query was understood, and what each lane did."""
    plan = answer.plan
    if plan is None:
        return ""
    lanes = [
        f"{lane.lane} ({lane.problem or f'{lane.found:,} found, {lane.milliseconds:.1f} ms'})"
        for lane in answer.lanes
    ]
    said = [f"plan      {plan.reason}"]
    if lanes:
        said.append(f"lanes     {', '.join(lanes)}")
    if plan.fusion:
        said.append(f"fusion    {plan.fusion}")
    if plan.relation or plan.seeds:
        said.append(f"graph     {' '.join((plan.relation or 'around', *plan.seeds))}")
    if plan.expanded:
        said.append(f"expanded  {', '.join(plan.expanded)}")
    if answer.embedded:
        said.append(f"embedded  {answer.embedded.symbols:,} of {answer.embedded.total:,} symbols")
    return "".join(f"{style.dim}{escape_name(line)}{style.reset}\n" for line in said) + "\n"


def print_json(data: object) -> None:
    """Print plain data as JSON."""
    import json

    sys.stdout.write(escape_json(json.dumps(data, ensure_ascii=False, indent=2)) + "\n")


def render_report(report: Report, root: Path) -> str:
    """Return what an update did, on one line."""
    if not report.wrote:
        return f"up to date: {report.unchanged:,} files in {report.seconds:.2f} s\n"
    counts = (("added", report.added), ("changed", report.changed), ("deleted", report.deleted))
    done = ", ".join(f"{count:,} {name}" for name, count in counts if count)
    return (
        f"indexed {escape_name(str(root))}: {done} ({report.skipped:,} left out) in {report.seconds:.1f} s\n"
    )


def render_embedding(report: EmbedReport) -> str:
    """Return what an embedding run did, on one line."""
    reused = f", {report.reused:,} known from before" if report.reused else ""
    encoder = escape_name(report.encoder)
    return f"embedded {report.encoded:,} symbols{reused} with {encoder} in {report.seconds:.1f} s\n"


def render_related(found: Related, style: Style) -> str:
    """Return what is like a symbol, one line each."""
    symbol = found.symbol
    named = f"{escape_name(symbol.path)}:{symbol.start_line}  {escape_name(symbol.qualified_name)}"
    out = [f"like {named}", ""]
    out += [_one_line(hit, style) for hit in found.neighbours]
    if found.cluster:
        words = escape_name(", ".join(found.cluster.words))
        about = f" about {words}" if words else ""
        out += ["", f"group {found.cluster.number}{about}: {found.cluster.size:,} symbols, its middle first"]
        out += [_one_line(hit, style) for hit in found.cluster.members]
    return "\n".join(out) + "\n"


def _one_line(hit: Hit, style: Style) -> str:
    symbol = hit.symbol
    place = style.place(symbol.path, symbol.start_line)
    name = escape_name(f"{symbol.kind} {symbol.qualified_name}")
    return f"{style.dim}{hit.score:.2f}{style.reset}  {place}  {name}"


def render_models(models: Sequence[EncoderInfo]) -> str:
    """Return the encoders there are, one line each."""
    lines = [
        escape_name(
            f"{model.name:<8} {model.dimension:>4} dimensions  {model.megabytes:>6.1f} MB  {model.id}"
        )
        for model in models
    ]
    return "\n".join(lines) + "\n"


def render_size(size: int) -> str:
    """Return a number of bytes as people read it."""
    value = float(size)
    for unit in ("B", "KB", "MB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} GB"


def render_time(stamp: int) -> str:
    """Return how long ago something was."""
    seconds = max(0, int(time.time()) - stamp)
    for size, unit in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= size:
            count = seconds // size
            return f"{count} {unit}{'s' if count > 1 else ''} ago"
    return "just now"


def _render_hit(hit: Hit, words: frozenset[str], style: Style, lines: int, explain: bool) -> str:
    symbol = hit.symbol
    name = escape_name(f"{symbol.kind} {symbol.qualified_name if symbol.kind != 'file' else ''}")
    head = style.place(symbol.path, symbol.start_line)
    out = [f"{head}  {style.bold}{name}{style.reset}  {style.dim}{hit.score:.2f}{style.reset}"]
    if hit.matches:
        out.extend(f"{m.line:>6}  {_mark_spans(m.text, m.spans, style)}" for m in hit.matches[:_MAX_MATCHES])
        if len(hit.matches) > _MAX_MATCHES:
            out.append(f"        … {len(hit.matches) - _MAX_MATCHES} more lines")
    elif lines:
        out.extend(
            f"{number:>6}  {_mark_words(text, words, style)}" for number, text in _snippet(hit, words, lines)
        )
    if explain:
        out.extend(_render_why(hit, style))
    return "\n".join(out) + "\n"


def _snippet(hit: Hit, words: frozenset[str], count: int) -> list[tuple[int, str]]:
    """Return the lines of a symbol that say most about the query, with their numbers."""
    lines = _numbered(hit)
    if len(lines) <= count:
        return lines
    found = [len({term for term in _terms(text) if term in words}) for _, text in lines]
    # The first line is the signature, which tells most; a window elsewhere must be clearly better.
    best, best_score = 0, sum(found[:count]) + 1.5
    for start in range(1, len(lines) - count + 1):
        score = float(sum(found[start : start + count]))
        if score > best_score:
            best, best_score = start, score
    if best == 0:
        return lines[:count]
    return [lines[0], *lines[best + 1 : best + count]] if count > 1 else lines[best : best + 1]


def _numbered(hit: Hit) -> list[tuple[int, str]]:
    """Return the non-blank lines of a symbol's own text with their numbers in the file."""
    return [(number, line) for number, line in hit.symbol.numbered_lines if line.strip()]


def _render_why(hit: Hit, style: Style) -> list[str]:
    """Return what adds up to the score, and where each lane put the symbol."""
    width = max((len(part.source) for part in hit.explanation), default=0)
    parts = [f"{part.value:>+9.3f}  {part.source:<{width}}  {part.detail}" for part in hit.explanation]
    lanes = [
        f"{lane.lane} rank {lane.rank}: {lane.score:.3f} (normalised {lane.normalised:.2f})"
        + (f", {lane.detail}" if lane.detail else "")
        for lane in hit.lanes
    ]
    sure = [] if hit.confidence is None else [f"confidence {hit.confidence:.0%}"]
    return [
        f"{style.dim}        {escape_controls(line)}{style.reset}".rstrip()
        for line in (*parts, *lanes, *sure)
    ]


def _terms(text: str) -> list[str]:
    from dowse.parsing.tokenizer import tokenize

    return tokenize(text)


def _mark_words(text: str, words: frozenset[str], style: Style) -> str:
    text = escape_controls(text[:_MAX_WIDTH].rstrip("\r"))
    if not style.match:
        return text
    return _WORD.sub(
        lambda m: f"{style.match}{m[0]}{style.reset}" if words & set(_terms(m[0])) else m[0], text
    )


def _mark_spans(text: str, spans: tuple[tuple[int, int], ...], style: Style) -> str:
    text = text.rstrip("\r")
    if not style.match:
        return escape_controls(text)
    out, at = [], 0
    for start, end in _merged(spans):
        out += [escape_controls(text[at:start]), style.match, escape_controls(text[start:end]), style.reset]
        at = end
    return "".join(out) + escape_controls(text[at:])


def _merged(spans: tuple[tuple[int, int], ...]) -> list[tuple[int, int]]:
    """Join spans that overlap: several patterns may match the same text."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
