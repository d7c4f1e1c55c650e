"""An answer of the graph as a picture: Graphviz's language, and Mermaid's."""

from __future__ import annotations

from dowse.graph.answer import GraphAnswer
from dowse.graph.diagram_edges import Arrow, arrows, shown_symbols
from dowse.security.terminal import escape_name
from dowse.types import SymbolRow


def to_dot(answer: GraphAnswer) -> str:
    """Return a picture for Graphviz: arrows point to what is used, dashed where they may mean another."""
    lines = ["digraph dowse {", "  rankdir=LR;", '  node [shape=box, fontname="sans-serif"];']
    names = _names(answer)
    seeds = {seed.row for seed in answer.seeds}
    for row, symbol in shown_symbols(answer).items():
        bold = ", style=bold" if row in seeds else ""
        label = "\\n".join(_dot_text(text) for text in _label(symbol))
        lines.append(f'  {names[row]} [label="{label}"{bold}];')
    for arrow in arrows(answer):
        style = "" if arrow.is_sure else ", style=dashed"
        lines.append(
            f'  {names[arrow.source]} -> {names[arrow.target]} [label="{_dot_text(_said(arrow))}"{style}];'
        )
    return "\n".join([*lines, "}"]) + "\n"


def to_mermaid(answer: GraphAnswer) -> str:
    """Return the same for Mermaid."""
    lines = ["flowchart LR"]
    names = _names(answer)
    for row, symbol in shown_symbols(answer).items():
        lines.append(f'  {names[row]}["{"<br/>".join(_mermaid_text(text) for text in _label(symbol))}"]')
    for arrow in arrows(answer):
        line = "-->" if arrow.is_sure else "-.->"
        lines.append(f'  {names[arrow.source]} {line}|"{_mermaid_text(_said(arrow))}"| {names[arrow.target]}')
    lines += [f"  style {names[seed.row]} stroke-width:3px" for seed in answer.seeds]
    return "\n".join(lines) + "\n"


def _names(answer: GraphAnswer) -> dict[int, str]:
    return {row: f"n{number}" for number, row in enumerate(shown_symbols(answer))}


def _said(arrow: Arrow) -> str:
    return arrow.kind if arrow.is_sure else f"{arrow.kind} ({arrow.certainty})"


def _label(symbol: SymbolRow) -> tuple[str, str]:
    return f"{symbol.kind} {symbol.qualified_name}", f"{symbol.path}:{symbol.start_line}"


def _dot_text(text: str) -> str:
    return escape_name(text).replace("\\", "\\\\").replace('"', '\\"')


def _mermaid_text(text: str) -> str:
    """Escape what Mermaid would read as its own: it takes HTML's numbers with # for &."""
    special = {char: f"#{ord(char)};" for char in '#"<>&|[]{}`;'}
    return "".join(special.get(char, char) for char in escape_name(text))
