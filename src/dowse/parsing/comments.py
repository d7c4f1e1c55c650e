"""Doc comments and docstrings: their location above a definition or at the top of a file, and their text."""

from __future__ import annotations

import re
from collections.abc import Mapping

from dowse.parsing.languages import Language
from dowse.parsing.source_text import SourceText
from dowse.types import Span

# White space between a definition and the comment above it is searched this far back.
_MAX_GAP_BYTES = 256

# Licence headers do not document the code below them.
_LICENSE = re.compile(rb"copyright|licen[sc]e|SPDX", re.IGNORECASE)

# Comments on the enclosing file (Rust, Zig), and shebangs.
_INNER_COMMENTS = (b"//!", b"#!")

_STRING = re.compile(r"""^[^'"]*?(\"\"\"|'''|"|')(.*)\1\s*$""", re.DOTALL)
_QUOTES = re.compile(rb"""[rRuU]?(\"\"\"|\'\'\'|"(?!"")|'(?!''))""")
_AFTER_STRING = re.compile(rb"[ \t]*(?:[;#\r\n]|\Z)")
_BACKSLASH = ord("\\")
_MARK_CHARS = "/#!-;="
_BLOCKS = (("/**", "*/"), ("/*!", "*/"), ("/*", "*/"), ("{-", "-}"), ("--[[", "]]"), ("=begin", "=end"))
_XML_TAG = re.compile(r"</?[a-z]+(?: [^<>]*)?/?>")


class Comments:
    """Finds the doc comments of one file."""

    __slots__ = ("_blocks", "_keywords", "_leads", "_lines", "_text")

    def __init__(self, text: SourceText, language: Language, leads: Mapping[int, int]) -> None:
        self._text = text
        self._leads = leads  # end → start of decorators and attributes
        self._lines = tuple(mark.encode() for mark in language.line_comments)
        self._blocks = tuple((o.encode(), c.encode()) for o, c in language.block_comments)
        self._keywords = tuple(word.encode() for word in language.lead_keywords)

    def leading(self, start: int, floor: int) -> tuple[int, list[Span], bool]:
        """Return a definition's start with its comments, the doc comments, and if an attribute is one."""
        data, docs, attributed = self._text.data, list[Span](), False
        while True:
            if start <= floor or data.endswith(b"\n\n", floor, start):  # nearly always: avoid the slices
                break
            low = start - _MAX_GAP_BYTES
            gap = data[low if low > floor else floor : start]
            bare = len(gap.rstrip())
            if not bare or gap.count(b"\n", bare) > 1:
                break
            end = start - len(gap) + bare
            lead = self._leads.get(end)
            if lead is not None and lead >= floor:
                if self._keywords and data.startswith(self._keywords, lead):
                    docs.append((lead, end))
                    attributed = True
                start = max(floor, self._text.extend_to_line_start(lead))
                continue
            begin = self._comment_before(end, floor)
            if begin < 0:
                break
            docs.append((begin, end))
            start = max(floor, self._text.extend_to_line_start(begin))
        docs.reverse()
        return start, docs, attributed

    def _comment_before(self, end: int, floor: int) -> int:
        """Return the start of the comment that ends here and is alone on its lines; -1 for none."""
        data, marks = self._text.data, self._lines
        line = max(floor, data.rfind(b"\n", floor, end - 1) + 1)
        comment = data[line:end].lstrip()
        if comment.startswith(marks):
            begin, stop = -1, end
            while comment.startswith(marks) and not comment.startswith(_INNER_COMMENTS):
                begin = stop - len(comment)
                if line <= floor:
                    break
                stop, line = line, data.rfind(b"\n", max(0, floor - 1), line - 1) + 1
                if line < floor:
                    break
                comment = data[line:stop].lstrip()
            return begin
        for opener, closer in self._blocks:
            if comment.endswith(closer):
                begin = data.rfind(opener, floor, end - len(closer) + 1)
                if begin >= 0 and self._starts_line(begin, floor):
                    return begin
        return -1

    def _starts_line(self, begin: int, floor: int) -> bool:
        """Whether only blanks precede this byte in its line; searches hardly further back than `floor`."""
        low = max(0, floor - _MAX_GAP_BYTES)
        line = self._text.data.rfind(b"\n", low, begin) + 1
        return (line > 0 or not low) and not self._text.data[line:begin].strip()

    def file_header(self) -> tuple[int, Span | None]:
        """Return the end of the licence at the top of the file, and the first other comment block."""
        data, offset, licensed = self._text.data, 0, 0
        if data.startswith((b"#!", b"<?php")):
            offset = self._text.next_line(0)
        while True:
            offset += len(data[offset : offset + 4096]) - len(data[offset : offset + 4096].lstrip())
            end = self._comment_from(offset)
            if end <= offset:
                return licensed, None
            if not _LICENSE.search(data, offset, end):
                return licensed, (offset, end)
            licensed = offset = end

    def _comment_from(self, offset: int) -> int:
        """Return the end of the comment block that starts here, or the same offset."""
        data = self._text.data
        for opener, closer in self._blocks:
            if data.startswith(opener, offset):
                end = data.find(closer, offset + len(opener))
                return self._text.next_line(end) if end >= 0 else offset
        while data.startswith(self._lines, offset):
            after = self._text.next_line(offset)
            following = data[after : after + _MAX_GAP_BYTES]
            indent = len(following) - len(following.lstrip(b" \t"))
            if not data.startswith(self._lines, after + indent):
                return after
            offset = after + indent
        return offset


