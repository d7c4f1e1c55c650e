"""The AST of a regular expression in Rust's syntax, with flags already resolved into the nodes."""

from __future__ import annotations

from typing import Literal as Choice

from dowse.lazy_classes import dataclass

Range = tuple[int, int]  # inclusive code points
# Upper bounds of RE2's instructions for one character, by measurement: of Unicode tables, of a range beyond
# ASCII (which a folded one may become), and of all characters but some.
_TABLE, _TABLES = 1_500, {"d": 100, "s": 40, "w": 1_500}
_WIDE_RANGE, _COMPLEMENT = 10, 16


@dataclass(frozen=True, slots=True)
class Perl:
    r"""One of \d \s \w, or its negation."""

    name: str
    negated: bool


@dataclass(frozen=True, slots=True)
class Property:
    r"""A Unicode property such as \p{Greek}, by the body RE2 understands inside a class."""

    body: str
    negated: bool


@dataclass(frozen=True, slots=True)
class Posix:
    """An ASCII class such as [:alpha:]."""

    name: str
    negated: bool


@dataclass(frozen=True, slots=True)
class CharSet:
    """The content of brackets: a union of items, possibly negated."""

    items: tuple[ClassItem, ...]
    negated: bool = False


@dataclass(frozen=True, slots=True)
class SetOperation:
    """Intersection, difference or symmetric difference of two sets."""

    operator: Choice["&&", "--", "~~"]
    left: ClassItem
    right: ClassItem


ClassItem = Range | Perl | Property | Posix | CharSet | SetOperation


@dataclass(frozen=True, slots=True)
class Literal:
    """One character; `fold` ignores its case."""

    char: str
    fold: bool = False


@dataclass(frozen=True, slots=True)
class CharClass:
    """One character out of a set; `fold` ignores case."""

    chars: CharSet
    fold: bool = False


@dataclass(frozen=True, slots=True)
class Dot:
    """Any character but a line feed (no match crosses lines, so the s flag changes nothing)."""


@dataclass(frozen=True, slots=True)
class Assertion:
    """A zero-width assertion: start or end of the line, word boundary or its absence."""

    kind: Choice["start", "end", "boundary", "not_boundary"]


@dataclass(frozen=True, slots=True)
class Concat:
    """One part after the other; without parts, the empty match."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Alternate:
    """The first alternative that matches."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """`node` between `low` and `high` times (None: any number)."""

    node: Node
    low: int
    high: int | None
    greedy: bool = True


Node = Literal | CharClass | Dot | Assertion | Concat | Alternate | Repeat


def has_boundary(node: Node) -> bool:
    r"""Whether \b or \B occurs, which RE2 supports for ASCII only."""
    if isinstance(node, Concat | Alternate):
        return any(map(has_boundary, node.parts))
    if isinstance(node, Repeat):
        return has_boundary(node.node)
    return isinstance(node, Assertion) and node.kind in ("boundary", "not_boundary")


def literal_text(node: Node) -> str | None:
    """Return the text of a case-sensitive literal, None for any other pattern."""
    parts = node.parts if isinstance(node, Concat) else (node,)
    if all(isinstance(part, Literal) and not part.fold for part in parts):
        return "".join(part.char for part in parts if isinstance(part, Literal))
    return None


def whole_word(node: Node) -> tuple[bool, bool] | None:
    r"""Whether \b is before and after a literal; None for any other pattern."""
    parts = node.parts if isinstance(node, Concat) else ()
    edge = Assertion("boundary")
    before, after = parts[:1] == (edge,), parts[-1:] == (edge,)
    inner = parts[before : len(parts) - after]
    return (before, after) if inner and all(isinstance(part, Literal) for part in inner) else None


def program_size(node: Node, *, ascii_text: bool) -> int:
    """Return a bound on the number of instructions of RE2's program; `ascii_text` as in `translate.to_re2`.

    The time to compile it is linear in that.
    """
    if isinstance(node, Literal):
        return 1 if node.char.isascii() and not node.fold else 4
    if isinstance(node, CharClass):
        return _WIDE_RANGE * node.fold + _set_size(node.chars, ascii_text)
    if isinstance(node, Dot):
        return _COMPLEMENT
    if isinstance(node, Assertion):
        return 1
    if isinstance(node, Repeat):
        copies = max(node.low, 1) if node.high is None else node.high
        return 1 + copies * (1 + program_size(node.node, ascii_text=ascii_text))
    return 1 + sum(1 + program_size(part, ascii_text=ascii_text) for part in node.parts)


def _set_size(item: ClassItem, ascii_text: bool) -> int:
    if isinstance(item, tuple):
        return 1 if item[1] < 128 else _WIDE_RANGE
    if isinstance(item, CharSet):
        return _COMPLEMENT * item.negated + sum(_set_size(each, ascii_text) for each in item.items)
    if isinstance(item, Posix) or (isinstance(item, Perl) and ascii_text):
        return _COMPLEMENT
    return _TABLES[item.name] if isinstance(item, Perl) else _TABLE
