"""Pairs of a comment and the function it stands in, from pairs that are there already.

Documentation says what a function is for; a comment says in few words what a part of it does, much as people
type into a search box.
"""

from __future__ import annotations

import re
from typing import Any

KIND = "comment"

_COMMENT = re.compile(r"\s*(?://|#(?!\s*(?:include|define|if|endif|pragma)\b)) ?(.*)")
_WORD = re.compile(r"[A-Za-z][a-z]+")
# Remarks for tools, links, code that was commented out.
_NO_PROSE = re.compile(
    r"\b(?:TODO|FIXME|XXX|HACK|NOLINT|noqa|pylint|pragma|eslint|licen[cs]e|copyright)\b"
    r"|type:|http|[@{}=;<>\[\]`|]|\(\)|\bself\.|^\W*(?:if|for|else|return|import|raise|def|print)\b.*:$",
    re.IGNORECASE,
)
_WORDS = range(3, 26)
_PROSE_SHARE = 0.75  # of a comment's characters are in words
_LONG_ENOUGH = 6  # words: among longer comments the first is taken
_FEWEST_LINES = 3


def comment_pair(pair: dict[str, Any]) -> dict[str, Any] | None:
    """The most telling comment with the function without comments; None where no comment is prose."""
    comments: list[str] = []
    code: list[str] = []
    above: list[str] = []
    for line in pair["code"].split("\n"):
        if found := _COMMENT.fullmatch(line):
            above.append(found[1].strip())
            continue
        if above:
            comments.append(" ".join(above))
            above = []
        code.append(line)
    prose = [comment for comment in comments if _is_prose(comment)]
    if not prose or len(code) < _FEWEST_LINES:
        return None
    best = max(prose, key=lambda comment: min(len(comment.split()), _LONG_ENOUGH))
    return {**pair, "doc": best, "code": "\n".join(code), "kind": KIND}


def _is_prose(comment: str) -> bool:
    words = _WORD.findall(comment)
    share = len(" ".join(words)) >= _PROSE_SHARE * len(comment)
    return len(words) in _WORDS and share and not _NO_PROSE.search(comment)
