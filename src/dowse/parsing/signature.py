"""The signature of a definition on one line; a long one keeps the type of its result."""

from __future__ import annotations

import re
from functools import lru_cache

MAX_SIGNATURE = 300
_MAX_CALL_SIGNATURE = 600
# Heads with many type parameters; no more is read of any.
MAX_HEAD_BYTES = 20_000
# What opens a body, at the end of a signature.
_OPENERS = " :{=,;"
_OPENING_WORDS = (" do", " where", "=>")

_MAX_RESULT_CHARS = 120
# Arrows are no brackets.
_BRACKET = re.compile(r"[=-]>|[()<>\[\]{}]")
_BRACKET_OR_EQUALS = re.compile(rf"{_BRACKET.pattern}|=")
_ALIAS = re.compile(r"(?:export |declare )*type \w+")
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
_STRINGS = r""""(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`"""


@lru_cache
def comment_pattern(line_marks: tuple[str, ...], blocks: tuple[tuple[str, str], ...]) -> re.Pattern[str]:
    """Return what matches strings, as its first group, and comments: not in a URL, and not `#[` of PHP."""
    lines = [rf"(?<![^\s,;(){{}}\[\]]){re.escape(mark)}(?!\[)[^\n]*" for mark in line_marks]
    spans = [rf"{re.escape(start)}.*?{re.escape(end)}" for start, end in blocks]
    return re.compile("|".join([f"({_STRINGS})", *spans, *lines]), re.DOTALL)


def make_signature(source: bytes, comments: re.Pattern[str]) -> str:
    """Return the signature of a definition by its source up to the body, without comments."""
    head = source.decode("utf-8", "ignore").lstrip()
    if head[:1] in _ATTRIBUTE_STARTS:
        attributes = _ATTRIBUTES.match(head)
        head = head[attributes.end() :] if attributes else head
    head = comments.sub(lambda match: match[1] or " ", head)
    head = " ".join(head.split()).rstrip(_OPENERS)
    if head.endswith(_OPENING_WORDS):
        head = head.removesuffix(" do").removesuffix(" where").removesuffix("=>").rstrip(_OPENERS)
    if len(head) <= MAX_SIGNATURE:
        return head
    return _shorten_alias(head) if _ALIAS.match(head) else _shorten(head)


def make_call_signature(source: str) -> str:
    """Return the parameters and the result of a call signature of TypeScript; "" if they are too long."""
    head = " ".join(_COMMENT.sub("", source).split()).rstrip(_OPENERS)
    depth = 0
    for bracket in _BRACKET.finditer(head):
        if bracket[0] == "(" and not depth:
            head = head[bracket.start() :]
            break
        depth += (bracket[0] in "([{<") - (bracket[0] in ")]}>")
    start = result_start(head)
    result = _shorten_result(head[start + 1 :]) if start >= 0 else ""
    head = f"{head[:start]}){result}" if result else head
    return head if len(head) <= _MAX_CALL_SIGNATURE else ""


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
    result = _shorten_result(head[start + 1 :]) if start >= 0 else ""
    return (
        f"{head[: min(MAX_SIGNATURE - len(result) - 1, start)]}){result}" if result else head[:MAX_SIGNATURE]
    )


def _shorten_result(result: str) -> str:
    """Return the type of a result, without type arguments if it is long; "" if it is too long."""
    for arrow, mark in _ARROWS.items():
        result = result.replace(arrow, mark)
    while len(result) > _MAX_RESULT_CHARS and (shorter := _INNERMOST.sub(_emptied, result)) != result:
        result = shorter
    for arrow, mark in _ARROWS.items():
        result = result.replace(mark, arrow)
    return result if len(result) <= _MAX_RESULT_CHARS else ""


def _shorten_alias(head: str) -> str:
    """Return a long type alias with the names of its type parameters, and its type as far as that fits."""
    at = _assignment(head)
    name, _, parameters = head[:at].rstrip("> ").partition("<")
    aliased = head[at + 1 :].strip()
    while len(name) + len(parameters) + len(aliased) + len("<> = ") > MAX_SIGNATURE:
        shorter = _INNERMOST.sub(_emptied, parameters), _INNERMOST.sub(_emptied, aliased)
        if shorter == (parameters, aliased) or aliased.startswith("{"):
            return head[:MAX_SIGNATURE]
        parameters, aliased = shorter
    return f"{name}<{parameters}> = {aliased}" if parameters else f"{name} = {aliased}"


def _assignment(head: str) -> int:
    """Return the offset of the first `=` outside brackets."""
    depth = 0
    for token in _BRACKET_OR_EQUALS.finditer(head):
        if token[0] == "=" and not depth:
            return token.start()
        depth += (token[0] in "([{<") - (token[0] in ")]}>")
    return len(head)


def _emptied(brackets: re.Match[str]) -> str:
    """Return brackets without what they hold; type arguments disappear."""
    return {"{": "{}", "(": "()"}.get(brackets[0][0], "")
