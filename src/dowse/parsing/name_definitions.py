"""Names that are no symbols of their own: constants, fields, enum members, aliases, macros.

The patterns are below `;; names` in the query files. A capture is on the identifier, and is its kind.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence

from dowse.parsing.languages import Language
from dowse.parsing.limits import MAX_NAME_BYTES, MAX_NAMES
from dowse.parsing.names import split_definition_name
from dowse.parsing.outline import CONTAINERS, Entry, Outline
from dowse.parsing.source_text import SourceText
from dowse.types import Name

# Captures that are no kinds: the body of a function that is no symbol, whose names are local; a field that a
# method sets (`self.x = …`), which belongs to the class around; a tag in Go, which may name a column.
_LOCAL, _OWN_FIELD, _TAG = "local", "own_field", "tag"
# A field that the body of a macro of C declares, for every struct that uses the macro.
_MACRO_FIELD = "macro_field"
# These are defined where they are first set; the keys of a list's items are the same in each.
_ONCE = frozenset([_OWN_FIELD, "key"])
_COLUMN = re.compile(rb'(?:\bdb:"|\bbun:"|\bcolumn:)(\w+)')

# Macros and tags of C know no scope.
_GLOBAL = frozenset(["macro", "struct", "enum", "class"])
# Captures that count inside of functions, too.
_UNSCOPED = _GLOBAL | {_OWN_FIELD, "function"}
# What is in these is local.
_WITH_LOCALS = frozenset(["function", "method", "macro"])
# Variables in these are fields.
_WITH_FIELDS = CONTAINERS - {"module", "object"}
# A group of constants is called after its first one, and qualifies nothing.
_TRANSPARENT = "constant"

_PLAIN = re.compile(rb"[\w$]+")
# Of symbols, keywords and variables in Ruby and Elixir.
_SIGILS = b":@ "
_PLACEHOLDERS = frozenset(["_", "*"])

# A macro inside a declaration of C makes it an error of the grammar; the head is there all the same.
_IN_ERRORS = (
    re.compile(rb"#[ \t]*define[ \t]+(?P<macro>\w+)"),
    re.compile(rb"struct[ \t]+(?P<struct>\w+)\s*\{"),
    re.compile(rb"union[ \t]+(?P<struct>\w+)\s*\{"),
    re.compile(rb"enum[ \t]+(?P<enum>\w+)\s*\{"),
    re.compile(
        rb"\n(?:[A-Za-z_]\w*[ \t*]+){1,9}(?P<function>(?!(?:if|for|while|switch)\b)\w+)"
        rb"\((?:[^;{}()]|\([^;{}()]{0,99}\)){0,400}\)\s*\{"
    ),
    re.compile(rb"typedef\b[^;{}()]{0,200}\((?:\w+[ \t]+){0,3}\*[ \t]*(?P<alias>\w+)\)"),
)

# (start, end, kind)
_Capture = tuple[int, int, str]
# (start, end, path of the names inside, or None where they are local)
_Region = tuple[int, int, "tuple[str, ...] | None"]
# The definitions of an outline entry: the index of the first, and the starts of the parts if there are
# several.
_Parts = Sequence[tuple[int, "list[int] | None"]]


def defined_names(
    text: SourceText,
    outline: Outline,
    parts: _Parts,
    captures: Iterable[_Capture],
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
    sigils = language.sigils.encode() + _SIGILS
    data, count, entries = text.data, text.data.count, outline.entries
    taken = {entry.name_start for entry in entries}
    holders = {entry.path: entry.number for entry in reversed(entries) if entry.kind in CONTAINERS}
    names: dict[tuple[str, str, int], Name] = {}
    known: set[str] = set()  # qualified names
    at, line = 0, 1
    macro: tuple[str, ...] = ()  # the last one
    for start, end, kind, region in _with_regions(data, outline, captures):
        if start in taken or end - start > MAX_NAME_BYTES:
            continue
        number = outline.owner_at(start)
        owner = entries[number] if number >= 0 else outline.root
        path = _scope(kind, owner, region, holders) if kind != _MACRO_FIELD else macro
        segments = _segments(data[start:end].strip(sigils), language.separators) if path is not None else ()
        if path is None or not segments:
            continue
        if kind == "namespace" and path[-len(segments) :] == segments:
            path = path[: -len(segments)]  # it is the region around its name
        qualified = ".".join((*path, *segments))
        if kind in _ONCE and qualified in known:
            continue
        known.add(qualified)
        line += count(b"\n", at, start)
        at = start
        name = segments[-1]
        macro = segments if kind == "macro" else macro
        number = _part(parts, holders.get(path, number), start)
        names.setdefault(
            (kind, qualified, line), Name(_kind(kind, name, owner), name, qualified, line, number)
        )
        if len(names) == MAX_NAMES:
            break
    declared = {qualified for kind, qualified, _ in names if kind != _OWN_FIELD}
    return tuple(
        name
        for (kind, *_), name in names.items()
        if kind != _OWN_FIELD or name.qualified_name not in declared
    )


def names_in_errors(data: bytes) -> list[_Capture]:
    """Return the names of macros and types in a text of C that the grammar does not understand."""
    return [
        (*match.span(1), match.lastgroup or "") for pattern in _IN_ERRORS for match in pattern.finditer(data)
    ]


def misread_variables(data: bytes, captures: Sequence[_Capture], is_source: bool) -> set[int]:
    """Return where a text of C that the grammar does not understand declares no variables.

    `LIB_INTERNAL lib_inline` before a function are two macros; an indented declaration is the rest of a
    function, in a source.
    """
    macros = {data[start:end] for start, end, kind in captures if kind == "macro"}
    return {
        start
        for start, end, kind in captures
        if kind == "variable"
        and (data[start:end] in macros or (is_source and data[data.rfind(b"\n", 0, start) + 1] in b" \t"))
    }


def _with_regions(
    data: bytes, outline: Outline, captures: Iterable[_Capture]
) -> Iterator[tuple[int, int, str, _Region | None]]:
    """Yield each name once, in the order of the text, with the innermost region around it."""
    regions: list[_Region] = [
        (max(entry.start, entry.head_end), entry.end, entry.path) for entry in outline.scopes
    ]
    names: dict[int, _Capture] = {}
    starts, owners = outline.owner_starts, outline.owners
    # By owner, -1 for none. Most captures are variables of functions.
    is_local = [*(entry.kind in _WITH_LOCALS for entry in outline.entries), False]
    is_quick = not outline.scopes  # which may be inside of functions
    for start, end, kind in captures:
        if is_quick and kind not in _UNSCOPED and is_local[owners[bisect_right(starts, start) - 1]]:
            continue
        if kind == _LOCAL:
            regions.append((start, end, None))
        elif kind == _TAG:
            matches = _COLUMN.finditer(data, start, end)
            names |= {match.start(1): (*match.span(1), "column") for match in matches}
        elif kind[0] != "_":
            names.setdefault(start, (start, end, kind))
    regions.sort(key=lambda region: (region[0], -region[1]))
    stack: list[_Region] = []
    index = 0
    for start, end, kind in sorted(names.values()):
        while index < len(regions) and regions[index][0] <= start:
            stack.append(regions[index])
            index += 1
        while stack and stack[-1][1] <= start:
            stack.pop()
        yield start, end, kind, stack[-1] if stack else None


def _scope(
    kind: str, owner: Entry, region: _Region | None, holders: Mapping[tuple[str, ...], int]
) -> tuple[str, ...] | None:
    """Return the path of what a name is in, None if it is local."""
    if kind in _GLOBAL:
        return ()
    if kind == _OWN_FIELD:
        return _class_path(owner, holders)
    if kind == "function":
        return owner.path
    if region and region[0] >= owner.start:
        return region[2]
    if owner.kind in _WITH_LOCALS:
        return None
    return owner.path[:-1] if owner.kind == _TRANSPARENT else owner.path


def _class_path(owner: Entry, holders: Mapping[tuple[str, ...], int]) -> tuple[str, ...]:
    """Return the path of the class whose method sets a field; a constructor may be a plain function."""
    path = owner.path
    while path and path not in holders:
        path = path[:-1]
    return path or (owner.path[:-1] if owner.kind == "method" else owner.path)


def _segments(source: bytes, separators: tuple[str, ...]) -> tuple[str, ...]:
    """Return the segments of a name as written: `exports.limits.MAX` is limits, MAX."""
    if _PLAIN.fullmatch(source):
        name = source.decode("utf-8", "ignore")
        return () if name in _PLACEHOLDERS else (name,)
    return split_definition_name(source, separators)


def _kind(kind: str, name: str, owner: Entry) -> str:
    """Return the kind of a name: a variable may be a constant by its spelling, or a field."""
    if kind in (_OWN_FIELD, _MACRO_FIELD):
        return "field"
    if kind in ("variable", "field") and len(name) > 1 and name.isupper():
        return "constant"
    return "field" if kind == "variable" and owner.kind in _WITH_FIELDS else kind


def _part(parts: _Parts, number: int, offset: int) -> int:
    """Return the index of the definition that holds a name, -1 for none."""
    if number < 0:
        return -1
    first, starts = parts[number]
    return first + max(0, bisect_right(starts, offset) - 1) if starts else first
