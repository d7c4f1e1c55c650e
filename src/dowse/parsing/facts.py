"""What names stand for in a file: imported, typed, made by a call. The raw material of the code graph.

A file binds far more names than it calls things on. Only facts about names that some reference starts with
are kept, and about fields, which methods in other files can use.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from dowse.parsing.grammar import Pattern
from dowse.parsing.imports import Import, parse_imports
from dowse.parsing.limits import MAX_NAME_BYTES
from dowse.parsing.source_text import Text
from dowse.types import Fact, Reference

if TYPE_CHECKING:
    from tree_sitter import Node

# A literal, or anything else that is certainly not of a class of this index.
LITERAL = "!"
# Types written longer than this are not names of classes.
_TYPE_BYTES = 200

# What a field of the object at hand starts with.
_FIELDS = (b"self.", b"this.", b"cls.", b"@", b"$this->", b"module.", b"exports.")
_PLAIN_TYPES = frozenset(
    b"int str float bool bytes dict list tuple set None Any string number boolean any void unknown char long"
    b" double short byte size_t i32 i64 u8 u32 u64 usize String error int64 uint64 object Int Boolean Bool"
    b" Double Float Long Unit Self T K V E var auto let val"
    b" unsigned int32_t uint32_t int64_t uint64_t uint8_t".split()
)
# Patterns that bind no name of their own.
_WHOLE_ROLES = frozenset(["statement", "package", "default", "impl", "picks"])

_TYPE_PATH = re.compile(
    rb"[&*?:\s\"'\\]*(?:mut\s+|dyn\s+|impl\s+|const\s+|struct\s+)*((?:\w+(?:\.|::|\\))*)([A-Za-z_]\w*)"
)
_HEAD = re.compile(r"[^\s.:\-?!&(\[\\]*")
_PLAIN_PATH = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
_CALLED_PATH = re.compile(r"@?[\w$]+(?:\(\))?(?:\.[\w$]+(?:\(\))?)*")
_SPACE = re.compile(r"\s+")
_TURBOFISH = re.compile(r"::<[^()]*>$")
_ANGLES = re.compile(r"<[^<>()]*>")
_ARGUMENTS = re.compile(r"\([^()]*\)")
_JOINTS = re.compile(r"\?\.|->|::|\\")
# Wrappers that lend their methods to what they hold.
_WRAPPERS = re.compile(r"^(?:Optional|Box|Rc|Arc|Annotated|ClassVar|Final|Readonly|Required)[<\[](.*)[>\]]$")
# Words that stand where a type would.
_NO_TYPES = frozenset(
    ["var", "auto", "val", "let", "dynamic", "any", "Any", "unknown", "mixed", "object", "T"]
)
_GENERICS = re.compile(r"<[^<>]*>|\[[^\[\]]*\]|\([^()]*\)")
_NAME = re.compile(r"[\w$]+(?:(?:\.|::|\\)[\w$]+)*")
_PREFIXES = re.compile(
    r"^(?:[&*?\s:(\\]|(?:mut|dyn|impl|const|final|readonly|struct|'\w+|asserts|unsafe)\s)+"
)


@lru_cache(maxsize=8192)
def parse_type_name(text: str) -> str:
    """The one class that a type expression names, joined with dots; "" if it is not that simple."""
    text = text.strip().strip("\"'").strip()
    text = _PREFIXES.sub("", text)
    text = re.sub(r"\s*\|\s*(?:None|null|undefined)\b|\b(?:None|null)\s*\|\s*|\?$", "", text)
    wrapped = _WRAPPERS.match(text)
    if wrapped:
        return parse_type_name(wrapped[1].split(",")[0])
    if text.startswith(("[", "map[", "func", "chan ", "{", "(")):
        return LITERAL
    if text.endswith("]") and text.endswith("[]"):
        return LITERAL
    while (shorter := _GENERICS.sub("", text)) != text:
        text = shorter
    text = text.strip(" &*?!.")
    found = _NAME.fullmatch(text)
    return re.sub(r"::|\\", ".", found[0]) if found and found[0] not in _NO_TYPES else ""


class Facts:
    """Collects what query matches say of names, then keeps what can matter."""

    __slots__ = ("_data", "_has_nul", "_language", "_matches", "_source")

    def __init__(self, source: Text, language: str) -> None:
        self._source, self._data = source, source.data
        self._has_nul = b"\0" in source.data  # names are stored with that between them
        self._language = language
        self._matches: list[tuple[Pattern, dict[str, list[Node]]]] = []

    def bind(self, pattern: Pattern, captures: dict[str, list[Node]]) -> None:
        """Take one match of a pattern that binds names; most turn out not to matter."""
        self._matches.append((pattern, captures))

    def type_uses(self) -> Iterator[tuple[int, str, str]]:
        """Where types are written that may be defined somewhere: (offset, name, qualifier)."""
        data = self._data
        for _, captures in self._matches:
            if "as" in captures:
                start, end = captures["as"][0].byte_range
                if end - start > _TYPE_BYTES or data[start:end] in _PLAIN_TYPES:
                    continue
                found = _TYPE_PATH.match(data, start, end)
                if found and found[2] not in _PLAIN_TYPES:
                    qualifier = found[1].rstrip(b".:\\").decode("utf-8", "ignore")
                    yield found.start(2), found[2].decode("utf-8", "ignore"), qualifier

    def settle(
        self,
        references: tuple[Reference, ...],
        owners: tuple[list[int], list[int]],
        first_parts: list[int],
        in_types: frozenset[int],
    ) -> tuple[Fact, ...]:
        """The facts that can matter, each with its owner."""
        if not self._matches:
            return ()
        data, needed, (starts, numbers) = self._data, self._needed(references), owners
        found = dict[Fact, None]()
        lines = self._source.starts if any("within" in captures for _, captures in self._matches) else []
        for pattern, captures in self._matches:
            start, end = captures["bind"][0].byte_range
            owner = numbers[bisect_right(starts, start) - 1]
            name = data[start:end]
            if name not in needed and pattern.role not in _WHOLE_ROLES:
                # Fields are for every method, names of a module for every file: others are for nobody else.
                public = owner < 0 or owner in in_types or name.startswith(_FIELDS) or pattern.role == "field"
                if not (pattern.says_more and public) or self._is_plain(captures):
                    continue
            home = first_parts[owner] if owner >= 0 and pattern.role != "default" else -1
            first = last = 0
            if "within" in captures:
                begin, stop = captures["within"][0].byte_range
                first, last = bisect_right(lines, begin), bisect_right(lines, stop)
            for kind, called, value, origin in self._read(pattern, captures):
                found[Fact(kind, called, value, origin, home, first, last)] = None
        return tuple(found)

    def _is_plain(self, captures: dict[str, list[Node]]) -> bool:
        """Whether a name has a type of the language itself, of which there are most."""
        if "as" not in captures:
            return False
        start, end = captures["as"][0].byte_range
        return end - start <= _TYPE_BYTES and self._data[start:end] in _PLAIN_TYPES

    def _needed(self, references: tuple[Reference, ...]) -> set[bytes]:
        """The names that references start with, and those that stand for these."""
        heads = {r.qualifier or r.name for r in references}
        needed = {_HEAD.match(head)[0].encode() for head in heads}  # type: ignore[index]
        for pattern, captures in self._matches:
            if pattern.gives:
                start, end = captures["bind"][0].byte_range
                if self._data[start:end] in needed:
                    first, last = captures[pattern.gives][0].byte_range
                    text = self._text(first, min(last, first + _TYPE_BYTES))
                    needed.add(_HEAD.match(text)[0].encode())  # type: ignore[index]
        return needed

    def _read(self, pattern: Pattern, captures: dict[str, list[Node]]) -> list[Import]:
        """What one match says: (kind, name, value, origin)."""
        if pattern.role == "statement":
            return parse_imports(self._language, self._text(*captures["bind"][0].byte_range))
        name = self._name(captures["bind"][0])
        if pattern.role == "package":
            return [("package", "", name, "")]
        if pattern.role == "impl":
            return [("type", "Self", parse_type_name(name), "")]
        if pattern.role == "default":
            return [("same", "export default", name, "")]
        if "required" in captures:
            module = self._name(captures["required"][0])
            if pattern.role == "picks":
                return [
                    ("import", bound, picked, module) for bound, picked in self._picks(captures["bind"][0])
                ]
            value = self._name(captures["picked"][0]) if "picked" in captures else ""
            return [("import", name, value, module)]
        kind, value = self._value(captures)
        said = [(kind, self._name(node), value, "") for node in captures["bind"]]
        if pattern.role == "field":  # a parameter that is a field as well
            said.append((kind, "self." + name.lstrip("$"), value, ""))
        return said

    def _picks(self, pattern: Node) -> Iterator[tuple[str, str]]:
        """The names in `{ a, b: c }` with what each is a member of: (a, a), (c, b)."""
        for child in pattern.named_children:
            if child.type == "shorthand_property_identifier_pattern":
                yield self._name(child), self._name(child)
            elif child.type == "pair_pattern":
                key, value = child.child_by_field_name("key"), child.child_by_field_name("value")
                if key is not None and value is not None and value.type == "identifier":
                    yield self._name(value), self._name(key)

    def _value(self, captures: dict[str, list[Node]]) -> tuple[str, str]:
        """The kind of a fact and what the name stands for."""
        for capture, kind, read in (
            ("as", "type", parse_type_name),
            ("made", "made", _expression),
            ("same", "same", _expression),
        ):
            if capture in captures:
                start, end = captures[capture][0].byte_range
                value = read(self._text(start, end)) if end - start <= _TYPE_BYTES else ""
                return (kind, value) if value else ("local", "")
        return ("type", LITERAL) if "literal" in captures else ("local", "")

    def _name(self, node: Node) -> str:
        """What a node says, if it is as short as names are; else its beginning."""
        start, end = node.byte_range
        return self._text(start, min(end, start + MAX_NAME_BYTES))

    def _text(self, start: int, end: int) -> str:
        text = self._data[start:end].decode("utf-8", "ignore")
        return text.replace("\0", "") if self._has_nul else text


@lru_cache(maxsize=8192)
def _expression(text: str) -> str:
    """A callee or another name, joined with dots; "" if it is more than a path."""
    if _PLAIN_PATH.fullmatch(text):
        return text
    text = _TURBOFISH.sub("", _SPACE.sub("", text))
    while (shorter := _ANGLES.sub("", text)) != text:
        text = shorter
    text = _JOINTS.sub(".", text).lstrip(".&*$")
    text = _ARGUMENTS.sub("()", text)
    return text if _CALLED_PATH.fullmatch(text) else ""
