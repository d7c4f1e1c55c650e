"""Uses of names that are no calls: `x.name`, a constant, a type inside another, the key of a literal.

The patterns are below `;; uses` in the query files. Most identifiers are variables of functions and are left
out here: the fewer uses there are, the less there is to store and to link.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from dowse.parsing.limits import MAX_NAME_BYTES
from dowse.parsing.names import MAX_CALLEE_BYTES, TYPE, UNKNOWN, callees
from dowse.parsing.spans import contains_offset
from dowse.types import Span

if TYPE_CHECKING:
    from tree_sitter import Node

# (byte offset of the name, kind, name, qualifier, number of arguments or -1)
RawUse = tuple[int, str, str, str, int]

# Member accesses as a whole, identifiers, those that are types, targets of assignments, keys of literals,
# what is no use; keys of patterns and attributes of JSX, and the names of its elements.
_MEMBER, _IDENTIFIER, _TYPED = "member", "identifier", "typed"
_WRITTEN, _KEY, _NO_USE = "written", "key", "no_use"
_PICKED, _TAG = "picked", "tag"
CAPTURES = frozenset([_MEMBER, _IDENTIFIER, _TYPED, _WRITTEN, _KEY, _NO_USE, _PICKED, _TAG])

# Languages in which a file defines or imports every name that it uses.
_CLOSED = frozenset(["python", "javascript", "typescript", "lua"])

# Languages in which a bare name can be a member of the class around it, or of one that it extends.
IMPLICIT_SELF = frozenset(["java", "kotlin", "scala", "csharp", "cpp", "swift", "c"])

# Those in which the class it extends is often in another file.
INHERITED_FIELDS = frozenset(["csharp", "java"])

# The capture of a field that a method sets: `self.x = …`. Only the first time, that defines it.
OWN_FIELD = "own_field"

# Both are matched backwards, from the end of a name or from its start.
_LAST_NAME = re.compile(rb"[\w$]+")
# What a name is a member of, in the arguments of a macro: they are no expressions yet.
_PATH_BEFORE = re.compile(rb"(?:(?:\.|::|>-)(?:\)\()?[\w$]+)+")
_MAX_PATH_BYTES = 200
# The type before a literal, there.
_TYPE_BEFORE = re.compile(rb"\s*([\w:]*[A-Z])(?=[^\w]|\Z)")
_ENDS_OF_SEPARATORS = frozenset([b".", b":", b">"])

# The interface that declares the elements of JSX that are no components.
_ELEMENTS = "<IntrinsicElements>"

# Steps from a key to the literal around it, and the field of the literal that has its type.
_MAX_CLIMB = 6
_TYPE_FIELDS = {
    "call": "function",
    "composite_literal": "type",
    "struct_expression": "name",
    "struct_pattern": "type",
    "object_creation_expression": "type",
    "recursive_pattern": "type",
    "compound_literal_expression": "type",
    "declaration": "type",
}
# The type of a literal, or of the elements of one; a callee is a type if it starts with a capital letter.
_TYPE = re.compile(
    rb"(?:[&*\s]|\[[^\]]*\]|map\[\w+\])*(?:struct\s+)?((?:\w+(?:\.|::))*)(\w+)(?:[<\[].*)?", re.DOTALL
)

# Names that languages predeclare, and common names of type parameters.
_PREDECLARED = frozenset(
    b"bool byte error int int8 int16 int32 int64 uint uint8 uint16 uint32 uint64 uintptr float32 float64"
    b" rune string any nil true false iota len cap append make new copy delete panic self Self this super"
    b" None Some Ok Err String Vec Option Result Box str u8 u16 u32 u64 usize i8 i16 i32 i64 isize f32 f64"
    b" char void Object Integer Boolean Long Double Float Override size_t NULL var _ T K V E R U".split()
)


def find_uses(
    data: bytes,
    language: str,
    captures: Mapping[str, list[Node]],
    taken: Collection[int],
    variables: Collection[bytes],
    is_elsewhere: Callable[[bytes, int], bool],
    known: Collection[bytes],
    imports: Sequence[Span],
    has_wildcard: bool,
) -> Iterator[RawUse]:
    """Yield the uses of names in a file, in any order.

    Args:
        data: The text of the file.
        language: Its language.
        captures: What the patterns captured.
        taken: Where other references, and definitions, have their names.
        variables: The names that the file binds.
        is_elsewhere: Whether only other definitions than the one around an offset bind such a name.
        known: The names that it defines or imports; others that it binds are local.
        imports: Where its import statements are, sorted.
        has_wildcard: Whether it imports names without naming them.
    """
    starts = [start for start, _ in imports]
    written = {node.end_byte for node in captures.get(_WRITTEN, ())}
    skipped = {node.start_byte for node in captures.get(_NO_USE, ())}
    for node in captures.get(_MEMBER, ()):
        start, end = node.byte_range
        last = _LAST_NAME.match(data[max(start, end - MAX_NAME_BYTES) : end][::-1])
        at = end - last.end() if last is not None else -1
        if last is None or at in skipped:
            continue  # the inner part of a path that was captured as a whole
        if language == "php" and data.startswith(b"$", at):  # `Foo::$count`
            at += 1
        if data.startswith(b"#", at - 1) and language in ("javascript", "typescript"):  # a private name
            at -= 1
        skipped.add(at)
        if at not in taken and not contains_offset(at, starts, imports):
            name, qualifier, _ = callees[data[max(start, end - MAX_CALLEE_BYTES) : end]]
            if name:
                kind = "write" if end in written else "read"
                yield at, kind, name.lstrip("$") if language == "php" else name, qualifier, -1
    for node in captures.get(_KEY, ()):
        start, end = node.byte_range
        skipped.add(start)
        owner = _literal_type(data, node)
        if owner and 0 < end - start <= MAX_NAME_BYTES:
            qualifier = owner if owner == UNKNOWN else f"<{owner}>"
            yield start, "write", data[start:end].decode("utf-8", "ignore"), qualifier, -1
    for node in (*captures.get(_PICKED, ()), *captures.get(_TAG, ())):
        start, end = node.byte_range
        qualifier = _owner_of_picked(data, node)
        if qualifier and start not in taken and end - start <= MAX_NAME_BYTES:
            yield start, "read", data[start:end].decode("utf-8", "ignore"), qualifier, -1
    is_closed = language in _CLOSED and not has_wildcard
    typed = {node.start_byte for node in captures.get(_TYPED, ())}
    for node in captures.get(_IDENTIFIER, ()):
        start, end = node.byte_range
        name_bytes = data[start:end]
        is_type = start in typed
        is_local = is_closed or name_bytes in _PREDECLARED
        if not is_local and not is_type and name_bytes in variables:
            is_local = not is_elsewhere(name_bytes, start)
        if is_local and name_bytes not in known and data[start - 1 : start] not in _ENDS_OF_SEPARATORS:
            continue
        if start in taken or start in skipped or not 0 < end - start <= MAX_NAME_BYTES:
            continue
        if contains_offset(start, starts, imports):
            continue
        qualifier = _qualifier_before(data, start)
        if is_local and name_bytes not in known and not qualifier:
            continue
        kind = "write" if end in written else "read"
        yield start, kind, name_bytes.decode("utf-8", "ignore"), qualifier, TYPE if is_type else -1


def _qualifier_before(data: bytes, start: int) -> str:
    """Return what precedes a name in the arguments of a macro; "" for nothing."""
    before = data[max(0, start - 2) : start]
    if before not in (b"::", b"->") and (before[-1:] != b"." or before == b".."):
        return ""
    path = _PATH_BEFORE.match(data[max(0, start - _MAX_PATH_BYTES) : start][::-1])
    return callees[path[0][::-1] + b"_"][1] if path else UNKNOWN


def _owner_of_picked(data: bytes, node: Node) -> str:
    """Return what has the key of a pattern, an attribute of JSX or an element; "" for a component."""
    parent = node.parent
    if parent is None or parent.type == "pair_pattern":
        return UNKNOWN
    if parent.type != "jsx_attribute":
        return _ELEMENTS if data[node.start_byte : node.start_byte + 1].islower() else ""
    start = parent.parent.start_byte + 1 if parent.parent is not None else 0  # after the bracket
    return _ELEMENTS if data[start : start + 1].islower() else UNKNOWN


def _literal_type(data: bytes, key: Node) -> str:
    """Return the type of the literal around a key, as far as it is written there; else ""."""
    node: Node | None = key
    for _ in range(_MAX_CLIMB):
        node = node.parent if node is not None else None
        if node is None:
            return ""
        if node.type == "token_tree":  # the arguments of a macro
            start = node.start_byte
            path = _TYPE_BEFORE.match(data[max(0, start - _MAX_PATH_BYTES) : start][::-1])
            return path[1][::-1].decode("utf-8", "ignore").lstrip(":").replace("::", ".") if path else ""
        field = _TYPE_FIELDS.get(node.type)
        if node.type == "implicit_object_creation_expression":  # of C#: `Foo x = new() { … }`
            node = node.parent.parent if node.parent is not None else None
            if node is None or node.type != "variable_declaration":
                return UNKNOWN
            field = "type"
        if field:
            written = node.child_by_field_name(field)
            match = _TYPE.fullmatch(data, *written.byte_range) if written is not None else None
            if match is None or (node.type == "call" and not match[2][:1].isupper()):
                return ""
            return (match[1] + match[2]).decode("utf-8", "ignore").replace("::", ".")
    return ""
