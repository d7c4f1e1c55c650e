"""Where a binding holds that is narrower than a function: loops, comprehensions, and type guards."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node

    from dowse.types import Span

_MAX_STEPS = 8
_LOOPS = frozenset(["for_statement", "for_in_statement"])
_ANONYMOUS = frozenset(
    "arrow_function function_expression generator_function lambda anonymous_function".split()
)
_FUNCTIONS = _ANONYMOUS | frozenset(
    "function_definition function_declaration generator_function_declaration method_definition"
    " method_declaration method singleton_method".split()
)
_DEFINITIONS = _FUNCTIONS - _ANONYMOUS
# What gives an anonymous function the name of a symbol.
_NAMING = frozenset(
    "variable_declarator assignment_expression pair public_field_definition field_definition".split()
)
# What an object literal can be the value of, and what can be around it.
_HOLDERS = frozenset(
    "variable_declarator assignment_expression return_statement export_statement arrow_function".split()
)
_WRAPPERS = ("parenthesized_expression", "as_expression", "satisfies_expression")
_COMPREHENSIONS = frozenset(["for_in_clause"])
_CONDITIONALS = frozenset(["if_statement", "elif_clause", "if_expression", "else_if_clause"])
# Statements after which the rest of a block does not run.
_EXITS = frozenset(
    "return_statement raise_statement throw_statement continue_statement break_statement return_expression"
    " throw_expression".split()
)
_NEGATIONS = frozenset(["not_operator", "unary_expression", "unary_op_expression"])


def is_result(node: Node) -> bool:
    """Whether a returned expression is the result of a definition, not of an anonymous function in it."""
    function: Node | None = node
    while function is not None and function.type not in _FUNCTIONS:
        function = function.parent
    if function is None or function.type not in _ANONYMOUS:
        return function is not None
    return function.parent is not None and function.parent.type in _NAMING


def is_visible_property(key: Node) -> bool:
    """Whether a property belongs to an object literal that has a name or is a result."""
    node: Node | None = key.parent
    if node is not None and node.type == "pair":
        node = node.parent
    node = node.parent if node is not None else None
    while node is not None and node.type in _WRAPPERS:
        node = node.parent
    return node is not None and node.type in _HOLDERS


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


def lexical_span(variable: Node) -> Span | None:
    """Return the block that a variable of JavaScript is visible in, None for a whole definition or file."""
    node = variable.parent
    is_var = False
    for _ in range(_MAX_STEPS):
        if node is None:
            return None
        is_var = is_var or node.type == "variable_declaration"
        around = node.parent
        if node.type == "statement_block" and around is not None:
            if around.type in _DEFINITIONS:
                return None
            if not is_var or around.type in _ANONYMOUS:
                return node.byte_range
        elif node.type == "for_statement" and not is_var:
            return node.byte_range
        node = around
    return None


def block_span(variable: Node) -> Span | None:
    """Return the block around a variable of C or C++, None at the top level."""
    node = variable.parent
    for _ in range(_MAX_STEPS):
        if node is None or node.type == "compound_statement":
            return node.byte_range if node is not None else None
        node = node.parent
    return None


def narrowed_span(variable: Node) -> Span | None:
    """Return where a type guard such as `isinstance(x, T)` or `x instanceof T` holds, None if unknown.

    It holds in the branch that it is the condition of, and in the rest of the block after an assertion, or
    after a negated guard whose branch leaves the block.
    """
    node = _guard(variable)
    is_negated = node is not None and any(child.type == "!is" for child in node.children)  # of Kotlin
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
        elif parent.type == "when_entry" and not is_negated:
            return parent.byte_range
        elif parent.type == "while_statement" and not is_negated:
            body = parent.child_by_field_name("body")
            return body.byte_range if body is not None else None
        elif parent.type == "conditional_expression":
            consequence = parent.child_by_field_name("body") or parent.children[0]  # of PHP, of Python
            return consequence.byte_range if not is_negated else None
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
    consequence = statement.child_by_field_name("consequence") or statement.child_by_field_name("body")
    if consequence is None and statement.type == "if_expression":  # of Kotlin: it has no names for its parts
        consequence = next(iter(statement.named_children[1:2]), None)
    if consequence is None:
        return None
    if not is_negated:
        return consequence.byte_range
    statements = consequence.named_children or [consequence]
    last = statements[-1]
    if last.type == "expression_statement" and last.named_children:  # `throw` is an expression of PHP
        last = last.named_children[0]
    if last.type in _EXITS or consequence.type in _EXITS:
        return _rest_of_block(statement, statement.end_byte)
    return None


def _rest_of_block(statement: Node, start: int) -> Span | None:
    return (start, statement.parent.end_byte) if statement.parent is not None else None
