"""Rust items inside of macro calls such as `cfg_net! { pub fn … }`.

A macro's arguments are mere tokens in the syntax tree. Where the tokens of a braced call at item level are
items themselves, the file is parsed with the call blanked out, and offsets stay the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

    from dowse.parsing.grammar import CompiledGrammar

# What holds items, and so may hold such calls.
_ITEM_LISTS = frozenset(
    ["source_file", "mod_item", "impl_item", "trait_item", "declaration_list", "expression_statement"]
)
_ITEM = re.compile(
    rb"\{(?:\s|//[^\n]*\n|#\[[^\]]*\])*"
    rb"(?:\w+!\s*\{|pub\b|fn\b|impl\b|struct\b|enum\b|trait\b|mod\b|use\b|type\b|(?:async|unsafe|const|extern)\s+(?:fn|impl)\b)"
)
# Calls inside of calls are found in the next round.
_MAX_ROUNDS = 3


def unwrap_item_macros(grammar: CompiledGrammar, text: bytes, tree: Tree, seconds: float) -> Tree:
    """Return the syntax tree in which the items inside of macro calls are items of the file."""
    for _ in range(_MAX_ROUNDS):
        blanked = bytearray(text)
        for call in _calls(tree.root_node):
            body = call.children[-1]
            if body.type == "token_tree" and _ITEM.match(text, body.start_byte):
                start, inside = call.start_byte, body.start_byte + 1
                blanked[start:inside] = re.sub(rb"[^\n]", b" ", text[start:inside])
                blanked[body.end_byte - 1 : body.end_byte] = b" "
        if blanked == text:
            break
        text = bytes(blanked)
        unwrapped = grammar.parse(text, seconds)
        if unwrapped is None:
            break
        tree = unwrapped
    return tree


def _calls(node: Node) -> Iterator[Node]:
    for child in node.children:
        if child.type == "macro_invocation":
            yield child
        elif child.type in _ITEM_LISTS:
            yield from _calls(child)
