"""The layout of a JSON text, so that new members are formatted like the existing ones."""

from __future__ import annotations

import json
from dataclasses import dataclass

from dowse.install.jsonc import Node


@dataclass(frozen=True, slots=True)
class Layout:
    """Line ends and indentation."""

    newline: str = "\n"
    unit: str = "  "

    @classmethod
    def of(cls, text: str, root: Node) -> Layout:
        """Return the layout of a text, by its line ends and its first member."""
        newline = "\r\n" if "\r\n" in text else "\n"
        unit = ""
        if root.members and "\n" in text[root.start : root.members[0].start]:
            unit = line_indent(text, root.members[0].start)
        return cls(newline, unit or "  ")


def dump(value: object, layout: Layout, indent: str = "") -> str:
    """Format a value that begins on a line with this indentation; lists stay on one line."""
    if not isinstance(value, dict) or not value:
        return json.dumps(value, ensure_ascii=False)
    inner = indent + layout.unit
    members = [f"{inner}{json.dumps(key)}: {dump(each, layout, inner)}" for key, each in value.items()]
    return "{" + layout.newline + f",{layout.newline}".join(members) + layout.newline + indent + "}"


def dump_compact(value: object, space: str) -> str:
    """Format a value on one line, with or without spaces."""
    return json.dumps(value, ensure_ascii=False, separators=("," + space, ":" + space))


def line_indent(text: str, at: int) -> str:
    """Return the indentation of the line at a position."""
    start = text.rfind("\n", 0, at) + 1
    line = text[start:]
    return line[: len(line) - len(line.lstrip(" \t"))]


def line_comments_end(text: str, at: int) -> int:
    """Return the end of the comments that begin on the same line; `at` if there are none."""
    end = at
    while True:
        at += len(text[at:]) - len(text[at:].lstrip(" \t"))
        if text.startswith("//", at):
            stop = text.find("\n", at)
            stop = len(text) if stop < 0 else stop
            return stop - 1 if text[stop - 1] == "\r" else stop
        if not text.startswith("/*", at):
            return end
        end = at = text.index("*/", at + 2) + 2
