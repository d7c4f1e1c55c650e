"""Names that are no symbols of their own: constants, fields, enum members, aliases, macros.

The patterns are below `;; names` in the query files. A capture is on the identifier, and is its kind.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from dowse.parsing.languages import Language
from dowse.parsing.limits import MAX_NAME_BYTES, MAX_NAMES
from dowse.parsing.names import split_definition_name
from dowse.parsing.outline import CONTAINERS, Entry, Outline
from dowse.parsing.source_text import SourceText
from dowse.types import Name

if TYPE_CHECKING:
    from tree_sitter import Node

# Bodies of functions that are no definitions: what they hold is local.
_LOCAL = "local"
# A field that a method sets: `self.x = …`. It belongs to the class around the method.
_OWN_FIELD = "own_field"
# These are defined where they are first set; the keys of a list's items are the same in each.
_ONCE = frozenset([_OWN_FIELD, "key"])
# A tag of a field in Go: it may name a column.
_TAG = "tag"
_COLUMN = re.compile(rb'(?:\bdb:"|\bbun:"|\bcolumn:)(\w+)')

# What the preprocessor hides from a grammar: a macro inside a type makes the type an error.
_HIDDEN_BY_MACROS = re.compile(
    rb"^[ \t]*#[ \t]*define[ \t]+(?P<macro>\w+)"
    rb"|^(?:typedef[ \t]+)?(?:(?:struct|union)[ \t]+(?P<struct>\w+)|enum[ \t]+(?P<enum>\w+))\s*\{"
    rb"|^[ \t]*typedef\b[^;{}()]*\((?:\w+[ \t]+)*\*[ \t]*(?P<alias>\w+)\)",
    re.MULTILINE,
)

# Macros, and tags of C, which know no scope.
_GLOBAL = frozenset(["macro", "struct", "enum"])
# What is in these is local.
_WITH_LOCALS = frozenset(["function", "method", "macro"])
# A group of constants, or the first of several in one statement, qualifies nothing.
_TRANSPARENT = "constant"

_PLAIN = re.compile(rb"[\w$]+")
_PLACEHOLDERS = frozenset(["_", "*", "constructor"])

# (start, end, path of the names inside, or None where they are local)
_Region = tuple[int, int, "tuple[str, ...] | None"]
# (start, end, kind)
_Capture = tuple[int, int, str]
# The definitions of an outline entry: the index of the first, and the starts of the parts if there are
# several.
_Parts = Sequence[tuple[int, "list[int] | None"]]


def defined_names(
    text: SourceText,
    outline: Outline,
    parts: _Parts,
    captures: Mapping[str, list[Node]],
    language: Language,
) -> tuple[Name, ...]:
    """Return the names that a file defines beside its symbols, in the order of their lines.

    Args:
        text: The file.
        outline: Its symbols.
        parts: For each of them the definitions it became.
        captures: What the patterns of names captured.
        language: That of the file.
    """
    found = _sorted_captures(text.data, captures, language.name in ("c", "cpp"))
    if not found:
        return ()
    sigils = language.sigils.encode()
    data, count, entries = text.data, text.data.count, outline.entries
    taken = {entry.name_start for entry in entries}
    holders = {entry.path: entry.number for entry in reversed(entries) if entry.kind in CONTAINERS}
    names: list[Name] = []
    known: set[str] = set()  # qualified names
    at, line = 0, 1
    for start, end, kind, region in _in_regions(found, _regions(outline, captures)):
        if start in taken or end - start > MAX_NAME_BYTES:
            continue
        number = outline.owner_at(start)
        owner = entries[number] if number >= 0 else outline.root
        path = _scope(kind, owner, region)
        segments = _segments(data[start:end].lstrip(sigils), language.separators)
        if path is None or not segments:
            continue
        if kind == _OWN_FIELD:
            path = _class_path(owner, holders)
        qualified = ".".join((*path, *segments))
        if kind in _ONCE and qualified in known:
            continue
        known.add(qualified)
        line += count(b"\n", at, start)
        at = start
        number = holders.get(path, number) if kind == _OWN_FIELD or region else number
        names.append(
            Name(_kind(kind, segments[-1], owner), segments[-1], qualified, line, _part(parts, number, start))
        )
        if len(names) == MAX_NAMES:
            break
    return tuple(names)


def _sorted_captures(data: bytes, captures: Mapping[str, list[Node]], has_macros: bool) -> list[_Capture]:
    """Return the captured identifiers in the order of the text, one for each place."""
    spans = {
        node.byte_range: kind
        for kind, nodes in captures.items()
        if kind[0] != "_" and kind not in (_LOCAL, _TAG)
        for node in nodes
    }
    if has_macros:
        for match in _HIDDEN_BY_MACROS.finditer(data):
            spans.setdefault(match.span(match.lastindex or 0), match.lastgroup or "")
    found = [(start, end, kind) for (start, end), kind in spans.items()]
    for node in captures.get(_TAG, ()):
        matches = _COLUMN.finditer(data, *node.byte_range)
        found.extend((*match.span(1), "column") for match in matches)
    return sorted(found)


def _regions(outline: Outline, captures: Mapping[str, list[Node]]) -> list[_Region]:
    """Return the parts of the text that are local, or that only qualify the names inside."""
    regions: list[_Region] = [(*node.byte_range, None) for node in captures.get(_LOCAL, ())]
    regions += [(max(entry.start, entry.head_end), entry.end, entry.path) for entry in outline.scopes]
    return sorted(regions, key=lambda region: (region[0], -region[1]))


def _in_regions(
    captures: list[_Capture], regions: list[_Region]
) -> Iterator[tuple[int, int, str, _Region | None]]:
    """Yield each capture with the innermost region around it; both are sorted."""
    stack: list[_Region] = []
    index = 0
    for start, end, kind in captures:
        while index < len(regions) and regions[index][0] <= start:
            stack.append(regions[index])
            index += 1
        while stack and stack[-1][1] <= start:
            stack.pop()
        yield start, end, kind, stack[-1] if stack else None


def _scope(kind: str, owner: Entry, region: _Region | None) -> tuple[str, ...] | None:
    """Return the path of what a name is in, None if it is local."""
    if kind in _GLOBAL:
        return ()
    if region and region[0] >= owner.start and (kind != _OWN_FIELD or region[2] is not None):
        return region[2]
    if owner.kind in _WITH_LOCALS and kind != _OWN_FIELD:
        return None
    return owner.path[:-1] if owner.kind == _TRANSPARENT else owner.path


def _class_path(owner: Entry, holders: Mapping[tuple[str, ...], int]) -> tuple[str, ...]:
    """Return the path of the class whose method sets a field; a constructor may be a plain function."""
    path = owner.path
    while path and path not in holders:
        path = path[:-1]
    if path:
        return path
    return owner.path[:-1] if owner.kind == "method" else owner.path


def _segments(source: bytes, separators: tuple[str, ...]) -> tuple[str, ...]:
    """Return the segments of a name as written: `exports.limits.MAX` is limits, MAX."""
    if _PLAIN.fullmatch(source):
        name = source.decode("utf-8", "ignore")
        return () if name in _PLACEHOLDERS else (name,)
    return split_definition_name(source, separators)


def _kind(kind: str, name: str, owner: Entry) -> str:
    if kind == _OWN_FIELD:
        return "field"
    if kind == "variable":
        return "constant" if name.isupper() else "field" if owner.kind in CONTAINERS - {"module"} else kind
    return kind


def _part(parts: _Parts, number: int, offset: int) -> int:
    """Return the index of the definition that holds a name, -1 for none."""
    if number < 0:
        return -1
    first, starts = parts[number]
    return first + max(0, bisect_right(starts, offset) - 1) if starts else first
