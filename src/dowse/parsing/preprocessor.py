"""Conditional compilation of C++, replaced by blanks before the text is parsed.

The grammar knows `#if` between statements only. Inside an expression or a list, or where each branch opens
the same block, one directive makes the rest of the file an error.
"""

from __future__ import annotations

import re

_DIRECTIVE = re.compile(
    rb"^[ \t]*#[ \t]*(if|ifdef|ifndef|elif|else|endif)\b(?:[^\n\\]|\\.|\\\n)*", re.MULTILINE
)
_VISIBLE = re.compile(rb"[^\n]+")
_LINE_COMMENT = re.compile(rb"//[^\n]*\Z")
# The last characters of complete statements, labels and comments.
_COMPLETE = (b";", b"}", b":", b"*/")
# Deeper ones are not compared: each level reads its text again.
_MAX_DEPTH = 30


def keep_one_branch(text: bytes) -> bytes:
    """Return a text of the same length without conditional directives.

    All branches stay if each is a sequence of complete statements, else the first one.
    """
    result = bytearray(text)
    starts: list[list[int]] = []  # of the directives of each open conditional
    for match in _DIRECTIVE.finditer(text):
        start, end, word = match.start(), match.end(), match[1]
        _blank(result, start, end)
        if word in (b"if", b"ifdef", b"ifndef"):
            starts.append([end])
        elif starts:
            starts[-1] += [start, end]
            if word == b"endif":
                borders = starts.pop()
                branches = list(zip(borders[::2], borders[1::2], strict=False))
                is_compared = len(branches) > 1 and len(starts) < _MAX_DEPTH
                if is_compared and not all(_is_complete(bytes(result[a:b])) for a, b in branches):
                    _blank(result, branches[1][0], branches[-1][1])
    return bytes(result)


def _is_complete(branch: bytes) -> bool:
    """Whether the text of a branch is a sequence of complete statements."""
    if branch.count(b"{") != branch.count(b"}") or branch.count(b"(") != branch.count(b")"):
        return False
    code = branch.rstrip()
    while code and (comment := _LINE_COMMENT.search(code, code.rfind(b"\n") + 1)):
        code = code[: comment.start()].rstrip()
    before, _, last = code.rpartition(b"\n")
    is_directive = last.lstrip().startswith(b"#") or before.endswith(b"\\")
    return not code or is_directive or code.endswith(_COMPLETE)


def _blank(text: bytearray, start: int, end: int) -> None:
    """Replace a range by blanks, apart from line ends."""
    text[start:end] = _VISIBLE.sub(lambda match: b" " * len(match[0]), bytes(text[start:end]))
