"""tree-sitter parsers and compiled queries, each created once and only for the languages that occur."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from math import inf
from pathlib import Path
from time import thread_time
from typing import TYPE_CHECKING

from dowse.lazy_classes import dataclass
from dowse.parsing.grammar_library import load_language
from dowse.parsing.languages import Grammar
from dowse.parsing.limits import MAX_UNNAMED_RUN

if TYPE_CHECKING:
    from tree_sitter import Node, Parser, Point, Query, QueryCursor, Tree

# Below this size no grammar takes long on ordinary code, so the text is parsed without a deadline.
_UNTIMED_BYTES = 64 * 1024

# The sections of a query file: patterns that only start at the top of the tree, of names that are no symbols,
# and of their uses. A pattern rooted in the file's node would stay half-matched, and be tried, at every node.
_TOP_LEVEL, _NAMES, _USES = "top level", "names", "uses"
_SECTION = re.compile(rf"^;; ({_TOP_LEVEL}|{_NAMES}|{_USES})$", re.MULTILINE)

# The children of the file's node.
_TOP_DEPTH = 1

# Patterns start no deeper than this. tree-sitter counts the depth in 16 bits, and its queries get very slow
# beyond; a chain of this many calls or operators is no code.
_MAX_DEPTH = 10_000

# The parser reads the text in chunks, and the clock is read once per chunk.
_CHUNK_BYTES = 4 * 1024

# The captures that are definitions. "scope", "impl" and "object" only qualify what they hold,
# "member" is a function in an object literal.
_DEFINITION_CAPTURES = frozenset(
    (
        *("function", "method", "class", "interface", "struct", "enum", "trait", "type", "module", "macro"),
        *("constant", "scope", "impl", "object", "member"),
    )
)

# The captures that are references, and their kinds.
REFERENCE_CAPTURES = {
    **{kind: kind for kind in ("call", "extends", "implements", "use", "import", "value")},
    **{"path": "import", "imports": "import", "component": "call", "attribute": "use"},
}

# The captures of imported names, and of the statements that name their module.
IMPORTED_NAME, IMPORT_STATEMENT = "imported_name", "import_statement"

# The captures of expressions that a name stands for.
_ALIASES = ("made", "same", "assigned", "each", "entered", "yielded", "default", "mapping", "unwrapped")

# The capture of the arguments of a macro.
TOKENS = "tokens"

# Those of Ruby and Scala: names that may be calls or are none, assigned members, symbols that name methods.
_NAME_CAPTURES = ("bare", "skip", "setter", "symbol")

_PLAIN_NAMES = (frozenset(["value"]), frozenset(["bare"]))

_OTHER_CAPTURES = frozenset(
    (*REFERENCE_CAPTURES, "lead", "doc", "registered", TOKENS, IMPORTED_NAME, IMPORT_STATEMENT)
).union(_NAME_CAPTURES)

# What definitions come from, with their attributes and docstrings.
_FOR_OUTLINE = _DEFINITION_CAPTURES | {"lead", "doc"}

_WORD, _OTHER, _SPACE = b"w", b"p", b" \t\r\n\f\v"
# Maps the bytes of words to one letter and all others but white space to another, to find long runs of the
# latter.
_CLASSES = bytes(
    _WORD[0] if byte >= 128 or chr(byte).isalnum() or chr(byte) == "_" else _OTHER[0] for byte in range(256)
)
_RUN = _OTHER * MAX_UNNAMED_RUN

_QUERIES = Path(__file__).with_name("queries")
_CAPTURE = re.compile(r"(?<=\s)@(\w+)")
# A pattern in a query file: it begins at the start of a line, and its other lines are indented.
_PATTERN = re.compile(r"^[(\[].*(?:\n[ \t].*)*", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Pattern:
    """The captures of one pattern of a query, and the words that its @word must be."""

    captures: frozenset[str]
    words: frozenset[bytes]
    defines: str  # the one capture that is a definition, if any
    other_captures: tuple[str, ...]  # references, attributes and docstrings
    plain_call: bool  # a call and nothing else, perhaps with its receiver
    plain_name: str  # the one capture, where it is a name that may be a function used as a value, or a call
    is_head: bool  # a definition that is all signature
    binds: bool  # binds a name
    has_value: bool  # and captures the value
    is_scoped: bool  # the name is bound on some lines only
    alias_capture: str  # the capture of the name or callee that the value is, if any
    role: str  # the kind of binding, where the captures don't tell
    is_name: bool  # each capture is a name that is no symbol, and its kind
    use: str  # the one capture of a pattern of uses


@dataclass(frozen=True, slots=True)
class CompiledGrammar:
    """A parser with the queries for its syntax trees: for all nodes, and for the top level only."""

    parser: Parser
    queries: tuple[tuple[QueryCursor, tuple[Pattern, ...]], ...]

    def parse(self, text: bytes, seconds: float) -> Tree | None:
        """Return the syntax tree of `text`, or None if it took longer than `seconds` of CPU time.

        This is a best effort: on some texts a lexer stays busy after it has read everything. Untrusted files
        are parsed in a process of its own, with a limit by the operating system and none here.
        """
        if seconds == inf or (seconds > 0 and len(text) <= _UNTIMED_BYTES):
            return self.parser.parse(text)
        return self._parse_with_deadline(text, thread_time() + seconds)

    def _parse_with_deadline(self, text: bytes, deadline: float) -> Tree | None:
        """Feed the parser chunk by chunk and pretend that the file ends after the deadline.

        tree-sitter 0.26's own progress callback crashes the interpreter, so the read callback has to do. The
        parser reads some chunks again. These must stay the same, else it crashes too: the file ends with the
        last chunk that was read.
        """
        known = 0  # the parser has read the text up to here
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
    """Return the first offset from here on that is not inside a UTF-8 character."""
    while offset < len(text) and text[offset] & 0xC0 == 0x80:
        offset += 1
    return offset


@cache
def compile_grammar(grammar: Grammar, definitions_only: bool = False) -> CompiledGrammar:
    """Load a grammar and compile its queries, without the patterns of references if `definitions_only`."""
    from tree_sitter import Parser, Query, QueryCursor

    language = load_language(grammar.name)
    sections = _sections(grammar.queries)
    if definitions_only:
        sections |= {each: _outline_patterns(sections[each]) for each in ("", _TOP_LEVEL)}
        sections[_USES] = ""
    # In one pass: another one would take as long as the first.
    everywhere, top = "".join(sections[each] for each in ("", _NAMES, _USES)), sections[_TOP_LEVEL]
    names_start = len(sections[""])
    starts = {everywhere: (names_start, names_start + len(sections[_NAMES])), top: (len(top), len(top))}
    queries = []
    for source, depth in ((everywhere, _MAX_DEPTH), (top, _TOP_DEPTH)):
        if source.strip():
            query = Query(language, source)
            cursor = QueryCursor(query)
            cursor.set_max_start_depth(depth)
            queries.append((cursor, tuple(_patterns(query, source, *starts[source]))))
    return CompiledGrammar(Parser(language), tuple(queries))


def _sections(names: Iterable[str]) -> dict[str, str]:
    """Return the text of each section of query files."""
    sections = dict.fromkeys(("", _TOP_LEVEL, _NAMES, _USES), "")
    for name in names:
        first, *others = _SECTION.split((_QUERIES / f"{name}.scm").read_text("utf-8"))
        for heading, text in (("", first), *zip(others[::2], others[1::2], strict=True)):
            sections[heading] += text
    return sections


def _outline_patterns(source: str) -> str:
    """Return the patterns of definitions, their attributes and docstrings; all take longer to compile."""
    patterns = _PATTERN.findall(source)
    return "\n".join(each for each in patterns if not _FOR_OUTLINE.isdisjoint(_CAPTURE.findall(each)))


def _patterns(query: Query, source: str, names_start: int, uses_start: int) -> list[Pattern]:
    """Return the captures and settings of each pattern, from the query's source, which ends in uses."""
    patterns = []
    for index in range(query.pattern_count):
        start, end = query.start_byte_for_pattern(index), query.end_byte_for_pattern(index)
        settings = query.pattern_settings(index)
        words = settings.get("words") or ""
        captures = frozenset(_CAPTURE.findall(source[start:end]))
        is_name = names_start <= start < uses_start
        defines = "" if is_name else next(iter(captures & _DEFINITION_CAPTURES), "")
        patterns.append(
            Pattern(
                captures,
                frozenset(words.encode().split()),
                defines,
                other_captures=tuple(sorted(captures & _OTHER_CAPTURES)),
                plain_call="call" in captures and captures <= {"call", "on", "args", "trailing"},
                plain_name=next(iter(captures))
                if captures in _PLAIN_NAMES and not settings.get("role")
                else "",
                is_head=defines in ("function", "method", "type") and "head" not in captures,
                binds="bind" in captures,
                has_value=not captures.isdisjoint(("as", "required", *_ALIASES))
                or settings.get("role") == "own",
                is_scoped="within" in captures
                or settings.get("role") in ("loop", "narrowed", "let", "bound"),
                alias_capture=next((each for each in _ALIASES if each in captures), ""),
                role=settings.get("role") or "",
                is_name=is_name,
                use=next(iter(captures)) if start >= uses_start else "",
            )
        )
    return patterns


def has_long_unnamed_run(root: Node, text: bytes) -> bool:
    """Whether a syntax tree has a node with too many unnamed children in a row.

    Punctuation and keywords are unnamed nodes. At each node, tree-sitter's query cursor searches the next
    named sibling and skips the unnamed ones, so a query takes quadratic time on thousands of them. Code has
    few in a row; `((((((…` makes one error node of them all.

    Only nodes with errors are searched, and all nodes if the text has that much punctuation without a word in
    between.
    """
    if len(text) <= MAX_UNNAMED_RUN:
        return False
    everywhere = text.translate(_CLASSES, _SPACE).find(_RUN) >= 0
    if not everywhere and not root.has_error:
        return False
    pending = [root]
    while pending:
        node = pending.pop()
        children = node.children
        if node.child_count - node.named_child_count > MAX_UNNAMED_RUN and _has_long_run(children):
            return True
        pending += [child for child in children if child.child_count and (everywhere or child.has_error)]
    return False


def _has_long_run(children: list[Node]) -> bool:
    """Whether too many of the children in a row are unnamed."""
    run = 0
    for child in children:
        run = 0 if child.is_named else run + 1
        if run > MAX_UNNAMED_RUN:
            return True
    return False
