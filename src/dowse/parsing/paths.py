"""Member paths: what an expression such as `a.b(x)[0].c` is made of, without its arguments."""

from __future__ import annotations

import re

# Names, separators, brackets and literals; anything else is an operator.
_TOKEN = re.compile(
    r"""(?P<space>\s+)|(?P<comment>//[^\n]*|/\*.*?\*/)|(?P<name>[\w$@]+)|(?P<dot>\?\.|!{1,2}\.|&\.|->|::|[.:\\#~])"""
    r"""|(?P<open>[(\[{<])|(?P<close>[)\]}>])"""
    r"""|(?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\\n]|\\.){0,9}'|`(?:[^`$]|\$(?!\{)|\$\{(?:[^`{}]|`[^`]*`|\{[^{}]*\})*\})*`)|(?P<other>.)""",
    re.DOTALL,
)
_PAIRS = {")": "(", "]": "[", "}": "{", ">": "<"}
_SUFFIXES = {"(": "()", "{": "()", "[": "[]"}
_ASSERTED = re.compile(r"[\s*&]*([\w.]+)\s*")
# Words before an expression, of which only the expression counts; `x as Foo` is a Foo.
_KEYWORDS = frozenset(["await", "new", "mut", "move", "unsafe", "as", "yield", "return", "throw", "co_await"])
_CAST = re.compile(r"\s*([\w:]+)(?:<[^<>]*>)?(?:\s+as\s+.*)?", re.DOTALL)
# Functions of Rust that return a pointer to their argument, or the same pointer.
_POINTING = re.compile(r"(?:\w+::)*(?:Arc|Rc|Box|Pin)::(?:new|pin|(clone))")
# `(Foo) x`: nothing but a cast has a name after a closing bracket.
_C_CAST = re.compile(r"\s*\(\s*(?:const\s+)?([\w.$:]+)(?:<[^()]*>)?[\s*&]*\)\s*[\w$@\"']")


def member_path(text: str) -> str:
    """Return an expression as names with `()` after calls and `[]` after items; "" if it is no such path."""
    parts: list[str] = []
    is_known, after_space = True, False
    at = 0
    while at < len(text) and is_known:
        match = _TOKEN.match(text, at)
        if match is None:
            return ""
        kind, word, start, at = match.lastgroup, match[0], at, match.end()
        if kind in ("space", "comment"):
            after_space = True
            continue
        if kind == "open":
            at = _closing(text, start)
            is_known = at > 0 and _add_group(parts, word, text[start + 1 : at - 1])
        elif kind == "name":
            if not parts or _ends_with_dot(parts) or parts[-1] in _KEYWORDS:
                parts = [*parts, word] if _ends_with_dot(parts) else [word]
            else:
                parts, is_known = [word], after_space and word == "as"
        elif kind == "dot" or (word == "?" and parts):
            parts.append(word)
        elif word[0] == "`" and parts and not _ends_with_dot(parts):  # a tagged template is a call
            parts.append("()")
        else:  # an operator before an expression, or between two
            is_known = not parts and word in "*&!-+"
        after_space = False
    return "".join(parts).removesuffix("::").lstrip("&.>:-") if is_known else ""


def _closing(text: str, start: int) -> int:
    """Return the offset after the bracket that closes the one at `start`, -1 if there is none."""
    is_angle = text[start] == "<"
    stack: list[str] = []
    for match in _TOKEN.finditer(text, start):
        kind, word = match.lastgroup, match[0]
        if kind == "open" and (is_angle or word != "<"):
            stack.append(word)
        elif kind == "close" and (is_angle or word != ">"):
            if _PAIRS[word] != stack.pop():
                return -1
            if not stack:
                return match.end()
    return -1


def _ends_with_dot(parts: list[str]) -> bool:
    return bool(parts) and parts[-1][-1:] in ".:>\\#~"


def _add_group(parts: list[str], opener: str, inside: str) -> bool:
    """Add a group in brackets to a path; return whether its value is still known."""
    if opener == "<":
        if parts and parts[-1] == "::":
            parts.pop()
        cast = _CAST.fullmatch(inside) if not parts else None
        if cast:  # `<Foo as Trait>::new`
            parts.append(cast[1])
        return bool(parts)
    if _ends_with_dot(parts):  # a type assertion of Go: `x.(Foo)`
        asserted = _ASSERTED.fullmatch(inside) if opener == "(" else None
        parts[:] = [f"<{asserted[1]}>"] if asserted else []
        return asserted is not None
    is_path_call = opener == "(" and parts[-2:-1] == ["::"]
    pointing = _POINTING.fullmatch("".join(parts)) if is_path_call else None
    if pointing:
        pointed = member_path(inside.rstrip().removesuffix(","))
        parts[:] = [pointed if pointing[1] else f"{pointed}[+]"] if pointed else []
        return bool(pointed)
    if parts:
        parts.append(_SUFFIXES[opener])
        return True
    cast = _C_CAST.match(inside) if opener == "(" else None
    if cast:
        parts.append(cast[1])
        return True
    inner = member_path(inside) if opener == "(" and not inside.startswith("((") else ""
    if inner:
        parts.append(inner)
    return bool(inner)
