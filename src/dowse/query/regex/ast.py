"""The AST of a regular expression in Rust's syntax, with flags already resolved into the nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as Choice

Range = tuple[int, int]  # inclusive code points


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
