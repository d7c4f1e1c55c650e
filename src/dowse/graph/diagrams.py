"""Diagrams of an answer in the languages of Graphviz and Mermaid."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from dowse.graph.model import GraphAnswer, describe_confidence, describe_symbol, is_sure, uncertainty
from dowse.security.terminal import escape_name
from dowse.types import Edge, SymbolRow


class Arrow(NamedTuple):
    """All references of one kind between two symbols; it points to the symbol that is used."""

    source: int  # rows
    target: int
    kind: str
    line: int  # of the most certain reference
    is_sure: bool
    certainty: str  # in words

    @property
    def label(self) -> str:
        """The kind, and how certain it is unless it is sure."""
        return self.kind if self.is_sure else f"{self.kind} ({self.certainty})"


def to_dot(answer: GraphAnswer) -> str:
    """Return a diagram for Graphviz: arrows point to what is used, dashed where they may mean another."""
    lines = ["digraph dowse {", "  rankdir=LR;", '  node [shape=box, fontname="sans-serif"];']
    ids = _node_ids(answer)
    seeds = {seed.row for seed in answer.seeds}
    for row, symbol in shown_symbols(answer).items():
        bold = ", style=bold" if row in seeds else ""
        label = "\\n".join(_escape_dot(text) for text in _label_lines(symbol))
        lines.append(f'  {ids[row]} [label="{label}"{bold}];')
    for arrow in arrows(answer):
        style = "" if arrow.is_sure else ", style=dashed"
        label = _escape_dot(arrow.label)
        lines.append(f'  {ids[arrow.source]} -> {ids[arrow.target]} [label="{label}"{style}];')
    return "\n".join([*lines, "}"]) + "\n"


def to_mermaid(answer: GraphAnswer) -> str:
    """Return the same diagram for Mermaid."""
    lines = ["flowchart LR"]
    ids = _node_ids(answer)
    for row, symbol in shown_symbols(answer).items():
        label = "<br/>".join(_escape_mermaid(text) for text in _label_lines(symbol))
        lines.append(f'  {ids[row]}["{label}"]')
    for arrow in arrows(answer):
        line = "-->" if arrow.is_sure else "-.->"
        lines.append(f'  {ids[arrow.source]} {line}|"{_escape_mermaid(arrow.label)}"| {ids[arrow.target]}')
    lines += [f"  style {ids[seed.row]} stroke-width:3px" for seed in answer.seeds]
    return "\n".join(lines) + "\n"


def shown_symbols(answer: GraphAnswer) -> dict[int, SymbolRow]:
    """Return every symbol of the diagram once, by row, seeds first."""
    return {row.row: row for row in (*answer.seeds, *(step.symbol for step in answer.steps))}


def arrows(answer: GraphAnswer) -> Iterator[Arrow]:
    """Yield one arrow for all references of one kind between two symbols, named by the most certain one."""
    order = {row: index for index, row in enumerate(shown_symbols(answer))}
    best: dict[tuple[int, int, str], Edge] = {}
    for edge in answer.edges:
        if edge.source not in order or edge.target not in order:
            continue
        key = (edge.source, edge.target, edge.kind)
        if key not in best or uncertainty(edge) < uncertainty(best[key]):
            best[key] = edge
    for (source, target, kind), edge in sorted(
        best.items(), key=lambda item: (order[item[0][0]], order[item[0][1]], item[0][2])
    ):
        yield Arrow(source, target, kind, edge.line, is_sure(edge), describe_confidence(edge))
    yield from _arrows_to_parents(answer, order)


def _arrows_to_parents(answer: GraphAnswer, order: Mapping[int, int]) -> Iterator[Arrow]:
    """Yield arrows for steps whose references name a symbol that is not shown: a member, a base method."""
    for step in answer.steps:
        edge = step.edge
        if edge.source in order and edge.target in order:
            continue
        parent = answer.steps[step.parent].symbol.row if step.parent >= 0 else answer.seed.row
        ends = (step.symbol.row, parent) if edge.source == step.symbol.row else (parent, step.symbol.row)
        yield Arrow(*ends, edge.kind, step.line, step.is_sure, step.certainty)


def _node_ids(answer: GraphAnswer) -> dict[int, str]:
    return {row: f"n{number}" for number, row in enumerate(shown_symbols(answer))}


def _label_lines(symbol: SymbolRow) -> tuple[str, str]:
    return describe_symbol(symbol), f"{symbol.path}:{symbol.start_line}"


def _escape_dot(text: str) -> str:
    return escape_name(text).replace("\\", "\\\\").replace('"', '\\"')


def _escape_mermaid(text: str) -> str:
    """Escape Mermaid's special characters: it takes HTML character codes with # for &."""
    special = {char: f"#{ord(char)};" for char in '#"<>&|[]{}`;'}
    return "".join(special.get(char, char) for char in escape_name(text))
