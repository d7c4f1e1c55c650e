"""Open documents, and how their lines correspond to those of the indexed text."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from difflib import SequenceMatcher

from lsprotocol import types

from dowse.interfaces.lsp.encoding import Encoding
from dowse.interfaces.lsp.folders import normal_uri
from dowse.lazy_classes import NamedTuple, dataclass, field

# The line ends of the protocol; `str.splitlines` knows more.
_LINE_END = re.compile(r"\r\n|\n|\r")
# Pairs of lines that are compared: the matcher's worst case is quadratic.
_MAX_PAIRS = 1_000_000


class _Block(NamedTuple):
    """A range of lines that stands for a range of lines of the other text."""

    start: int
    end: int
    other_start: int
    other_end: int


class LineMap:
    """Maps lines of one text to lines of another version of it; lines count from 0."""

    def __init__(self, lines: Sequence[str], others: Sequence[str]) -> None:
        self._blocks = _blocks(lines, others)
        self._starts = [block.start for block in self._blocks]
        self._last = max(0, len(others) - 1)

    def map(self, line: int) -> int:
        """Return the line that a line is equal to, or the nearest one to a line that is new."""
        at = bisect_right(self._starts, line) - 1
        if at < 0:
            return min(line, self._last)
        start, _, other_start, other_end = self._blocks[at]
        last = max(other_start, other_end - 1)
        return max(0, min(other_start + line - start, last, self._last))


def _blocks(lines: Sequence[str], others: Sequence[str]) -> list[_Block]:
    """Return blocks that cover all lines; nearly always most lines are an equal beginning and end."""
    shorter = min(len(lines), len(others))
    head = 0
    while head < shorter and lines[head] == others[head]:
        head += 1
    tail = 0
    while tail < shorter - head and lines[-1 - tail] == others[-1 - tail]:
        tail += 1
    end, other_end = len(lines) - tail, len(others) - tail
    blocks = [_Block(0, head, 0, head)]
    if (end - head) * (other_end - head) <= _MAX_PAIRS:
        matcher = SequenceMatcher(None, lines[head:end], others[head:other_end], autojunk=False)
        blocks += [_Block(*(head + at for at in code[1:])) for code in matcher.get_opcodes()]
    else:
        blocks.append(_Block(head, end, head, other_end))
    blocks.append(_Block(end, len(lines), other_end, len(others)))
    return [block for block in blocks if block.end > block.start]


@dataclass(frozen=True, slots=True)
class Document:
    """The text of an open document, as the client has it."""

    lines: tuple[str, ...]
    _maps: dict[tuple[str, int], tuple[LineMap, LineMap]] = field(default_factory=dict, compare=False)

    @classmethod
    def create(cls, text: str) -> Document:
        """Return a document with a text."""
        return cls(tuple(_LINE_END.split(text)))

    def maps(self, version: tuple[str, int], stored: Sequence[str]) -> tuple[LineMap, LineMap]:
        """Return the maps from this text to the stored one of an index version, and back."""
        known = self._maps.get(version)
        if known is None:
            known = LineMap(self.lines, stored), LineMap(stored, self.lines)
            self._maps.clear()  # those of an older generation are not needed again
            self._maps[version] = known
        return known


class Documents:
    """The open documents by URI. Changed by the event loop alone; threads work on a `snapshot`."""

    def __init__(self) -> None:
        self._by_uri: dict[str, Document] = {}
        self.encoding = Encoding.UTF16

    def open(self, uri: str, text: str) -> None:
        """Keep the text of a document."""
        self._by_uri[normal_uri(uri)] = Document.create(text)

    def change(self, uri: str, changes: Sequence[types.TextDocumentContentChangeEvent]) -> None:
        """Apply edits, in their order; those of a document that is not open are ignored."""
        document = self._by_uri.get(normal_uri(uri))
        if document is None:
            return
        for change in changes:
            text = change.text
            if isinstance(change, types.TextDocumentContentChangePartial):
                text = self._edit(document.lines, change)
            document = Document.create(text)
        self._by_uri[normal_uri(uri)] = document

    def close(self, uri: str) -> None:
        """Forget a document."""
        self._by_uri.pop(normal_uri(uri), None)

    def snapshot(self) -> dict[str, Document]:
        """Return the documents as they are now."""
        return dict(self._by_uri)

    def _edit(self, lines: Sequence[str], change: types.TextDocumentContentChangePartial) -> str:
        start, end = change.range.start, change.range.end
        before = "\n".join([*lines[: start.line], self._cut(lines, start)[0]])
        after = "\n".join([self._cut(lines, end)[1], *lines[end.line + 1 :]])
        return before + change.text + after

    def _cut(self, lines: Sequence[str], position: types.Position) -> tuple[str, str]:
        line = lines[position.line] if position.line < len(lines) else ""
        at = self.encoding.to_index(line, position.character)
        return line[:at], line[at:]
