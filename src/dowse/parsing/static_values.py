"""Values of variables of Go and Rust, as far as the syntax tells: types and member paths."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from dowse.parsing.expressions import UNKNOWN, ExpressionValue
from dowse.parsing.names import MAX_CALLEE_BYTES
from dowse.parsing.paths import member_path
from dowse.parsing.static_types import parse_go_type, parse_rust_type
from dowse.parsing.type_expressions import CALLABLE, LITERAL

if TYPE_CHECKING:
    from tree_sitter import Node

    from dowse.types import Span

Text = Callable[["Node"], str]

_MAX_DEPTH = 8
_MAX_CLIMB = 12
_LITERALS = frozenset(
    "interpreted_string_literal raw_string_literal int_literal float_literal rune_literal true false nil"
    " string_literal integer_literal char_literal boolean_literal binary_expression unit_expression".split()
)
_LISTS = frozenset(["expression_list", "tuple_pattern"])
# Where a variable is visible: from its declaration to the end of one of these.
_BLOCKS = frozenset(
    "block if_statement for_statement expression_switch_statement type_switch_statement select_statement"
    " expression_case default_case type_case communication_case func_literal function_declaration"
    " method_declaration if_expression while_expression match_arm for_expression closure_expression"
    " function_item impl_item struct_item enum_item trait_item function_signature_item".split()
)


def parse_static_type(language: str, text: str) -> str:
    """Return a type of Go or Rust in the common form."""
    return parse_go_type(text) if language == "go" else parse_rust_type(text)


def visible_span(name: Node, is_own: bool) -> Span | None:
    """Return where a variable is visible; if its value has its own name, after the statement."""
    node, start = name, name.start_byte
    for _ in range(_MAX_CLIMB):
        parent = node.parent
        if parent is None or parent.type == "source_file":
            return None
        if parent.type in _BLOCKS:
            return (node.end_byte if is_own else start), parent.end_byte
        node = parent
    return None


def inline_module(node: Node, text: Text) -> str:
    """Return the path of the inline modules of Rust around a statement, "" in a function or at the top."""
    path = ""
    for _ in range(_MAX_CLIMB):
        parent = node.parent
        if parent is None or parent.type in ("block", "source_file"):
            return path if parent is not None and parent.type == "source_file" else ""
        name = parent.child_by_field_name("name") if parent.type == "mod_item" else None
        path = f"{text(name)}::{path}" if name is not None else path
        node = parent
    return path


def variable_value(language: str, name: Node, value: Node, text: Text) -> ExpressionValue:
    """Return the value of one of the variables on the left of an assignment."""
    name, holder = _listed_name(name)
    names = [name]
    if holder is not None and holder.type == "var_spec":
        names = holder.children_by_field_name("name")
    elif holder is not None and holder.type in _LISTS:
        names = _listed(holder)
    index = _index(name, names)
    values = value.named_children if value.type == "expression_list" else [value]
    if len(values) == len(names):
        return expression_value(language, values[index], text)
    kind, path = expression_value(language, values[0], text)
    if kind == "type" and path != LITERAL:  # `x, ok := y.(Foo)`
        return (kind, path) if not index else UNKNOWN
    return (kind, f"{path}[{index}]") if kind == "same" else UNKNOWN


def iterated_value(language: str, name: Node, value: Node, text: Text) -> ExpressionValue:
    """Return an element of what a loop iterates over; the first of two variables of Go is the index."""
    name, holder = _listed_name(name)
    names = _listed(holder) if holder is not None and holder.type in _LISTS else []
    kind, path = expression_value(language, value, text)
    if kind != "same":
        return UNKNOWN
    if len(names) < 2:
        return kind, f"{path}[]"
    index = _index(name, names)
    if language == "go":
        return (kind, f"{path}[]") if index else UNKNOWN
    return kind, f"{path}[][{index}]"


def unwrapped_value(name: Node, value: Node, text: Text) -> ExpressionValue:
    """Return what a pattern of Rust takes out of an Option or a Result: `if let Some((a, b)) = c`."""
    kind, path = expression_value("rust", value, text)
    if kind != "same":
        return UNKNOWN
    name, holder = _listed_name(name)
    if holder is None or holder.type != "tuple_pattern":
        return kind, f"{path}[?]"
    return kind, f"{path}[?][{_index(name, _listed(holder))}]"


def _listed_name(name: Node) -> tuple[Node, Node | None]:
    """Return what a list of variables has for a name, and the list: in Rust, that may be `mut x`."""
    holder = name.parent
    return (holder, holder.parent) if holder is not None and holder.type == "mut_pattern" else (name, holder)


def _listed(holder: Node) -> list[Node]:
    """Return the variables of a list, also those without a name."""
    return [each for each in holder.children if each.is_named or each.type == "_"]


def _index(name: Node, names: list[Node]) -> int:
    return next((at for at, each in enumerate(names) if each.byte_range == name.byte_range), 0)


def expression_value(language: str, node: Node, text: Text, depth: int = 0) -> ExpressionValue:
    """Return the value of an expression."""
    kind = node.type
    if depth > _MAX_DEPTH:
        return UNKNOWN
    if kind in _LITERALS:
        return "type", LITERAL
    read = _GO.get(kind) if language == "go" else _RUST.get(kind)
    if read is not None:
        return read(node, text, depth + 1)
    return _path(node, text)


def _path(node: Node, text: Text) -> ExpressionValue:
    if node.end_byte - node.start_byte > MAX_CALLEE_BYTES:
        return UNKNOWN
    path = member_path(text(node))
    return ("same", path) if path else UNKNOWN


def _type_field(language: str) -> Callable[[Node, Text, int], ExpressionValue]:
    def read(node: Node, text: Text, _: int) -> ExpressionValue:
        written = node.child_by_field_name("type") or node.child_by_field_name("name")
        value = parse_static_type(language, text(written)) if written is not None else ""
        return ("type", value) if value else UNKNOWN

    return read


def _inner(language: str, field: str = "") -> Callable[[Node, Text, int], ExpressionValue]:
    def read(node: Node, text: Text, depth: int) -> ExpressionValue:
        inner = node.child_by_field_name(field) if field else node.named_children[-1:]
        inner = inner[0] if isinstance(inner, list) and inner else inner
        if inner is None or isinstance(inner, list):
            return UNKNOWN
        return expression_value(language, inner, text, depth)

    return read


def _go_call(node: Node, text: Text, depth: int) -> ExpressionValue:
    function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    name = text(function) if function is not None and function.type == "identifier" else ""
    first = arguments.named_children[:1] if arguments is not None else []
    if name in ("make", "new") and first:
        value = parse_go_type(text(first[0]))
        return ("type", value) if value else UNKNOWN
    if name == "append" and first:
        return expression_value("go", first[0], text, depth)
    return _path(node, text)


def _go_received(node: Node, text: Text, depth: int) -> ExpressionValue:
    operand, operator = node.child_by_field_name("operand"), node.child_by_field_name("operator")
    if operand is None or operator is None:
        return UNKNOWN
    kind, path = expression_value("go", operand, text, depth)
    if operator.type == "<-":
        return (kind, f"{path}[]") if kind == "same" else UNKNOWN
    return (kind, path) if operator.type in ("&", "*") else ("type", LITERAL)


def _function(language: str, field: str) -> Callable[[Node, Text, int], ExpressionValue]:
    def read(node: Node, text: Text, _: int) -> ExpressionValue:
        result = node.child_by_field_name(field)
        value = parse_static_type(language, text(result)) if result is not None else ""
        return "type", f"{CALLABLE}[{value}]"

    return read


_Reader = Callable[["Node", Text, int], ExpressionValue]
_GO: dict[str, _Reader] = {
    "composite_literal": _type_field("go"),
    "type_assertion_expression": _type_field("go"),
    "type_conversion_expression": _type_field("go"),
    "func_literal": _function("go", "result"),
    "call_expression": _go_call,
    "unary_expression": _go_received,
    "slice_expression": _inner("go", "operand"),
    "parenthesized_expression": _inner("go"),
}
_RUST: dict[str, _Reader] = {
    "struct_expression": _type_field("rust"),
    "type_cast_expression": _type_field("rust"),
    "closure_expression": _function("rust", "return_type"),
    "reference_expression": _inner("rust", "value"),
    "parenthesized_expression": _inner("rust"),
    "macro_invocation": lambda *_: UNKNOWN,
}
