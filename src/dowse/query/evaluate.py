"""Evaluation of constraints: three-valued boolean logic, filters on metadata, globs."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from dowse import deadline
from dowse.errors import QueryError
from dowse.query.ast import (
    And,
    Constraint,
    KindFilter,
    LangFilter,
    Leaf,
    Not,
    Or,
    PathFilter,
    RepoFilter,
    RowsFilter,
    SymFilter,
    WithinFilter,
)
from dowse.query.regex import re2_engine
from dowse.types import SymbolRow

# Longer than any path or name; the time to match one is at worst linear in this.
_MAX_GLOB = 1_000
_GLOB = re.compile(r"/\*\*(?=/)|(?:^|(?<=/))\*\*/|\*+|\?|[^*?]")


def matches_row(leaf: Leaf, row: SymbolRow) -> bool | None:
    """Whether a symbol meets a filter; None for words, phrases and regexes, which depend on its text."""
    if isinstance(leaf, LangFilter):
        return leaf.language == row.language
    if isinstance(leaf, KindFilter):
        return leaf.kind == row.kind
    if isinstance(leaf, PathFilter):
        return path_matches(leaf.glob, row.path)
    if isinstance(leaf, WithinFilter):
        return is_within(leaf.path, row.path)
    if isinstance(leaf, RowsFilter):
        return row.row in leaf.rows
    if isinstance(leaf, RepoFilter):
        return path_matches(leaf.glob, row.repo)
    if isinstance(leaf, SymFilter):
        return symbol_matches(leaf.glob, row.name, row.qualified_name)
    return None


def evaluate(constraint: Constraint | None, decide: Callable[[Leaf], bool | None]) -> bool | None:
    """Evaluate a constraint in three-valued logic (Kleene); None means unknown."""
    if constraint is None:
        return True
    if isinstance(constraint, Not):
        inner = evaluate(constraint.part, decide)
        return None if inner is None else not inner
    if not isinstance(constraint, And | Or):
        return decide(constraint)
    decisive = isinstance(constraint, Or)
    result: bool | None = not decisive
    for part in constraint.parts:
        value = evaluate(part, decide)
        if value is decisive:
            return decisive
        result = None if value is None else result
    return result


def path_matches(glob: str, path: str) -> bool:
    """Whether a glob matches whole components of a path or, without * and ?, any part of it; smart case."""
    if not any(char in glob for char in "*?"):
        return glob.lstrip("/") in path if has_upper(glob) else glob.lstrip("/") in path.lower()
    deadline.check()
    return _path_regex(glob).fullmatch(path.encode(errors="replace")) is not None


def is_within(place: str, path: str) -> bool:
    """Whether a path is a place or below it."""
    return path == place or path.startswith(f"{place}/")


def symbol_matches(glob: str, name: str, qualified_name: str) -> bool:
    """Whether a glob matches a name or the last segments of a qualified one; `::` is `.`; smart case."""
    deadline.check()
    regex = _symbol_regex(glob)
    return any(regex.fullmatch(each.encode(errors="replace")) for each in (name, qualified_name))


def glob_to_regex(glob: str) -> str:
    """Translate a glob: `*` and `?` stay within a path component, `**` crosses them."""
    if len(glob) > _MAX_GLOB:
        raise QueryError(f"a filter of more than {_MAX_GLOB:,} characters; shorten it with * and ?")
    return "".join(map(_glob_piece, _GLOB.findall(glob)))


def _glob_piece(piece: str) -> str:
    if piece == "/**":
        return "(?:/[^/]+)*"
    if piece == "**/":
        return "(?:[^/]+/)*"
    if piece == "?":
        return "[^/]"
    if piece.startswith("*"):
        return "[^/]*" if piece == "*" else ".*"
    return piece if piece.isalnum() else rf"\x{{{ord(piece):x}}}"


@lru_cache(maxsize=8)
def _path_regex(glob: str) -> re2_engine.Regex:
    """Compile a glob for whole components of a path."""
    start = "" if glob.startswith("/") else "(?:.*/)?"
    fold = "" if has_upper(glob) else "(?i)"
    return re2_engine.compile_re2(f"{fold}{start}{glob_to_regex(glob.strip('/'))}(?:/.*)?")


@lru_cache(maxsize=8)
def _symbol_regex(glob: str) -> re2_engine.Regex:
    plain = glob.replace("::", ".").replace("#", ".")
    fold = "" if has_upper(glob) else "(?i)"
    body = glob_to_regex(re.sub(r"\*+", "**", plain).replace("/", "."))
    return re2_engine.compile_re2(rf"{fold}(?:.*\.)?{body}")


def has_upper(text: str) -> bool:
    """Whether smart case makes this case-sensitive."""
    return any(char.isupper() for char in text)
