"""Add, change and remove one entry of a JSON document; every other character stays unchanged."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from dowse.install.editing import EditError, nest, with_entry, without_entry
from dowse.install.jsonc import Member, Node, parse
from dowse.lazy_classes import dataclass

_LINE_COMMENTS = re.compile(r"(?:[ \t]*/\*[\s\S]*?\*/)*(?:[ \t]*//[^\r\n]*)?")


def get_entry(text: str, keys: Sequence[str]) -> object:
    """Return the value under nested keys, or None."""
    node = parse(text)
    for key in keys:
        member = _member(text, node, key) if node else None
        node = member.node if member else None
    return node.value if node else None


def set_entry(text: str, keys: Sequence[str], entry: Mapping[str, Any]) -> str:
    """Add an entry, or set values of an existing one; its other fields stay.

    Args:
        text: JSON, with comments or trailing commas or without.
        keys: Nested keys, the name of the entry last; missing objects are created.
        entry: The fields to set.
    """
    root = parse(text)
    if root is None:
        return _new_document(text, keys, entry)
    expected = with_entry(root.value, keys, entry)
    node = root
    for position, key in enumerate(keys):
        member = _member(text, node, key)
        if member is None:
            return _checked(_insert(text, root, node, key, nest(keys[position + 1 :], entry)), expected)
        node = member.node
    for key, value in entry.items():
        text = _set_value(text, root, keys, key, value)
        root = parse(text) or root
    return _checked(text, expected)


def remove_entry(text: str, keys: Sequence[str]) -> str:
    """Remove an entry, and the objects around it that it leaves empty."""
    root = parse(text)
    if root is None or get_entry(text, keys) is None:
        return text
    parents = [root]
    for key in keys[:-1]:
        parents.append(_existing(text, parents[-1], key).node)
    depth = len(keys) - 1
    while depth > 0 and len(parents[depth].members) == 1:
        depth -= 1
    expected = without_entry(root.value, keys[: depth + 1])
    member = _existing(text, parents[depth], keys[depth])
    return _checked(_cut(text, parents[depth], member), expected)


def _member(text: str, node: Node, key: str) -> Member | None:
    """Return a member of an object, or None; a duplicate key is an error."""
    if not node.is_object:
        raise EditError(f'an object is expected here, with "{key}" in it', text, node.start)
    members = [member for member in node.members if member.key == key]
    if len(members) > 1:
        raise EditError(f'"{key}" is here a second time', text, members[1].start)
    return members[0] if members else None


def _existing(text: str, node: Node, key: str) -> Member:
    """Return a member, or raise an error if there is none."""
    member = _member(text, node, key)
    if member is None:
        raise EditError(f'"{key}" is expected in this object', text, node.start)
    return member


def _new_document(text: str, keys: Sequence[str], entry: Mapping[str, Any]) -> str:
    break_before = "\n" if text.strip("\ufeff") and not text.endswith("\n") else ""
    return f"{text}{break_before}{_dump(nest(keys, entry), _Layout())}\n"


def _set_value(text: str, root: Node, keys: Sequence[str], key: str, value: object) -> str:
    """Set one field of an existing entry."""
    node = root
    for each in keys:
        node = _existing(text, node, each).node
    member = _member(text, node, key)
    if member is None:
        return _insert(text, root, node, key, value)
    if member.node.value == value:
        return text
    layout = _Layout.of(text, root)
    written = _dump(value, layout, _line_indent(text, member.start))
    return text[: member.node.start] + written + text[member.node.end :]


def _insert(text: str, root: Node, node: Node, key: str, value: object) -> str:
    """Add a member at the end of an object, in the layout of its neighbours."""
    layout = _Layout.of(text, root)
    if not node.members:
        return _insert_first(text, root, node, key, value, layout)
    last = node.members[-1]
    if "\n" not in text[node.start : node.end]:
        space = " " if ": " in text[node.start : node.end] else ""
        written = f"{_label(key, space)}{_dump_compact(value, space)}"
        if last.comma >= 0:
            return f"{text[: last.comma]}{space}{written},{text[last.comma :]}"
        return f"{text[: last.node.end]},{space}{written}{text[last.node.end :]}"
    indent = _member_indent(text, node, last, layout)
    written = f"{layout.newline}{indent}{_label(key)}{_dump(value, layout, indent)}"
    if last.comma >= 0:
        at = _line_comments_end(text, last.comma)
        return f"{text[:at]}{written},{text[at:]}"
    at = _line_comments_end(text, last.node.end)
    return f"{text[: last.node.end]},{text[last.node.end : at]}{written}{text[at:]}"


def _insert_first(text: str, root: Node, node: Node, key: str, value: object, layout: _Layout) -> str:
    inside = text[node.start + 1 : node.end - 1]
    if node is not root and "\n" not in text[root.start : root.end]:
        space = " " if ": " in text else ""
        written = f"{_label(key, space)}{_dump_compact(value, space)}"
        return f"{text[: node.end - 1]}{written}{text[node.end - 1 :]}"
    outer = _line_indent(text, node.start)
    indent = outer + layout.unit
    at = node.start + 1 + len(inside.rstrip())  # behind comments
    written = f"{layout.newline}{indent}{_label(key)}{_dump(value, layout, indent)}"
    closing = "" if "\n" in text[at : node.end] else f"{layout.newline}{outer}"
    return f"{text[:at]}{written}{closing}{text[at:]}"


def _label(key: str, space: str = " ") -> str:
    """Return the key that is before a value."""
    return f"{json.dumps(key)}:{space}"


def _member_indent(text: str, node: Node, last: Member, layout: _Layout) -> str:
    line_start = text.rfind("\n", 0, last.start) + 1
    if not text[line_start : last.start].strip():
        return text[line_start : last.start]
    return _line_indent(text, node.start) + layout.unit


def _cut(text: str, node: Node, member: Member) -> str:
    """Remove a member with its comma and its line."""
    position = node.members.index(member)
    start, end = _removal_span(text, member, is_first=position == 0)
    head, tail = text[:start], text[end:]
    if member.comma < 0 and position > 0:  # the member before is now the last, which has no comma
        comma = node.members[position - 1].comma
        head = head[: comma - 1] + head[comma:]
    if len(node.members) == 1 and not head[node.start + 1 :].strip() and tail.lstrip().startswith("}"):
        head, tail = head[: node.start + 1], tail.lstrip()
    return head + tail


def _removal_span(text: str, member: Member, *, is_first: bool) -> tuple[int, int]:
    """Return the span to remove: the line of a member if it is alone there, else the blanks on one side."""
    start = member.start
    end = member.comma if member.comma >= 0 else member.node.end
    line_start = text.rfind("\n", 0, start) + 1
    if line_start > 0 and not text[line_start:start].strip():
        whole = _line_comments_end(text, end)
        follows = text[whole:].split("\n", 1)[0].strip()
        before = text[:line_start].rstrip("\r\n")
        # A brace behind it may only move up if no line comment would swallow it.
        if not follows or (follows.startswith("}") and "//" not in before[before.rfind("\n") + 1 :]):
            return len(before), whole
    elif not is_first:
        return len(text[:start].rstrip()), end
    if member.comma >= 0:
        end += len(text[end:]) - len(text[end:].lstrip(" \t"))
    return start, end


def _checked(text: str, expected: object) -> str:
    """Return an edited text if its data is as expected."""
    node = parse(text)
    if node is None or node.value != expected:
        raise EditError("this text could not be edited safely; write the entry by hand", text, 0)
    return text


@dataclass(frozen=True, slots=True)
class _Layout:
    """Line ends and indentation."""

    newline: str = "\n"
    unit: str = "  "

    @classmethod
    def of(cls, text: str, root: Node) -> _Layout:
        """Return the layout of a text, by its line ends and its first member."""
        newline = "\r\n" if "\r\n" in text else "\n"
        unit = ""
        if root.members and "\n" in text[root.start : root.members[0].start]:
            unit = _line_indent(text, root.members[0].start)
        return cls(newline, unit or "  ")


def _dump(value: object, layout: _Layout, indent: str = "") -> str:
    """Format a value that begins on a line with this indentation; lists stay on one line."""
    if not isinstance(value, dict) or not value:
        return json.dumps(value, ensure_ascii=False)
    inner = indent + layout.unit
    members = [f"{inner}{json.dumps(key)}: {_dump(each, layout, inner)}" for key, each in value.items()]
    return "{" + layout.newline + f",{layout.newline}".join(members) + layout.newline + indent + "}"


def _dump_compact(value: object, space: str) -> str:
    """Format a value on one line, with or without spaces."""
    return json.dumps(value, ensure_ascii=False, separators=("," + space, ":" + space))


def _line_indent(text: str, at: int) -> str:
    """Return the indentation of the line at a position."""
    start = text.rfind("\n", 0, at) + 1
    line = text[start:]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _line_comments_end(text: str, at: int) -> int:
    """Return the end of the comments that begin on the same line; `at` if there are none."""
    match = _LINE_COMMENTS.match(text, at)
    return match.end() if match else at
