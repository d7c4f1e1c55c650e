"""Where a binding holds that is narrower than a function: loops, comprehensions, and type guards."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node

    from dowse.types import Span

_MAX_STEPS = 8
_LOOPS = frozenset(["for_statement", "for_in_statement"])
_COMPREHENSIONS = frozenset(["for_in_clause"])
_CONDITIONALS = frozenset(["if_statement", "elif_clause"])
# Statements after which the rest of a block does not run.
_EXITS = frozenset(
    "return_statement raise_statement throw_statement continue_statement break_statement".split()
)
_NEGATIONS = frozenset(["not_operator", "unary_expression"])


def loop_span(variable: Node) -> Span | None:
    """Return the loop or comprehension of a variable."""
    node: Node | None = variable
    for _ in range(_MAX_STEPS):
        node = node.parent if node is not None else None
        if node is None:
            return None
        if node.type in _LOOPS:
            return node.byte_range
        if node.type in _COMPREHENSIONS:
            return node.parent.byte_range if node.parent is not None else None
    return None


def narrowed_span(variable: Node) -> Span | None:
    """Return where a type guard such as `isinstance(x, T)` or `x instanceof T` holds, None if unknown.

    It holds in the branch that it is the condition of, and in the rest of the block after an assertion, or
    after a negated guard whose branch leaves the block.
    """
    node, is_negated = _guard(variable), False
    for _ in range(_MAX_STEPS):
        parent = node.parent if node is not None else None
        if node is None or parent is None:
            return None
        if parent.type in _NEGATIONS:
            is_negated = not is_negated
        elif parent.type == "assert_statement":
            return _rest_of_block(parent, parent.start_byte)
        elif parent.type in _CONDITIONALS:
            return _branch(parent, is_negated)
        elif parent.type == "while_statement" and not is_negated:
            body = parent.child_by_field_name("body")
            return body.byte_range if body is not None else None
        elif parent.type == "conditional_expression":
            return parent.children[0].byte_range if not is_negated else None
        elif parent.type == "ternary_expression":
            chosen = parent.child_by_field_name("alternative" if is_negated else "consequence")
            return chosen.byte_range if chosen is not None else None
        elif parent.type not in ("boolean_operator", "binary_expression", "parenthesized_expression"):
            return None
        node = parent
    return None


def _guard(variable: Node) -> Node | None:
    """Return the expression that is the guard: the call of `isinstance`, or the comparison."""
    parent = variable.parent
    return parent.parent if parent is not None and parent.type == "argument_list" else parent


def _branch(statement: Node, is_negated: bool) -> Span | None:
    consequence = statement.child_by_field_name("consequence")
    if consequence is None:
        return None
    if not is_negated:
        return consequence.byte_range
    statements = consequence.named_children or [consequence]
    if statements[-1].type in _EXITS or consequence.type in _EXITS:
        return _rest_of_block(statement, statement.end_byte)
    return None


def _rest_of_block(statement: Node, start: int) -> Span | None:
    return (start, statement.parent.end_byte) if statement.parent is not None else None
