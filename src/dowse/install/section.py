"""A short section for AGENTS.md, between markers, so that it can be updated and removed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dowse.install.editing import EditError

BEGIN = "<!-- dowse:begin -->"
END = "<!-- dowse:end -->"
_TEXT = """## Finding code

This repository can be searched with dowse, by what code does and not only by what it says. Ask it before you
read whole files or run grep: it answers with functions, their locations and why.

- With dowse's MCP tools: `search` takes plain words, names, `/regex/` and filters (`lang:go path:src/**`);
  `max_tokens` keeps an answer small, `detail=names` is the smallest. `symbol` shows one definition with its
  neighbours, `calls` follows callers, callees and the impact of a change, `context` has the lines for a task.
- Without them: `dowse search "where are sessions closed"`, `dowse callers Session.close`,
  `dowse impact Session.close`; `--format grep` gives `path:line:text`, `--json` all there is.
- Answers name `path:line`. One that says that nothing is likely to be relevant means it: use other words.
- Before you change a function, look at its `impact`: what it touches, and which tests to run.
"""


def get_entry(text: str, _keys: Sequence[str] = ()) -> str | None:
    """Return the section of a text, or None."""
    span = _span(text)
    return text[span[0] : span[1]] if span else None


def set_entry(text: str, _keys: Sequence[str], _entry: Mapping[str, Any]) -> str:
    """Add the section at the end, or update it."""
    newline = "\r\n" if "\r\n" in text else "\n"
    section = f"{BEGIN}\n{_TEXT}{END}\n".replace("\n", newline)
    span = _span(text)
    if span:
        return text[: span[0]] + section + text[span[1] :]
    if not text.strip("\ufeff"):
        return text + section
    gap = newline if text.endswith("\n") else newline * 2
    return text + gap + section


def remove_entry(text: str, _keys: Sequence[str]) -> str:
    """Remove the section, with the empty line before it."""
    span = _span(text)
    if not span:
        return text
    head, tail = text[: span[0]], text[span[1] :]
    for newline in ("\r\n", "\n"):
        if head.endswith(newline * 2):
            return head[: -len(newline)] + tail
    return head + tail


def _span(text: str) -> tuple[int, int] | None:
    """Return the span of the section, with the end of its last line."""
    begin, end = text.find(BEGIN), text.find(END)
    if begin < 0 and end < 0:
        return None
    if begin < 0 or end < begin:
        raise EditError(f"`{BEGIN}` and `{END}` are not in this order", text, max(begin, end, 0))
    for mark, first in ((BEGIN, begin), (END, end)):
        second = text.find(mark, first + 1)
        if second >= 0:
            raise EditError(f"`{mark}` is here a second time", text, second)
    end += len(END)
    for newline in ("\r\n", "\n"):
        if text.startswith(newline, end):
            return begin, end + len(newline)
    return begin, end
