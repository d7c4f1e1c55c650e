"""Gitignore rules: which pattern of an ignore file speaks last about a path.

Patterns follow gitignore(5). One deliberate difference: `?` and `[…]` match one character where git matches
one byte, so `caf?` matches `café`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

# What makes a pattern more than a literal, in git's sense (a backslash is an escape).
_SPECIAL = frozenset("*?[\\")

# POSIX classes as git knows them: ASCII only.
_POSIX_CLASSES = {
    "alnum": "a-zA-Z0-9",
    "alpha": "a-zA-Z",
    "blank": " \\t",
    "cntrl": "\\x00-\\x1f\\x7f",
    "digit": "0-9",
    "graph": "\\x21-\\x7e",
    "lower": "a-z",
    "print": "\\x20-\\x7e",
    "punct": "\\x21-\\x2f\\x3a-\\x40\\x5b-\\x60\\x7b-\\x7e",
    "space": " \\t-\\r",
    "upper": "A-Z",
    "xdigit": "0-9a-fA-F",
}


@dataclass(frozen=True, slots=True)
class Rule:
    """One pattern of an ignore file."""

    pattern: str  # as written, for reasons shown to people
    negated: bool  # "!pattern": re-includes
    directory_only: bool  # "pattern/"
    by_name: bool  # no slash inside: tried against the last segment at any depth
    glob: str  # what is matched, without "!", leading and trailing "/"


class IgnoreRules:
    """The compiled rules of one ignore file; paths are relative to the folder it stands in."""

    __slots__ = ("_directories", "_files", "rules", "source")

    def __init__(self, lines: Iterable[str], source: str = "") -> None:
        self.source = source
        self.rules = tuple(rule for line in lines if (rule := parse_rule(line)) is not None)
        self._directories = _Table(self.rules)
        # Positions must stay comparable only within one table, so the smaller one may renumber.
        self._files = _Table(tuple(rule for rule in self.rules if not rule.directory_only))

    def __bool__(self) -> bool:
        return bool(self.rules)

    def match(self, path: str, is_directory: bool) -> Rule | None:
        """The last rule that speaks about exactly this path, if any; parents are not looked at."""
        table = self._directories if is_directory else self._files
        return table.last_match(path) if table.rules else None

    def ignores(self, path: str, is_directory: bool = False) -> bool:
        """Whether git would ignore this path: nothing comes back from under an excluded folder."""
        slash = path.find("/")
        while slash >= 0:
            rule = self.match(path[:slash], True)
            if rule is not None and not rule.negated:
                return True
            slash = path.find("/", slash + 1)
        rule = self.match(path, is_directory)
        return rule is not None and not rule.negated


def read_rules(text: str, source: str = "") -> IgnoreRules:
    """The rules in the text of one ignore file."""
    lines = text.removeprefix("\ufeff").split("\n")
    return IgnoreRules((line.removesuffix("\r") for line in lines), source)


def parse_rule(line: str) -> Rule | None:
    """One line of an ignore file; None for comments, blanks and what can never match."""
    if line.startswith("#"):
        return None
    pattern = _trim_trailing_spaces(line)
    glob = pattern.removeprefix("!")
    negated = glob is not pattern and len(glob) < len(pattern)
    directory_only = glob.endswith("/")
    if directory_only:
        glob = glob[:-1]
    by_name = "/" not in glob
    if not by_name:
        glob = glob.removeprefix("/")
    if not glob:
        return None
    return Rule(pattern, negated, directory_only, by_name, glob)


def translate(glob: str, by_name: bool) -> str | None:
    """The regular expression for a glob, to be used with fullmatch; None when it can never match."""
    out: list[str] = []
    at, end = 0, len(glob)
    while at < end:
        character = glob[at]
        if character == "*":
            at = _translate_stars(glob, at, by_name, out)
        elif character == "?":
            out.append("[^/]")
            at += 1
        elif character == "[":
            parsed = _translate_class(glob, at + 1)
            if parsed is None:
                return None
            piece, at = parsed
            out.append(piece)
        elif character == "\\":
            if at + 1 == end:
                return None
            out.append(re.escape(glob[at + 1]))
            at += 2
        else:
            out.append(re.escape(character))
            at += 1
    return "".join(out)


class _Table:
    """Rules sorted by how they can be looked up, so that most paths cost a few dictionary look-ups."""

    __slots__ = ("_any_glob", "_globs", "_literals", "_names", "_suffix_places", "_suffixes", "rules")

    def __init__(self, rules: tuple[Rule, ...]) -> None:
        self.rules = rules
        self._names: dict[str, int] = {}
        self._literals: dict[str, int] = {}
        self._suffix_places: dict[str, int] = {}
        # The rest, last rule first: place and matcher over "/path" (by path) or the same (by name).
        self._globs: list[tuple[int, Callable[[str], Any]]] = []
        expressions = []
        for place, rule in enumerate(rules):
            expression = self._file(place, rule)
            if expression is not None:
                expressions.append(expression)
                self._globs.insert(0, (place, re.compile(expression, re.DOTALL).fullmatch))
        self._suffixes = tuple(self._suffix_places)
        self._any_glob = re.compile("|".join(expressions), re.DOTALL).fullmatch if expressions else None

    def _file(self, place: int, rule: Rule) -> str | None:
        """Put a rule where it is found fastest; returns its expression when only that will do."""
        glob = rule.glob
        if _SPECIAL.isdisjoint(glob):
            (self._names if rule.by_name else self._literals)[glob] = place
            return None
        if rule.by_name and glob[0] == "*" and _SPECIAL.isdisjoint(glob[1:]):
            self._suffix_places[glob[1:]] = place
            return None
        expression = translate(glob, rule.by_name)
        if expression is None:
            return None
        return f"(?:.*/)?{expression}" if rule.by_name else expression

    def last_match(self, path: str) -> Rule | None:
        """The last rule that matches, or None."""
        name = path[path.rfind("/") + 1 :]
        best = self._names.get(name, -1)
        if self._literals:
            best = max(best, self._literals.get(path, -1))
        if self._suffixes and name.endswith(self._suffixes):
            best = max(best, *(at for suffix, at in self._suffix_places.items() if name.endswith(suffix)))
        if self._any_glob is not None and self._any_glob(path):
            best = max(best, next(at for at, matches in self._globs if matches(path)))
        return self.rules[best] if best >= 0 else None


def _trim_trailing_spaces(line: str) -> str:
    """Drop spaces at the end unless a backslash keeps them."""
    kept = line.rstrip(" ")
    if kept == line:
        return line
    backslashes = len(kept) - len(kept.rstrip("\\"))
    return kept + " " if backslashes % 2 else kept


def _translate_stars(glob: str, at: int, by_name: bool, out: list[str]) -> int:
    """Translate the run of stars at `at`; returns where the pattern goes on."""
    stop = at
    while stop < len(glob) and glob[stop] == "*":
        stop += 1
    at_start = at == 0 or glob[at - 1] == "/"
    rest = glob[stop : stop + 2]
    if by_name or stop - at == 1 or not at_start or not (rest == "" or rest[0] == "/" or rest == "\\/"):
        out.append("[^/]*")
        return stop
    if rest[:1] == "/":
        out.append("(?:.*/)?")
        return stop + 1
    out.append(".*")
    return stop


def _translate_class(glob: str, at: int) -> tuple[str, int] | None:
    """Translate a bracket expression whose "[" stands before `at`; None when it is malformed."""
    negated = glob[at : at + 1] in ("!", "^") and at < len(glob)
    if negated:
        at += 1
    items: list[str] = []
    previous = ""  # the character a following "-" would start a range from
    first = True
    while first or glob[at : at + 1] != "]":
        first = False
        if at >= len(glob):
            return None
        character = glob[at]
        if character == "\\":
            at += 1
            if at >= len(glob):
                return None
            previous = glob[at]
            items.append(_in_class(previous))
        elif character == "-" and previous and glob[at + 1 : at + 2] not in ("", "]"):
            at += 1
            if glob[at] == "\\":
                at += 1
                if at >= len(glob):
                    return None
            if previous <= glob[at]:
                items.append(f"{_in_class(previous)}-{_in_class(glob[at])}")
            previous = ""
        elif character == "[" and glob[at + 1 : at + 2] == ":":
            close = glob.find("]", at + 2)
            if close < 0:
                return None
            if close > at + 2 and glob[close - 1] == ":":
                members = _POSIX_CLASSES.get(glob[at + 2 : close - 1])
                if members is None:
                    return None
                items.append(members)
                at, previous = close, ""
            else:
                items.append("\\[")
                previous = character
        else:
            items.append(_in_class(character))
            previous = character
        at += 1
    body = "".join(items)
    # Brackets never match a slash; an empty set (a reversed range) matches nothing.
    if negated:
        return f"[^/{body}]", at + 1
    return (f"(?!/)[{body}]" if body else "(?!)"), at + 1


def _in_class(character: str) -> str:
    """A character as it must be written inside a regular expression's brackets."""
    return "\\" + character if character in "\\]^-[&~|" else character
