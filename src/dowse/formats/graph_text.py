"""Answers of the code graph as text: a tree of references, or a list with the tests last."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from dowse.formats.style import Style
from dowse.graph.model import GraphAnswer, GraphStep, describe_symbol
from dowse.security.terminal import escape_name
from dowse.types import SymbolRow

# How many further lines with references between the same two symbols are listed.
_MORE_LINES = 4
_HEADINGS = {
    "callers": "callers of",
    "callees": "called by",
    "uses": "uses of",
    "implementers": "implementers of",
    "subclasses": "subclasses of",
    "supertypes": "supertypes of",
    "impact": "touched by a change of",
}


def render_graph(answer: GraphAnswer, style: Style) -> str:
    """Return an answer of the code graph as text."""
    if answer.relation == "path":
        lines = _chain(answer, style)
    elif answer.relation == "impact":
        lines = _impact(answer, style)
    else:
        lines = [f"{_HEADINGS[answer.relation]} {_symbol(answer.seed, style)}"]
        lines += ["", *_tree(answer, style)] if answer.steps else []
    lines += _mentions(answer, style)
    return "\n".join(lines) + "\n"


def _tree(answer: GraphAnswer, style: Style) -> Iterator[str]:
    """Yield each step below the step that it was reached from."""
    children: dict[int, list[GraphStep]] = defaultdict(list)
    for step in answer.steps:
        children[step.parent].append(step)
    stack = list(reversed(children[0]))
    while stack:  # no recursion: chains can be long
        step = stack.pop()
        parent = answer.steps[step.parent - 1].symbol if step.parent else answer.seed
        yield "  " * (step.depth - 1) + _line(step, parent, style)
        stack += reversed(children[step.number])


def _chain(answer: GraphAnswer, style: Style) -> list[str]:
    links = [answer.seed, *(step.symbol for step in answer.steps)]
    return [
        _symbol(answer.seed, style),
        *(f"  {_line(step, parent, style)}" for parent, step in zip(links, answer.steps, strict=False)),
    ]


def _impact(answer: GraphAnswer, style: Style) -> list[str]:
    """Return the affected code, nearest first, and then the tests."""
    code = [step for step in answer.steps if not step.is_test]
    lines = [f"{_HEADINGS['impact']} {_symbol(answer.seed, style)}"]
    for depth in sorted({step.depth for step in code}):
        steps = [step for step in code if step.depth == depth]
        distance = "directly" if depth == 1 else f"{depth} steps away"
        count = _count(len(steps), answer.total_by_depth[depth - 1])
        lines += ["", f"{style.bold}{distance}{style.reset} ({count})"]
        lines += [_line(step, answer.seed, style) for step in steps]
    if answer.tests:
        files = len({step.path for step in answer.tests})
        count = _count(len(answer.tests), answer.total_tests)
        count += f", in {files} file{'s' if files > 1 else ''}"
        certain = answer.certain
        sure = [step for step in answer.tests if step.number in certain]
        possible = [step for step in answer.tests if step.number not in certain]
        lines += ["", f"{style.bold}tests to run{style.reset} ({count})"]
        lines += [_test_line(step, answer, style) for step in sure]
        if possible and sure:
            lines += [
                "",
                f"{style.bold}of these, that may be affected{style.reset} ({len(possible):,})",
            ]
        lines += [_test_line(step, answer, style) for step in possible]
    elif not answer.total_tests:
        lines += ["", f"{style.bold}no test{style.reset} is known to reach it by calls inside the repository"]
    return lines


def _test_line(step: GraphStep, answer: GraphAnswer, style: Style) -> str:
    return _line(step, answer.seed, style, "" if step.depth == 1 else f", {step.depth} steps away")


def _count(shown: int, total: int) -> str:
    return f"{total:,}" if shown == total else f"{shown:,} of {total:,}"


def _mentions(answer: GraphAnswer, style: Style) -> list[str]:
    """Return the lines that mention the name, with the symbols around them."""
    if not answer.mentions:
        return []
    count = _count(len(answer.mentions), answer.total_mentions)
    references = "calls" if answer.relation == "callers" else "uses"
    heading = f"mentions of the name that are not known to be {references}"
    lines = ["", f"{style.bold}{heading}{style.reset} ({count})"]
    for mention in answer.mentions:
        location = style.location(mention.symbol.path, mention.line)
        text = escape_name(mention.text)
        lines.append(f"{location}  {_kind_and_name(mention.symbol)}  {style.dim}{text}{style.reset}")
    return lines


def _line(step: GraphStep, parent: SymbolRow, style: Style, suffix: str | None = None) -> str:
    """Return one step: location of the reference, symbol, kind and certainty; then further lines."""
    location = style.location(step.path, step.line)
    suffix = _more_lines(step) if suffix is None else suffix
    reference = f"{style.dim}{escape_name(_describe_reference(step, parent))}{suffix}{style.reset}"
    return f"{location}  {_kind_and_name(step.symbol)}  {reference}"


def _describe_reference(step: GraphStep, parent: SymbolRow) -> str:
    """Return kind and certainty of a reference, and the symbol it names if that is not the parent."""
    kinds = " and ".join(dict.fromkeys(edge.kind for edge in step.references))
    if step.through or step.other == parent.qualified_name:
        return f"{kinds}, {step.certainty}"
    if step.edge.source == step.symbol.row:
        return f"{kinds} {step.other}, {step.certainty}"
    return f"{kinds}, {step.certainty}, in {step.other}"


def _more_lines(step: GraphStep) -> str:
    lines = sorted({edge.line for edge in step.references[1:]} - {step.line})
    if not lines:
        return ""
    shown = ", ".join(str(line) for line in lines[:_MORE_LINES])
    more = f" and {len(lines) - _MORE_LINES} more" if len(lines) > _MORE_LINES else ""
    return f", also in line {shown}{more}" if len(lines) == 1 else f", also in lines {shown}{more}"


def _symbol(symbol: SymbolRow, style: Style) -> str:
    return f"{_kind_and_name(symbol)}  {style.location(symbol.path, symbol.start_line)}"


def _kind_and_name(symbol: SymbolRow) -> str:
    return escape_name(describe_symbol(symbol))
