"""Types of Go and Rust in the common form (`type_expressions.py`): `Name`, `Name[Argument,…]`, `A|B`.

Types that the languages have built in start with `!`: `!slice[Foo]`, `!map[Key,Foo]`, `!tuple[Foo,error]`.
"""

from __future__ import annotations

import re
from functools import lru_cache

from dowse.parsing.type_expressions import CALLABLE, LITERAL

SLICE, MAP, TUPLE = "!slice", "!map", "!tuple"
_MAX_NESTING = 8
_PAIRS = {"(": ")", "[": "]", "{": "}", "<": ">"}
_GO_NAME = re.compile(r"[\w.]+")
_GO_WORDS = ("map[", "chan ", "func(", "func ", "<-chan", "interface{", "struct{", "interface ", "struct ")
_RUST_PREFIX = re.compile(r"(?:[&*\s]|'\w+\b|(?:mut|dyn|impl|const|unsafe|r#)\s*\b|for\s*<[^<>]*>|\?)+")
_RUST_NAME = re.compile(r"(?:::)?[A-Za-z_]\w*(?:\s*::\s*[A-Za-z_]\w*)*")
_RUST_FUNCTION = re.compile(r"(?:extern\s+\"[^\"]*\"\s+)?(?:fn|FnOnce|FnMut|Fn|AsyncFn)\s*\(")
# Traits without methods that matter, as in `T: Foo + Send + 'static`.
_MARKERS = frozenset(["Send", "Sync", "Sized", "Copy", "Unpin", "Clone", "Debug", "Default", "static", "Eq"])


@lru_cache(maxsize=8192)
def parse_go_type(text: str) -> str:
    """Return a type of Go in the common form; several results are a tuple."""
    return _go(text.strip(), 0)


def _go(text: str, depth: int) -> str:
    text = text.strip().lstrip("*& ").removeprefix("...")
    if depth > _MAX_NESTING or not text:
        return ""
    if text.startswith("("):
        return _go_results(text, depth)
    if text.startswith("["):
        return _generic(SLICE, [_go(text[_closing(text, 0) + 1 :], depth + 1)])
    if text.startswith("map["):
        end = _closing(text, 3)
        return _generic(MAP, [_go(text[4:end], depth + 1), _go(text[end + 1 :], depth + 1)])
    if text.startswith(("chan", "<-chan")) and " " in text:
        return _generic(SLICE, [_go(text.partition("chan")[2].removeprefix("<-"), depth + 1)])
    if text.startswith("func") and text[4:].lstrip().startswith("("):
        rest = text[_closing(text, text.index("(")) + 1 :].strip()
        return f"{CALLABLE}[{_go(rest, depth + 1) if rest else LITERAL}]"
    if text.startswith(("interface", "struct")) and text.endswith("}"):
        return ""  # its members have no names of their own
    match = _GO_NAME.match(text)
    if match is None:
        return ""
    rest = text[match.end() :]
    arguments = [_go(each, depth + 1) for each in _split(rest[1:-1])] if rest.startswith("[") else []
    return _generic(match[0], arguments)


def _go_results(text: str, depth: int) -> str:
    """Return the type in brackets: results of a function, with or without names."""
    parts = [part.strip() for part in _split(text[1 : _closing(text, 0)])]
    if any(" " in part and not part.startswith(_GO_WORDS) for part in parts):
        types: list[str] = []
        for part in reversed(parts):  # in `a, b int` both are of the type that follows
            types.append(part.partition(" ")[2] if " " in part else types[-1] if types else part)
        parts = types[::-1]
    read = [_go(part, depth + 1) for part in parts if part]
    return read[0] if len(read) == 1 else f"{TUPLE}[{','.join(read)}]"


@lru_cache(maxsize=8192)
def parse_rust_type(text: str) -> str:
    """Return a type of Rust, or the bounds of one, in the common form."""
    members = [_rust(part, 0) for part in _split(text.strip().removeprefix(":"), "+")]
    known = dict.fromkeys(member for member in members if member and member not in _MARKERS)
    return "|".join(known)


def _rust(text: str, depth: int) -> str:
    text = text.strip()
    prefix = _RUST_PREFIX.match(text)
    text = text[prefix.end() :].strip() if prefix else text
    if depth > _MAX_NESTING or not text or text == "_":
        return ""
    if text.startswith("("):
        parts = [part for part in _split(text[1 : _closing(text, 0)]) if part.strip()]
        if len(parts) == 1 and not text[: _closing(text, 0)].rstrip().endswith(","):
            return parse_rust_type(parts[0])
        return f"{TUPLE}[{','.join(_rust(part, depth + 1) for part in parts)}]" if parts else LITERAL
    if text.startswith("["):
        return _generic(SLICE, [_rust(text[1 : _closing(text, 0)].partition(";")[0], depth + 1)])
    if _RUST_FUNCTION.match(text):
        rest = text[_closing(text, text.index("(")) + 1 :].strip()
        return f"{CALLABLE}[{_rust(rest[2:], depth + 1) if rest.startswith('->') else LITERAL}]"
    match = _RUST_NAME.match(text)
    if match is None:
        return ""
    name = re.sub(r"\s|^::", "", match[0]).replace("::", ".")
    rest = text[match.end() :].strip().removeprefix("::")
    if not rest.startswith("<"):
        return "" if rest else name
    written = _split(rest[1 : _closing(rest, 0)])
    items = [part.partition("=")[2] for part in written if re.match(r"\s*(?:Item|Output)\s*=", part)]
    plain = [part for part in written if not part.strip().startswith("'") and "=" not in part]
    return _generic(name, [_rust(each, depth + 1) for each in items or plain])


def _generic(name: str, arguments: list[str]) -> str:
    return f"{name}[{','.join(arguments)}]" if any(arguments) else name


def _closing(text: str, start: int) -> int:
    """Return the offset of the bracket that closes the one at `start`, or the end of the text."""
    stack: list[str] = []
    for at in range(start, len(text)):
        char = text[at]
        if char in _PAIRS:
            stack.append(_PAIRS[char])
        elif char in ")]}>" and not (char == ">" and text[at - 1] in "-="):
            if stack and stack[-1] == char:
                stack.pop()
            if not stack:
                return at
    return len(text)


def _split(text: str, separator: str = ",") -> list[str]:
    """Split at the separators outside brackets."""
    parts, start, at = list[str](), 0, 0
    while at < len(text):
        if text[at] in _PAIRS:
            at = _closing(text, at)
        elif text[at] == separator:
            parts.append(text[start:at])
            start = at + 1
        at += 1
    return [*parts, text[start:]]
