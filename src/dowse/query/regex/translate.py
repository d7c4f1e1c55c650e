"""Translation of the AST to RE2 syntax, with the meaning that ripgrep gives it."""

from __future__ import annotations

from itertools import groupby

from dowse.query.regex.ast import Alternate, Assertion, CharClass, Concat, Dot, Literal, Node, Repeat
from dowse.query.regex.classes import render_class


def to_re2(node: Node, *, ascii_text: bool, boundaries: bool = True) -> str:
    r"""Return a node in RE2 syntax, with multi-line anchors.

    Args:
        node: The AST.
        ascii_text: The text is ASCII only, so the short class tables suffice.
        boundaries: Keep \b and \B; without them the result matches more, never less.
    """
    return f"(?m){_Renderer(ascii_text, boundaries).render(node)}"


class _Renderer:
    """The options of one translation."""

    def __init__(self, ascii_text: bool, boundaries: bool) -> None:
        self.ascii_text = ascii_text
        self.boundaries = boundaries

    def render(self, node: Node) -> str:
        """Return one node such that others can follow it."""
        if isinstance(node, Literal):
            return _literal_run([node], node.fold)
        if isinstance(node, Dot):
            return r"[^\n]"
        if isinstance(node, CharClass):
            return render_class(node, ascii_text=self.ascii_text)
        if isinstance(node, Assertion):
            return self.assertion(node)
        if isinstance(node, Repeat):
            return self.repeat(node)
        if isinstance(node, Alternate):
            return f"(?:{'|'.join(map(self.render, node.parts))})"
        return self.concat(node)

    def assertion(self, node: Assertion) -> str:
        """Return an anchor or a word boundary."""
        if node.kind in ("start", "end"):
            return "^" if node.kind == "start" else "$"
        if not self.boundaries:
            return "(?:)"
        return r"\b" if node.kind == "boundary" else r"\B"

    def repeat(self, node: Repeat) -> str:
        """Return a repetition; the group separates stacked operators."""
        high = "" if node.high is None else str(node.high)
        return f"(?:{self.render(node.node)}){{{node.low},{high}}}{'' if node.greedy else '?'}"

    def concat(self, node: Concat) -> str:
        """Return a sequence, with neighbouring letters under one case flag."""
        pieces: list[str] = []
        for key, group in groupby(node.parts, lambda part: part.fold if isinstance(part, Literal) else None):
            parts = list(group)
            if key is None:
                pieces += map(self.render, parts)
            else:
                pieces.append(_literal_run([part for part in parts if isinstance(part, Literal)], key))
        return "".join(pieces) or "(?:)"


def _literal_run(literals: list[Literal], fold: bool) -> str:
    """Return a sequence of letters."""
    text = "".join(_escape(literal.char) for literal in literals)
    return f"(?i:{text})" if fold else text


def _escape(char: str) -> str:
    """Escape a character for RE2."""
    return char if char.isalnum() or char == "_" else rf"\x{{{ord(char):x}}}"
