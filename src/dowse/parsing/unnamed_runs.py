"""Syntax trees on which queries take quadratic time: thousands of unnamed siblings in a row.

Punctuation and keywords are unnamed nodes. At each node, tree-sitter's query cursor searches the next named
sibling and skips the unnamed ones. Code has few of them in a row; `((((((…` makes one error node of them all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dowse.parsing.limits import MAX_UNNAMED_RUN

if TYPE_CHECKING:
    from tree_sitter import Node

_WORD, _OTHER, _SPACE = b"w", b"p", b" \t\r\n\f\v"
# Maps the bytes of words to one letter and all others but white space to another, to find long runs of the
# latter.
_CLASSES = bytes(
    _WORD[0] if byte >= 128 or chr(byte).isalnum() or chr(byte) == "_" else _OTHER[0] for byte in range(256)
)
_RUN = _OTHER * MAX_UNNAMED_RUN


def has_long_unnamed_run(root: Node, text: bytes) -> bool:
    """Whether some node has too many unnamed children in a row.

    Only nodes with errors are searched, and all nodes if the text has that much punctuation without a word in
    between.
    """
    if len(text) <= MAX_UNNAMED_RUN:
        return False
    everywhere = text.translate(_CLASSES, _SPACE).find(_RUN) >= 0
    if not everywhere and not root.has_error:
        return False
    pending = [root]
    while pending:
        node = pending.pop()
        children = node.children
        if node.child_count - node.named_child_count > MAX_UNNAMED_RUN and _has_long_run(children):
            return True
        pending += [child for child in children if child.child_count and (everywhere or child.has_error)]
    return False


def _has_long_run(children: list[Node]) -> bool:
    """Whether too many of the children in a row are unnamed."""
    run = 0
    for child in children:
        run = 0 if child.is_named else run + 1
        if run > MAX_UNNAMED_RUN:
            return True
    return False
