"""Parsers and compiled queries, each made once and only for the languages that turn up."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from math import inf
from pathlib import Path
from time import thread_time
from typing import TYPE_CHECKING

from dowse.parsing.languages import Grammar

if TYPE_CHECKING:
    from tree_sitter import Parser, Point, Query, QueryCursor, Tree

# Below this size no grammar takes long on honest code, so the text goes to the parser in one piece.
_UNTIMED_BYTES = 64 * 1024

# Patterns below this line of a query file only start at the top of the tree. A pattern rooted in the
# file's node would stay half-matched, and be tried, at every node of the file.
_TOP_MARK = ";; top level"

# The file's children.
_TOP_DEPTH = 1

# Patterns start no deeper than this. tree-sitter counts the depth in 16 bits, and its queries get slow by far
# where these are not enough; a chain of this many calls or operators is no code.
_MAX_DEPTH = 10_000

# The clock is read once per chunk.
_CHUNK_BYTES = 4 * 1024

# The captures that make a definition. "scope", "impl" and "object" only qualify what they hold,
# "member" is a function in an object literal.
_DEFINES = frozenset(
    (
        *("function", "method", "class", "interface", "struct", "enum", "trait", "type", "module", "macro"),
        *("constant", "scope", "impl", "object", "member"),
    )
)

# The captures that make a reference, and its kind.
REFERS = {
    **{kind: kind for kind in ("call", "extends", "implements", "use", "import")},
    **{"path": "import", "imports": "import", "component": "call"},
}

# Names that are imported, and the statements that say from where.
SOURCED, SOURCING = "sourced", "sourcing"

_OTHERS = frozenset((*REFERS, "lead", "doc", SOURCED, SOURCING))

_QUERIES = Path(__file__).with_name("queries")
_CAPTURE = re.compile(r"(?<=\s)@(\w+)")


@dataclass(frozen=True, slots=True)
class Pattern:
    """What one pattern of a query captures, and which words its @word must be."""

    captures: frozenset[str]
    words: frozenset[bytes]
    defines: str  # the one capture that is a definition, if any
    others: tuple[str, ...]  # those that are references, attributes or docstrings
    plain_call: bool  # a call and nothing else, perhaps with what it is called on
    is_head: bool  # a definition that is all signature
    binds: bool  # says of a name that it stands for something
    says_more: bool  # says what that is
    gives: str  # the capture of another name that it stands for, if any
    role: str  # how something is imported, where the captures don't tell


@dataclass(frozen=True, slots=True)
class Toolkit:
    """A parser with the queries that read its trees: everywhere, and at the top level only."""

    parser: Parser
    queries: tuple[tuple[QueryCursor, tuple[Pattern, ...]], ...]

    def parse(self, text: bytes, seconds: float) -> Tree | None:
        """The syntax tree of `text`, or None when it took longer than `seconds` of CPU time.

        This is a best effort: some texts keep a lexer busy that has read all there is. Where hostile files
        are expected, parsing has a process of its own, with a limit by the system and none here.
        """
        if seconds == inf or (seconds > 0 and len(text) <= _UNTIMED_BYTES):
            return self.parser.parse(text)
        return self._parse_in_time(text, thread_time() + seconds)

    def _parse_in_time(self, text: bytes, deadline: float) -> Tree | None:
        """Feed the parser piecemeal and pretend the file ends once the time is over.

        tree-sitter 0.26's own progress callback crashes the interpreter, so reading has to do. The parser
        reads some places again. These must stay as they were, else it crashes too: what the file ends with is
        the last chunk that was read.
        """
        known = 0  # the parser has seen the text up to here
        late = False

        def read(offset: int, _: Point) -> bytes:
            nonlocal known, late
            if offset >= known and not late:
                late = thread_time() >= deadline
                known = known if late else _character_end(text, offset + _CHUNK_BYTES)
            return text[offset : min(offset + _CHUNK_BYTES, known)]

        tree = self.parser.parse(read)
        return None if late else tree


def _character_end(text: bytes, offset: int) -> int:
    """The first offset from here on that is not inside a character."""
    while offset < len(text) and text[offset] & 0xC0 == 0x80:
        offset += 1
    return offset


@cache
def toolkit(grammar: Grammar) -> Toolkit:
    """Import a grammar and compile its query."""
    from tree_sitter import Language, Parser, Query, QueryCursor

    language = Language(getattr(import_module(grammar.module), grammar.function)())
    sources = [(_QUERIES / f"{name}.scm").read_text("utf-8").partition(_TOP_MARK) for name in grammar.queries]
    everywhere, top = "".join(s[0] for s in sources), "".join(s[2] for s in sources)
    queries = []
    for source, depth in ((everywhere, _MAX_DEPTH), (top, _TOP_DEPTH)):
        if source.strip():
            query = Query(language, source)
            cursor = QueryCursor(query)
            cursor.set_max_start_depth(depth)
            queries.append((cursor, tuple(_patterns(query, source))))
    return Toolkit(Parser(language), tuple(queries))


def _patterns(query: Query, source: str) -> list[Pattern]:
    """Read off the query's own source what each pattern captures."""
    patterns = []
    for index in range(query.pattern_count):
        start, end = query.start_byte_for_pattern(index), query.end_byte_for_pattern(index)
        settings = query.pattern_settings(index)
        words = settings.get("words") or ""
        captures = frozenset(_CAPTURE.findall(source[start:end]))
        defines = next(iter(captures & _DEFINES), "")
        patterns.append(
            Pattern(
                captures,
                frozenset(words.encode().split()),
                defines,
                others=tuple(sorted(captures & _OTHERS)),
                plain_call="call" in captures and captures <= {"call", "on", "args"},
                is_head=defines in ("function", "method", "type") and "head" not in captures,
                binds="bind" in captures,
                says_more=not captures.isdisjoint(("as", "made", "same", "required")),
                gives=next((each for each in ("made", "same") if each in captures), ""),
                role=settings.get("role") or "",
            )
        )
    return patterns
