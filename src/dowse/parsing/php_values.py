"""Values of expressions of PHP, and the types that its doc comments declare."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from dowse.parsing.declared_types import parse_declared_type
from dowse.parsing.expressions import COLLECTION, UNKNOWN, ExpressionValue, path_value, with_suffix
from dowse.parsing.type_expressions import LITERAL

if TYPE_CHECKING:
    from tree_sitter import Node

_MAX_DEPTH = 8
_LITERALS = frozenset("string encapsed_string heredoc nowdoc integer float boolean cast_expression".split())
_PATHS = frozenset(
    "variable_name member_access_expression nullsafe_member_access_expression function_call_expression"
    " scoped_property_access_expression scoped_call_expression member_call_expression"
    " nullsafe_member_call_expression subscript_expression class_constant_access_expression".split()
)
_CALLS = frozenset(["function_call_expression", "member_call_expression", "scoped_call_expression"])
# The children of an expression that its value can be.
_BRANCHES = {
    "clone_expression": (),
    "parenthesized_expression": (),
    "error_suppression_expression": (),
    "conditional_expression": ("body", "alternative"),
    "assignment_expression": ("right",),
    "augmented_assignment_expression": ("left", "right"),
}
# PHPUnit names the class of a double once, and makes the double at the end of a chain.
_BUILDER = re.compile(rb"getMockBuilder\(\s*([\w\\]+)::class")

_TAG = re.compile(r"@(?:phpstan-|psalm-)?(var|param|return)\s+([^\n]+)")
_DOCUMENTED = re.compile(
    r"((?:[^\s<>{}()$,]|<(?:[^<>]|<[^<>]*>)*>|\{[^{}]*\}|\([^()]*\)|(?<=[|&])\s|\s(?=[|&]))+)"
    r"(?:\s+(?:&|\.\.\.)*(\$\w+))?"
)
_NON_EMPTY = re.compile(r"\bnon-empty-(?=array\b|list\b)")


def parse_php_type(text: str) -> str:
    """Return a type in the common form; the methods of any part of an intersection can be called."""
    return parse_declared_type(_NON_EMPTY.sub("", text).replace("&", "|"))


def php_values(node: Node, text: Callable[[Node], str], depth: int = 0) -> list[ExpressionValue]:
    """Return the values that an expression of PHP can have."""
    kind = node.type
    if depth > _MAX_DEPTH:
        return [UNKNOWN]
    if kind in _LITERALS:
        return [("type", LITERAL)]
    if kind == "object_creation_expression":
        made = next((each for each in node.named_children if each.type in ("name", "qualified_name")), None)
        return [("type", parse_php_type(text(made)))] if made is not None else [UNKNOWN]
    if kind == "array_creation_expression":
        items = [each for each in node.named_children if each.type == "array_element_initializer"]
        held = _values_of(items[0], (), text, depth) if items else []
        return with_suffix(held, COLLECTION) if held else [("type", LITERAL)]
    if kind == "binary_expression":
        operands = ("left", "right") if any(each.type == "??" for each in node.children) else ()
        return _values_of(node, operands, text, depth) if operands else [("type", LITERAL)]
    if kind == "match_expression":
        arms = node.child_by_field_name("body")
        return [
            value
            for arm in (arms.named_children if arms is not None else ())
            for value in _values_of(arm, ("return_expression",), text, depth)
        ]
    if kind in _BRANCHES:
        return _values_of(node, _BRANCHES[kind], text, depth)
    if kind not in _PATHS:
        return [UNKNOWN]
    made_of = _class_argument(node, text) if kind in _CALLS else ""
    value = path_value(node, text)
    return [value, ("type", made_of)] if made_of else [value]


def _values_of(
    node: Node, fields: tuple[str, ...], text: Callable[[Node], str], depth: int
) -> list[ExpressionValue]:
    """Return the values of some children, or of the last one."""
    children = [node.child_by_field_name(field) for field in fields] or node.named_children[-1:]
    return [value for child in children if child for value in php_values(child, text, depth + 1)]


def _class_argument(call: Node, text: Callable[[Node], str]) -> str:
    """Return the class that a call is given as `Foo::class`: containers and test doubles make one of it."""
    arguments = call.child_by_field_name("arguments")
    first = arguments.named_children[0] if arguments is not None and arguments.named_children else None
    named = text(first).strip() if first is not None and first.end_byte - first.start_byte < 200 else ""
    if named.endswith("::class"):
        return parse_php_type(named.removesuffix("::class"))
    built = _BUILDER.search(call.text or b"")
    return parse_php_type(built[1].decode()) if built else ""


def documented_types(comment: Node, text: Callable[[Node], str]) -> Iterator[tuple[str, str]]:
    """Yield what a doc comment declares: the name of a variable or property, "" for the result; its type."""
    written = text(comment)
    if not written.startswith("/**") or "@" not in written:
        return
    for tag, declared in _TAG.findall(written):
        match = _DOCUMENTED.match(declared)
        parsed = parse_php_type(match[1]) if match else ""
        if match is None or not parsed:
            continue
        if tag == "return":
            yield "", parsed
        elif match[2]:
            yield match[2], parsed
        elif tag == "var":
            yield from ((name, parsed) for name in _declared_after(comment, text))


def _declared_after(comment: Node, text: Callable[[Node], str]) -> Iterator[str]:
    """Yield the properties, or the variable, that the statement after a comment declares."""
    statement = comment.next_named_sibling
    if statement is None:
        return
    for child in statement.named_children:
        name = child.child_by_field_name("name" if child.type == "property_element" else "left")
        if name is not None and name.type in ("variable_name", "member_access_expression"):
            yield text(name)