def docstring_at(data: bytes, start: int, stop: int) -> Span | None:
    """Return the docstring at the start of a body that ends at `stop`: a string that is a statement."""
    opened = _QUOTES.match(data, start, stop)
    if not opened:
        return None
    quote = opened[1]
    end = data.find(quote, opened.end(), stop)
    while end > 0 and data[end - 1] == _BACKSLASH:
        end = data.find(quote, end + 1, stop)
    if end < 0 or (len(quote) == 1 and data.find(b"\n", start, end) >= 0):
        return None
    end += len(quote)
    return (start, end) if _AFTER_STRING.match(data, end) else None


def clean_doc(comment: bytes) -> str:
    """Return documentation without comment marks, quotes and common indentation."""
    text = comment.decode("utf-8", "ignore").strip()
    if text.startswith(("@", '"', "'", "r", "R", "u", "U")):
        return _unquote(text)
    for opener, closer in _BLOCKS:
        if text.startswith(opener):
            text = text[len(opener) :].removesuffix(closer)
    lines = [
        line[1:].rstrip("*") if line.startswith("*") else _unmark(line)
        for line in map(str.strip, text.split("\n"))
    ]
    if "<" in text:
        lines = [_XML_TAG.sub("", line) for line in lines]
    return _dedent(lines).strip()


def _unquote(text: str) -> str:
    """Return the content of a string literal, dedented."""
    if text.startswith('"""') and text.endswith('"""') and len(text) > len('""""""'):
        text = text[3:-3]
    else:
        quoted = _STRING.match(text)
        if not quoted:
            return ""
        text = quoted[2]
    # The first line starts after the quotes, so only the others have an indentation to strip.
    first, newline, others = text.partition("\n")
    return f"{first.strip()}\n{_dedent(others.split(newline))}".strip() if newline else first.strip()


def _unmark(line: str) -> str:
    """Return one line of a comment without its mark; a star after that is a list item, not a mark."""
    bare = line.lstrip(_MARK_CHARS)
    if len(bare) < len(line) and line.startswith("--"):
        bare = bare.lstrip(" ").lstrip("|^")
    return bare


def _dedent(lines: list[str]) -> str:
    """Strip the common indentation of the lines and trailing blanks."""
    lines = [line.rstrip() for line in lines]
    margin = min([len(line) - len(line.lstrip()) for line in lines if line], default=0)
    return "\n".join([line[margin:] for line in lines] if margin else lines)
