"""Values of expressions of Python and JavaScript, as far as the syntax tells: types and member paths."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from dowse.parsing.declared_types import parse_declared_type
from dowse.parsing.names import MAX_CALLEE_BYTES
from dowse.parsing.paths import member_path
from dowse.parsing.type_expressions import LITERAL, parse_type

if TYPE_CHECKING:
    from tree_sitter import Node

# ("type", a type), ("same", a member path) or ("local", "") if unknown.
ExpressionValue = tuple[str, str]
UNKNOWN: ExpressionValue = ("local", "")
# An object literal: its functions are symbols of the definition around it.
OBJECT: ExpressionValue = ("object", "{}")

# Suffixes of paths: a collection of these, each element of it, and what a context manager yields.
COLLECTION, ITERATION, ENTERED = "[+]", "[*]", "[with]"

_MAX_DEPTH = 8
_LITERALS = frozenset(
    "string concatenated_string template_string regex number integer float true false string_literal"
    " decimal_integer_literal integer_literal real_literal boolean_literal character_literal".split()
)
_DEFINITIONS = frozenset(
    "arrow_function function_expression generator_function class lambda function".split()
)
# Expressions whose value is that of what they hold.
_TRANSPARENT = frozenset(
    "await await_expression parenthesized_expression non_null_expression type expression_statement".split()
)
_BRANCHES = frozenset(
    ["conditional_expression", "ternary_expression", "boolean_operator", "binary_expression"]
)
_COLLECTIONS = frozenset(
    "list tuple set array list_comprehension set_comprehension generator_expression".split()
)
_MAPPINGS = frozenset(["dictionary", "dictionary_comprehension"])
_CASTS = frozenset(["as_expression", "satisfies_expression"])
# Casts with the type first: of Java, C# and C.
_C_CASTS = frozenset(["cast_expression"])
# Functions of Python that return a collection of what they are given, or one element of it.
_COLLECTING = frozenset(["list", "sorted", "reversed", "tuple", "set", "iter", "frozenset"])
_PICKING = frozenset(["next", "min", "max"])
# Functions whose value depends on their arguments.
BUILTIN_CALLS = _COLLECTING | _PICKING | {"cast", "partial", "TypeVar", "enumerate"}


def expression_values(node: Node, text: Callable[[Node], str], depth: int = 0) -> list[ExpressionValue]:
    """Return the values that an expression can have; several for a conditional one."""
    kind = node.type
    if kind in _DEFINITIONS:
        return []  # the name is that of a symbol
    children = node.named_children if kind not in _LITERALS else []
    if depth > _MAX_DEPTH:
        return [UNKNOWN]
    if kind in _LITERALS or (kind in _COLLECTIONS | _MAPPINGS and not children):
        return [("type", LITERAL)]
    if kind == "object":
        return [OBJECT]
    if kind == "new_expression":
        return [_new_value(node, text)]
    if kind in _TRANSPARENT and children:
        return expression_values(children[0], text, depth + 1)
    if kind in _BRANCHES:
        return _branch_values(node, text, depth)
    if kind in _C_CASTS:
        parsed = parse_declared_type(text(children[0]))
        return [("type", parsed)] if parsed else [UNKNOWN]
    if kind in _CASTS:
        return [_type_value(text(children[-1]))]
    if kind in _COLLECTIONS or kind in _MAPPINGS:
        held = children[0].child_by_field_name("value") if kind in _MAPPINGS else children[0]
        return with_suffix(expression_values(held, text, depth + 1), COLLECTION) if held else [UNKNOWN]
    if kind == "call":
        value = _builtin_call(node, text, depth)
        if value is not None:
            return value
    if kind == "assignment_expression":
        return expression_values(children[-1], text, depth + 1)
    return [path_value(node, text)]


# Casts and functions of C++ that return what their type argument says.
_TYPED_CALL = re.compile(
    r"(?:std\s*::\s*)?(?:(?:static|dynamic|const|reinterpret)(?:_pointer)?_cast|make_unique|make_shared)\s*<(.*)>",
    re.DOTALL,
)
_MOVED = re.compile(r"std\s*::\s*(?:move|forward\s*<.*>|as_const|ref|cref)", re.DOTALL)
_CPP_LITERALS = frozenset(["number_literal", "string_literal", "char_literal", "true", "false"])
_CPP_PATHS = frozenset(
    "identifier qualified_identifier call_expression field_expression subscript_expression this"
    " pointer_expression compound_literal_expression parenthesized_expression".split()
)


def cpp_values(node: Node, text: Callable[[Node], str], depth: int = 0) -> list[ExpressionValue]:
    """Return the values that an expression of C++ can have."""
    if node.type in _CPP_LITERALS:
        return [("type", LITERAL)]
    if node.type == "new_expression":
        made = node.child_by_field_name("type")
        parsed = parse_declared_type(text(made)) if made else ""
        return [("type", parsed)] if parsed else [UNKNOWN]
    if node.type == "conditional_expression" and depth < _MAX_DEPTH:
        branches = (node.child_by_field_name(name) for name in ("consequence", "alternative"))
        return [value for branch in branches if branch for value in cpp_values(branch, text, depth + 1)]
    function = node.child_by_field_name("function") if node.type == "call_expression" else None
    if function is not None and node.end_byte - node.start_byte <= MAX_CALLEE_BYTES:
        typed = _TYPED_CALL.fullmatch(text(function))
        if typed:
            parsed = parse_declared_type(typed[1])
            return [("type", parsed)] if parsed else [UNKNOWN]
        arguments = node.child_by_field_name("arguments")
        if arguments and arguments.named_child_count == 1 and _MOVED.fullmatch(text(function)):
            return (
                cpp_values(arguments.named_children[0], text, depth + 1) if depth < _MAX_DEPTH else [UNKNOWN]
            )
    return [path_value(node, text)] if node.type in _CPP_PATHS else [UNKNOWN]


def _branch_values(node: Node, text: Callable[[Node], str], depth: int) -> list[ExpressionValue]:
    """Return the values of `a if b else c`, `a ? b : c`, `a or b`, `a ?? b`."""
    children = [child for child in node.named_children if child.type != "comment"]
    if node.type == "conditional_expression" and len(children) == 3:
        children = [children[0], children[2]]
    elif node.type == "ternary_expression":
        children = children[1:]
    elif node.type == "binary_expression" and not any(c.type in ("||", "??", "&&") for c in node.children):
        return [("type", LITERAL)]
    return [value for child in children for value in expression_values(child, text, depth + 1)]


def _builtin_call(node: Node, text: Callable[[Node], str], depth: int) -> list[ExpressionValue] | None:
    """Return the value of a call of `cast`, `list` or the like; None for any other."""
    function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    if function is None or arguments is None or not arguments.named_children:
        return None
    name, first = text(function).rpartition(".")[2], arguments.named_children[0]
    if name == "cast":
        return [_type_value(text(first))]
    if name == "partial":
        return expression_values(first, text, depth + 1)
    if name == "TypeVar":  # stands for its bound
        return [_type_alias(text(child).partition("=")[2]) for child in arguments.named_children[-1:]]
    if function.type != "identifier" or name not in _COLLECTING | _PICKING:
        return None
    values = expression_values(first, text, depth + 1)
    return with_suffix(values, ITERATION + COLLECTION if name in _COLLECTING else ITERATION)


def with_suffix(values: list[ExpressionValue], suffix: str) -> list[ExpressionValue]:
    """Return what a suffix makes of values."""
    known = [value for value in values if value != UNKNOWN]
    return [
        ("same", (f"<{value}>" if kind == "type" else value) + suffix)
        for kind, value in known
        if kind != "object" and value != LITERAL
    ] or [("type", LITERAL) if known and suffix == COLLECTION else UNKNOWN]


def _type_value(written: str) -> ExpressionValue:
    parsed = parse_type(written)
    return ("type", parsed) if parsed else UNKNOWN


def _type_alias(written: str) -> ExpressionValue:
    parsed = parse_type(written)
    return ("same", parsed) if parsed and parsed.isidentifier() else UNKNOWN


def _new_value(node: Node, text: Callable[[Node], str]) -> ExpressionValue:
    """Return the value of `new Foo<Bar>()`."""
    constructor, arguments = (
        node.child_by_field_name("constructor"),
        node.child_by_field_name("type_arguments"),
    )
    if constructor is None or constructor.type not in ("identifier", "member_expression"):
        return UNKNOWN
    if arguments is not None:
        return _type_value(text(constructor) + text(arguments))
    path = member_path(text(constructor))
    return ("same", path + "()") if path else UNKNOWN


def path_value(node: Node, text: Callable[[Node], str]) -> ExpressionValue:
    """Return the value of an expression that is a member path, UNKNOWN for any other."""
    start, end = node.byte_range
    path = member_path(text(node)) if end - start <= MAX_CALLEE_BYTES else ""
    return ("same", path) if path else UNKNOWN


def iterated(values: list[ExpressionValue]) -> list[ExpressionValue]:
    """Return the values of the variable of a loop over these values."""
    return with_suffix(values, ITERATION)


def collected(values: list[ExpressionValue]) -> list[ExpressionValue]:
    """Return the values of a generator that yields these values."""
    return with_suffix(values, COLLECTION)


def entered(values: list[ExpressionValue]) -> list[ExpressionValue]:
    """Return the values of the variable of a `with` statement."""
    return with_suffix(values, ENTERED)


def members(values: list[ExpressionValue], name: str) -> list[ExpressionValue]:
    """Return the values of a member of these values."""
    return with_suffix(values, f".{name}")


def parts(values: list[ExpressionValue], index: int) -> list[ExpressionValue]:
    """Return the values of one of the names that a tuple is unpacked to."""
    return with_suffix(values, f"[{index}]")


def default_values(values: list[ExpressionValue]) -> list[ExpressionValue]:
    """Return the values of a parameter by its default: a literal says nothing about other arguments."""
    return [value for value in values if value[0] == "same"] or [UNKNOWN]


def values_of_mapping(values: list[ExpressionValue]) -> list[ExpressionValue]:
    """Return the values that a mapping holds."""
    return with_suffix(values, "[]")
