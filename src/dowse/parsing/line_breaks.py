"""Text of Kotlin that the grammar cannot read, in a form of the same length that it can."""

from __future__ import annotations

import re

_TYPE_PARAMETERS = rb"(?:<(?:[^<>(){}]|<[^<>(){}]*>)*>)?"
_MODIFIERS = rb"(?:(?:@[\w.]+(?:\([^()]*\))?|private|internal|protected|public|actual|expect)\s+)*"
# The grammar takes a line break before the primary constructor for the end of the class.
_CLASS_HEAD = re.compile(
    rb"class \w+" + _TYPE_PARAMETERS + rb"(\s*\n\s*)(?=" + _MODIFIERS + rb"constructor\b)"
)
# A string in which `$` needs several signs to start an expression.
_DOLLARS = re.compile(rb'\$\$+(?=")')


def join_class_heads(text: bytes) -> bytes:
    """Return a text of the same length in which no line break divides the head of a class."""
    text = _CLASS_HEAD.sub(lambda head: head[0][: -len(head[1])] + b" " * len(head[1]), text)
    return _DOLLARS.sub(lambda dollars: b" " * len(dollars[0]), text) if b'$$"' in text else text
