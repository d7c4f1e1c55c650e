"""An answer of the graph as a picture: Graphviz's language, and Mermaid's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from dowse.graph.answer import GraphAnswer, doubt, in_words
from dowse.types import Edge, SymbolRow


class _Arrow(NamedTuple):
    source: int
    target: int
    label: str
    is_sure: bool


def to_dot(answer: GraphAnswer) -> str:
    """Return a picture for Graphviz: arrows point to what is used, dashed where they may mean another."""
    lines = ["digraph dowse {", "  rankdir=LR;", '  node [shape=box, fontname="sans-serif"];']
    names = _names(answer)
    seeds = {seed.row for seed in answer.seeds}
    for row, symbol in _symbols(answer).items():
        bold = ", style=bold" if row in seeds else ""
        label = "\\n".join(_dot_text(text) for text in _label(symbol))
        lines.append(f'  {names[row]} [label="{label}"{bold}];')
    for arrow in _arrows(answer):
        style = "" if arrow.is_sure else ", style=dashed"
        lines.append(
            f'  {names[arrow.source]} -> {names[arrow.target]} [label="{_dot_text(arrow.label)}"{style}];'
        )
    return "\n".join([*lines, "}"]) + "\n"


def to_mermaid(answer: GraphAnswer) -> str:
    """Return the same for Mermaid."""
    lines = ["flowchart LR"]
    names = _names(answer)
    for row, symbol in _symbols(answer).items():
        lines.append(f'  {names[row]}["{"<br/>".join(_mermaid_text(text) for text in _label(symbol))}"]')
    for arrow in _arrows(answer):
        line = "-->" if arrow.is_sure else "-.->"
        lines.append(f'  {names[arrow.source]} {line}|"{_mermaid_text(arrow.label)}"| {names[arrow.target]}')
    lines += [f"  style {names[seed.row]} stroke-width:3px" for seed in answer.seeds]
    return "\n".join(lines) + "\n"


def _symbols(answer: GraphAnswer) -> dict[int, SymbolRow]:
    """Return every symbol of the picture once, seeds first."""
    return {row.row: row for row in (*answer.seeds, *(step.symbol for step in answer.steps))}


def _names(answer: GraphAnswer) -> dict[int, str]:
    return {row: f"n{number}" for number, row in enumerate(_symbols(answer))}


def _arrows(answer: GraphAnswer) -> Iterator[_Arrow]:
    """Give one arrow for all references of one kind between two symbols, the surest of them named."""
    order = {row: at for at, row in enumerate(_symbols(answer))}
    best: dict[tuple[int, int, str], Edge] = {}
    for edge in answer.edges:
        if edge.source not in order or edge.target not in order:
            continue
        key = (edge.source, edge.target, edge.kind)
        if key not in best or doubt(edge) < doubt(best[key]):
            best[key] = edge
    for (source, target, kind), edge in sorted(
        best.items(), key=lambda item: (order[item[0][0]], order[item[0][1]], item[0][2])
    ):
        sure = edge.confidence != "ambiguous"
        yield _Arrow(source, target, kind if sure else f"{kind} ({in_words(edge)})", sure)
    yield from _to_unseen(answer, order)


def _to_unseen(answer: GraphAnswer, order: Mapping[int, int]) -> Iterator[_Arrow]:
    """Give arrows for steps whose references name what is not shown: a member, a base method."""
    for step in answer.steps:
        edge = step.edge
        if edge.source in order and edge.target in order:
            continue
        parent = answer.steps[step.parent].symbol.row if step.parent >= 0 else answer.seed.row
        ends = (step.symbol.row, parent) if edge.source == step.symbol.row else (parent, step.symbol.row)
        sure = step.confidence in ("resolved", "unique")
        yield _Arrow(*ends, edge.kind if sure else f"{edge.kind} ({step.certainty})", sure)


def _label(symbol: SymbolRow) -> tuple[str, str]:
    return f"{symbol.kind} {symbol.qualified_name}", f"{symbol.path}:{symbol.start_line}"


def _dot_text(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")


def _mermaid_text(text: str) -> str:
    """Escape what Mermaid would read as its own: it takes HTML's numbers with # for &."""
    special = {char: f"#{ord(char)};" for char in '#"<>&|[]{}`;'}
    return "".join(special.get(char, char) for char in text.replace("\n", " "))
