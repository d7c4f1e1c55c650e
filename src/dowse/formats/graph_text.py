"""Answers of the graph for people: a tree of references, or a list with the tests apart."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from dowse.formats.text import Style
from dowse.graph.model import GraphAnswer, GraphStep
from dowse.security.terminal import escape_name
from dowse.types import SymbolRow

# Further lines with references between the same two symbols that are named.
_MORE_LINES = 4
_HEADS = {
    "callers": "callers of",
    "callees": "called by",
    "uses": "uses of",
    "implementers": "implementers of",
    "subclasses": "subclasses of",
    "supertypes": "supertypes of",
    "impact": "touched by a change of",
}


def render_graph(answer: GraphAnswer, style: Style) -> str:
    """Return an answer as text."""
    if answer.relation == "path":
        lines = _chain(answer, style)
    elif answer.relation == "impact":
        lines = _impact(answer, style)
    else:
        lines = [f"{_HEADS[answer.relation]} {_named(answer.seed, style)}", "", *_tree(answer, style)]
    return "\n".join(lines) + "\n"


def _tree(answer: GraphAnswer, style: Style) -> Iterator[str]:
    """Give each step below the one that it was reached from."""
    children: dict[int, list[int]] = defaultdict(list)
    for number, step in enumerate(answer.steps):
        children[step.parent].append(number)
    waiting = list(reversed(children[-1]))
    while waiting:  # no recursion: chains can be long
        number = waiting.pop()
        step = answer.steps[number]
        above = answer.steps[step.parent].symbol if step.parent >= 0 else answer.seed
        yield "  " * (step.depth - 1) + _line(step, above, style)
        waiting += reversed(children[number])


def _chain(answer: GraphAnswer, style: Style) -> list[str]:
    links = [answer.seed, *(step.symbol for step in answer.steps)]
    return [
        _named(answer.seed, style),
        *(f"  {_line(step, above, style)}" for above, step in zip(links, answer.steps, strict=False)),
    ]


def _impact(answer: GraphAnswer, style: Style) -> list[str]:
    """Return what is touched, nearest first, and then the tests."""
    code = [step for step in answer.steps if not step.is_test]
    lines = [f"{_HEADS['impact']} {_named(answer.seed, style)}"]
    for depth in sorted({step.depth for step in code}):
        here = [step for step in code if step.depth == depth]
        away = "directly" if depth == 1 else f"{depth} steps away"
        lines += ["", f"{style.bold}{away}{style.reset} ({len(here)})"]
        lines += [_line(step, answer.seed, style) for step in here]
    if answer.tests:
        files = len({step.path for step in answer.tests})
        count = f"{len(answer.tests)}, in {files} file{'s' if files > 1 else ''}"
        lines += ["", f"{style.bold}tests to run{style.reset} ({count})"]
        lines += [_test(step, answer.seed, style) for step in answer.tests]
    return lines


def _test(step: GraphStep, seed: SymbolRow, style: Style) -> str:
    away = "" if step.depth == 1 else f", {step.depth} steps away"
    where, what = style.place(step.path, step.line), _what(step.symbol)
    return f"{where}  {what}  {style.dim}{_why(step, seed)}{away}{style.reset}"


def _line(step: GraphStep, above: SymbolRow, style: Style) -> str:
    """Return one step: where the reference stands, what it leads to, of which kind and how sure it is."""
    where, what = style.place(step.path, step.line), _what(step.symbol)
    return f"{where}  {what}  {style.dim}{_why(step, above)}{_more(step)}{style.reset}"


def _why(step: GraphStep, above: SymbolRow) -> str:
    """Say what kind of reference it is and how sure, and what it names where that is not seen above it."""
    return escape_name(_unescaped_why(step, above))


def _unescaped_why(step: GraphStep, above: SymbolRow) -> str:
    kinds = " and ".join(dict.fromkeys(edge.kind for edge in step.references))
    if step.through or step.other == above.qualified_name:
        return f"{kinds}, {step.certainty}"
    if step.edge.source == step.symbol.row:
        return f"{kinds} {step.other}, {step.certainty}"
    return f"{kinds}, {step.certainty}, in {step.other}"


def _more(step: GraphStep) -> str:
    lines = sorted({edge.line for edge in step.references[1:]} - {step.line})
    if not lines:
        return ""
    shown = ", ".join(str(line) for line in lines[:_MORE_LINES])
    rest = f" and {len(lines) - _MORE_LINES} more" if len(lines) > _MORE_LINES else ""
    return f", also in line {shown}{rest}" if len(lines) == 1 else f", also in lines {shown}{rest}"


def _named(symbol: SymbolRow, style: Style) -> str:
    return f"{_what(symbol)}  {style.place(symbol.path, symbol.start_line)}"


def _what(symbol: SymbolRow) -> str:
    return escape_name(f"{symbol.kind} {symbol.qualified_name}")
