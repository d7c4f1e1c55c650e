"""Keys of YAML by indentation. Its grammar crashes on deep nesting, and reads no templates."""

from __future__ import annotations

import re
from collections.abc import Iterator

# Indentation, dashes of lists, a key, and what follows the colon.
_KEY = re.compile(
    rb"([ ]*)((?:-[ ]+)*)(?:\"([^\"]{1,300})\"|'([^']{1,300})'|([\w./$<~^(][^\s:#][^:#]{0,300}|\w))"
    rb"[ ]*:(?:[ ]+(.*))?$"
)
# A block of text starts here: lines that are indented deeper are no keys.
_BLOCK = re.compile(rb"[|>][-+0-9]*(?:[ ]+#.*)?$")
# Nesting of hand-written files; deeper keys are left out.
_MAX_DEPTH = 24
# The start of a line is enough.
_MAX_LINE = 600


def yaml_keys(data: bytes) -> Iterator[tuple[int, str, str]]:
    """Yield the line, name and path of each key of block mappings."""
    stack: list[tuple[int, str]] = []  # (indentation, key) of what is open
    block = -1  # the indentation of the key that has a block of text
    for number, line in enumerate(data.split(b"\n"), 1):
        indent = len(line) - len(line.lstrip(b" "))
        if block >= 0:
            if indent > block or not line.strip():
                continue
            block = -1
        found = _KEY.match(line[:_MAX_LINE].rstrip())
        if not found:
            continue
        column = len(found[1]) + len(found[2])
        while stack and stack[-1][0] >= column:
            stack.pop()
        name = (found[3] or found[4] or found[5]).decode("utf-8", "ignore").strip()
        if len(stack) < _MAX_DEPTH:
            yield number, name, ".".join([*(key for _, key in stack), name])
            stack.append((column, name))
        if found[6] and _BLOCK.match(found[6]):
            block = column
