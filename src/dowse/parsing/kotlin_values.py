"""Values of expressions of Kotlin, as far as the syntax tells, and what the names of lambdas stand for."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from dowse.parsing.declared_types import parse_declared_type
from dowse.parsing.expressions import UNKNOWN, ExpressionValue
from dowse.parsing.type_expressions import LITERAL

if TYPE_CHECKING:
    from tree_sitter import Node

Text = Callable[["Node"], str]

# Suffixes of the path of a function: the parameters of a lambda that it is given, and its receiver.
PARAMETERS, RECEIVER = ("[it]", "[it1]", "[it2]"), "[this]"

_MAX_DEPTH, _MAX_CHAIN, _MAX_TYPE_BYTES = 8, 100, 200
_LITERALS = frozenset(
    "string_literal multiline_string_literal number_literal float_literal character_literal boolean_literal"
    " lambda_literal anonymous_function range_expression is_expression in_expression".split()
)
_LEAVING = frozenset(["return_expression", "throw_expression", "jump_expression"])
_NO_VALUES = frozenset(["null", "return", "throw", "continue", "break"])
_BLOCKS = frozenset(["block", "control_structure_body", "function_body", "lambda_literal"])
# Functions of the standard library whose lambdas have no receiver.
_WITHOUT_RECEIVER = frozenset(
    "let also takeIf takeUnless forEach map filter any all none find first last lazy repeat synchronized use"
    " mapNotNull filterNot filterNotNull flatMap associate associateBy associateWith groupBy sortedBy sumOf"
    " joinToString onEach forEachIndexed mapIndexed firstOrNull lastOrNull count maxByOrNull minByOrNull"
    " require check requireNotNull checkNotNull error thread runCatching getOrPut getOrElse fold".split()
)


def kotlin_values(node: Node, text: Text, depth: int = 0) -> list[ExpressionValue]:
    """Return the values that an expression can have; several for a conditional one."""
    kind, children = node.type, node.named_children
    if depth > _MAX_DEPTH:
        return [UNKNOWN]
    if kind in _LITERALS:
        return [("type", LITERAL)]
    if kind in _LEAVING or (kind == "identifier" and text(node) in _NO_VALUES):
        return []
    if kind == "as_expression":
        return [_declared(node.child_by_field_name("right"), text)]
    if kind == "object_literal":
        return [_declared(_first_type(node), text)]
    branches = _branches(node, children, text)
    if branches is not None:
        return [value for branch in branches for value in kotlin_values(branch, text, depth + 1)]
    path = member_path_of(node, text)
    return [("same", path) if path else UNKNOWN]


def _branches(node: Node, children: list[Node], text: Text) -> list[Node] | None:
    """Return the expressions of which one is the value of this one; None for one that has no such parts."""
    kind = node.type
    if kind in _BLOCKS:
        return children[-1:]
    if kind == "if_expression":
        return children[1:]
    if kind == "when_expression":
        return [child.named_children[-1] for child in children if child.type == "when_entry"]
    if kind == "try_expression":
        return [child for child in children if child.type in _BLOCKS]
    if kind == "catch_block":
        return children[-1:]
    if kind == "binary_expression" and any(child.type == "?:" for child in node.children):
        return children
    is_lazy = kind == "call_expression" and children[-1].type == "annotated_lambda"
    if is_lazy and text(children[0]) == "lazy":
        return children[-1].named_children[-1].named_children[-1:]
    return None


def _declared(node: Node | None, text: Text) -> ExpressionValue:
    if node is None or node.end_byte - node.start_byte > _MAX_TYPE_BYTES:
        return UNKNOWN
    parsed = parse_declared_type(text(node))
    return ("type", parsed) if parsed else UNKNOWN


def _first_type(node: Node) -> Node | None:
    """Return the first supertype of an object."""
    for _ in range(4):
        if node.type == "user_type":
            return node
        if not node.named_children:
            return None
        node = node.named_children[0]
    return None


def member_path_of(node: Node, text: Text) -> str:
    """Return an expression as names with `()` after calls and `[]` after items; "" if it is no such path."""
    suffixes: list[str] = []
    for _ in range(_MAX_CHAIN):
        kind, children = node.type, node.named_children
        if kind == "identifier":
            return "".join([text(node).strip("`"), *reversed(suffixes)])
        if kind in ("this_expression", "super_expression"):
            label = text(children[0]) if children and kind == "this_expression" else ""
            head = f"<{label}>" if label[:1].isupper() else kind.partition("_")[0]
            return "".join([head, *reversed(suffixes)])
        if kind == "as_expression":
            _, written = _declared(node.child_by_field_name("right"), text)
            return "".join([f"<{written}>", *reversed(suffixes)]) if written else ""
        if kind == "navigation_expression" and len(children) == 2 and node.children[1].type != "::":
            suffixes.append("." + text(children[1]).strip("`"))
        elif kind == "infix_expression" and len(children) == 3:
            suffixes.append(f".{text(children[1])}()")
        elif kind == "call_expression":
            if not suffixes or suffixes[-1] != "()":
                suffixes.append("()")
        elif kind == "index_expression":
            suffixes.append("[]")
        elif kind != "parenthesized_expression" and not (
            kind == "unary_expression" and node.children[-1].type == "!!"
        ):
            return ""
        node = children[0]
    return ""


def lambda_bindings(callee: Node, body: Node, text: Text) -> list[tuple[str, str, str]]:
    """Return what the receiver and the parameter of a lambda are, as (kind, name, value)."""
    name = callee.named_children[-1] if callee.type == "navigation_expression" else callee
    called, first = text(name), body.named_children[:1]
    path = member_path_of(callee, text)
    if not path or called == "lazy":
        return []
    found: list[tuple[str, str, str]] = []
    if first and first[0].type == "lambda_parameters":
        for parameter, suffix in zip(first[0].named_children, PARAMETERS, strict=False):
            if parameter.type == "variable_declaration" and parameter.named_child_count == 1:
                found.append(("same", text(parameter), path + suffix))
    else:
        found.append(("same", "it", path + PARAMETERS[0]))
    if called == "with" and callee.type == "identifier":
        outer = callee.parent
        arguments = outer.named_children[-1].named_children[:1] if outer is not None else []
        return [
            (kind, "this", value)
            for argument in arguments
            if argument.type == "value_argument" and argument.named_children
            for kind, value in kotlin_values(argument.named_children[-1], text)
        ]
    if called not in _WITHOUT_RECEIVER:
        found.append(("same", "this", path + RECEIVER))
    return found
