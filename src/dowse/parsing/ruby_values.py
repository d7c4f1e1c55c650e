"""Values of expressions of Ruby, the scopes of its local variables, and calls that are bare names."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from dowse.parsing.expressions import COLLECTION, UNKNOWN, ExpressionValue, with_suffix
from dowse.parsing.type_expressions import LITERAL
from dowse.types import Span

if TYPE_CHECKING:
    from tree_sitter import Node

# The first name of a path that is written with `::` before it.
ROOT_NAMESPACE = "$root"

_MAX_DEPTH = 8
_LITERALS = frozenset(
    "string chained_string heredoc_beginning integer float simple_symbol symbol delimited_symbol regex true"
    " false hash range string_array symbol_array lambda".split()
)
_NAMES = frozenset(["identifier", "constant", "instance_variable", "class_variable", "self"])
# Expressions whose value is that of some of their children, by field; else of the last child.
_BRANCHES: dict[str, tuple[str, ...]] = {
    "parenthesized_statements": (),
    "then": (),
    "else": (),
    "begin": (),
    "if": ("consequence", "alternative"),
    "unless": ("consequence", "alternative"),
    "elsif": ("consequence", "alternative"),
    "conditional": ("consequence", "alternative"),
    "if_modifier": ("body",),
    "unless_modifier": ("body",),
    "assignment": ("right",),
    "operator_assignment": ("left", "right"),
    "return": (),
    "argument_list": (),
}
_BLOCKS = frozenset(["do_block", "block", "lambda"])
_SCOPES = frozenset(["method", "singleton_method", "class", "module", "singleton_class", "program"])
# Classes whose `new` makes a class.
_CLASS_MAKERS = frozenset(["Class", "Module", "Struct", "Data"])
# Methods that return their receiver.
_TRANSPARENT = frozenset(["freeze", "dup", "clone", "tap", "itself"])


def ruby_values(node: Node, text: Callable[[Node], str], depth: int = 0) -> list[ExpressionValue]:
    """Return the values that an expression of Ruby can have."""
    kind = node.type
    if depth > _MAX_DEPTH:
        return [UNKNOWN]
    if kind in _LITERALS:
        return [("type", LITERAL)]
    if kind == "array":
        held = ruby_values(node.named_children[0], text, depth + 1) if node.named_children else []
        return with_suffix(held, COLLECTION) if held else [("type", LITERAL)]
    if kind == "binary":
        is_either = any(each.type in ("||", "&&", "or", "and") for each in node.children)
        return _values_of(node, ("left", "right"), text, depth) if is_either else [UNKNOWN]
    if kind == "case":
        branches = [each for each in node.named_children if each.type in ("when", "else")]
        bodies = [each.child_by_field_name("body") or each for each in branches]
        return [value for body in bodies for value in ruby_values(body, text, depth + 1)]
    if kind in _BRANCHES:
        return _values_of(node, _BRANCHES[kind], text, depth)
    path = _path(node, text, depth)
    return [("same", path)] if path else [UNKNOWN]


def _values_of(
    node: Node, fields: tuple[str, ...], text: Callable[[Node], str], depth: int
) -> list[ExpressionValue]:
    children = [node.child_by_field_name(field) for field in fields] or node.named_children[-1:]
    return [value for child in children if child for value in ruby_values(child, text, depth + 1)]


def _path(node: Node, text: Callable[[Node], str], depth: int) -> str:
    """Return an expression as a member path, without arguments and blocks; "" if it is none."""
    if node.type in _NAMES:
        return text(node)
    if node.type == "scope_resolution":
        path = text(node).replace("::", ".")
        return ROOT_NAMESPACE + path if path.startswith(".") else path
    if node.type == "element_reference":
        held = _path(node.named_children[0], text, depth + 1)
        return f"{held}[]" if held else ""
    if node.type != "call" or depth > _MAX_DEPTH * 4:
        return ""
    receiver, method = node.child_by_field_name("receiver"), node.child_by_field_name("method")
    if method is None or method.type not in ("identifier", "constant"):
        return ""
    name = text(method)
    if receiver is None:
        return f"{name}()"
    if name == "new" and text(receiver) in _CLASS_MAKERS:
        arguments = node.child_by_field_name("arguments")
        first = arguments.named_children[0] if arguments is not None and arguments.named_children else None
        is_class = first is not None and first.type in ("constant", "scope_resolution")
        return _path(first, text, depth + 1) if first is not None and is_class else ""
    held = _path(receiver, text, depth + 1)
    return held if not held or name in _TRANSPARENT else f"{held}.{name}()"


def block_span(variable: Node) -> Span | None:
    """Return the block that a local variable is of, None for a variable of a whole method or file."""
    node = variable.parent
    while node is not None and node.type not in _SCOPES:
        if node.type in _BLOCKS:
            return node.byte_range
        node = node.parent
    return None


def scope_span(variable: Node) -> Span:
    """Return where a local variable is visible: its block, method or class."""
    node = variable.parent
    while node is not None and node.type not in _BLOCKS and node.type not in _SCOPES:
        node = node.parent
    return node.byte_range if node is not None else variable.byte_range


def bare_calls(data: bytes, identifiers: Iterable[Span], variables: Iterable[Node]) -> list[Span]:
    """Return the identifiers that are no local variables: they call a method of that name."""
    visible: dict[bytes, list[Span]] = {}
    bound = set[int]()
    for node in variables:
        start, end = node.byte_range
        bound.add(start)
        spans = visible.setdefault(data[start:end], [])
        span = scope_span(node)
        if not spans or spans[-1] != span:
            spans.append(span)
    return [
        (start, end)
        for start, end in identifiers
        if start not in bound
        and not any(first <= start < last for first, last in visible.get(data[start:end], ()))
    ]
