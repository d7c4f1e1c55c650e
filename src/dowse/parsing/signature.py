"""The signature of a definition on one line; a long one keeps the type of its result."""

from __future__ import annotations

import re

MAX_SIGNATURE = 300
# Heads with many type parameters; no more is read of any.
MAX_HEAD_BYTES = 20_000
# What opens a body, at the end of a signature.
_OPENERS = " :{=,;"
_OPENING_WORDS = (" do", " where", "=>")

_MAX_RESULT_CHARS = 120
# Arrows are no brackets.
_BRACKET = re.compile(r"[=-]>|[()<>\[\]{}]")
_BEFORE_RESULT = re.compile(r"\) ?(?:->|:)")
# What the type of a result can be shortened by, from the inside out: type arguments, and what types in
# brackets hold.
_INNERMOST = re.compile(r"<[^<>]*>|\[[^\[\]]*\]|\{[^{}]+\}|\([^()]+\)")
# Arrows, and what stands for them meanwhile.
_ARROWS = {"=>": "\1", "->": "\2"}

# Annotations and attributes that a grammar has inside of the definition, and comments in one.
_ATTRIBUTES = re.compile(r"(?:(?:@[\w.:]+(?:\((?:[^()]|\([^()]*\))*\))?|#?\[[^\]]*\]|//[^\n]*\n)\s*)+")
_ATTRIBUTE_STARTS = frozenset("@[#")
_COMMENT = re.compile(r"^\s*//[^\n]*$|/\*.*?\*/", re.MULTILINE | re.DOTALL)


def make_signature(source: bytes) -> str:
    """Return the signature of a definition by its source up to the body."""
    head = source.decode("utf-8", "ignore").lstrip()
    if head[:1] in _ATTRIBUTE_STARTS:
        attributes = _ATTRIBUTES.match(head)
        head = head[attributes.end() :] if attributes else head
    if len(head) > MAX_SIGNATURE and "/" in head:
        head = _COMMENT.sub("", head)
    head = " ".join(head.split()).rstrip(_OPENERS)
    if head.endswith(_OPENING_WORDS):
        head = head.removesuffix(" do").removesuffix(" where").removesuffix("=>").rstrip(_OPENERS)
    return head if len(head) <= MAX_SIGNATURE else _shorten(head)


def result_start(head: str) -> int:
    """Return the offset of the bracket that closes the parameters before the type of a result, or -1.

    What precedes the parameters can be cut.
    """
    depth, found = 0, -1
    for bracket in reversed([*_BRACKET.finditer(head)]):
        if bracket[0] in ")]}>":
            if not depth and _BEFORE_RESULT.match(head, bracket.start()):
                found = bracket.start()
            depth += 1
        elif len(bracket[0]) == 1:
            depth -= 1
            if depth < 0:
                break
    return found


def _shorten(head: str) -> str:
    """Return a long signature without the end of its parameters, and its result without type arguments."""
    start = result_start(head)
    result = head[start + 1 :] if start >= 0 else ""
    for arrow, mark in _ARROWS.items():
        result = result.replace(arrow, mark)
    while len(result) > _MAX_RESULT_CHARS and (shorter := _INNERMOST.sub(_emptied, result)) != result:
        result = shorter
    if not result or len(result) > _MAX_RESULT_CHARS:
        return head[:MAX_SIGNATURE]
    for arrow, mark in _ARROWS.items():
        result = result.replace(mark, arrow)
    result = ")" + result
    return head[: min(MAX_SIGNATURE - len(result), start)] + result


def _emptied(brackets: re.Match[str]) -> str:
    """Return brackets without what they hold; type arguments disappear."""
    return {"{": "{}", "(": "()"}.get(brackets[0][0], "")
