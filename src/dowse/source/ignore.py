"""Gitignore pattern matching (pathspecs): the last pattern of an ignore file that matches a path decides.

Patterns follow gitignore(5). One deliberate difference: `?` and `[…]` match one character where git matches
one byte, so `caf?` matches `café`.

Ignore files are untrusted, so neither patterns nor names may make matching slow (ReDoS): see `translate`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice

from dowse.lazy_classes import dataclass

# Of one ignore file. Hand-written files have some hundred rules; a pattern longer than the longest path can't
# match.
MAX_RULES, MAX_PATTERN_CHARACTERS = 10_000, 4096
# Up to so many suffixes, one `endswith` call is faster than a look-up for each length.
_FEW_SUFFIXES = 64

# The characters that make a pattern more than a literal (a backslash is an escape).
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

    pattern: str  # as written, for messages
    negated: bool  # "!pattern": re-includes
    directory_only: bool  # "pattern/"
    by_name: bool  # no slash inside: matched against the last segment at any depth
    glob: str  # what is matched, without "!", leading and trailing "/"


class IgnoreRules:
    """The compiled rules of one ignore file; paths are relative to its folder."""

    __slots__ = ("_directories", "_files", "rules", "source")

    def __init__(self, lines: Iterable[str], source: str = "") -> None:
        self.source = source
        self.rules = tuple(rule for line in lines if (rule := parse_rule(line)) is not None)
        self._directories = _Table(self.rules)
        # Positions are only compared within one table, so the smaller one may renumber.
        for_files = tuple(rule for rule in self.rules if not rule.directory_only)
        self._files = self._directories if len(for_files) == len(self.rules) else _Table(for_files)

    def __bool__(self) -> bool:
        return bool(self.rules)

    def match(self, path: str, is_directory: bool) -> Rule | None:
        """Return the last rule that matches exactly this path, if any; parents are not considered."""
        table = self._directories if is_directory else self._files
        return table.last_match(path) if table.rules else None

    def ignores(self, path: str, is_directory: bool = False) -> bool:
        """Whether git would ignore this path: nothing comes back from inside an excluded folder."""
        slash = path.find("/")
        while slash >= 0:
            rule = self.match(path[:slash], True)
            if rule is not None and not rule.negated:
                return True
            slash = path.find("/", slash + 1)
        rule = self.match(path, is_directory)
        return rule is not None and not rule.negated


def read_rules(text: str, source: str = "") -> IgnoreRules:
    """Return the rules in the text of one ignore file, within the limits."""
    lines = (line.removesuffix("\r") for line in text.removeprefix("\ufeff").split("\n"))
    rules = (line for line in lines if line and line[0] != "#" and len(line) <= MAX_PATTERN_CHARACTERS)
    return IgnoreRules(islice(rules, MAX_RULES), source)


def _is_literal(rule: Rule) -> bool:
    return _SPECIAL.isdisjoint(rule.glob)


def _is_suffix(rule: Rule) -> bool:
    return rule.by_name and rule.glob[0] == "*" and _SPECIAL.isdisjoint(rule.glob[1:])


def parse_rule(line: str) -> Rule | None:
    """Parse one line of an ignore file; None for comments, blanks and what can never match."""
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


# Tokens of a glob that match more than one character, and the separator: `*`, `/`, `**/`, `**` at the end.
_STAR, _SLASH, _ANY_FOLDERS, _ANYTHING = "*", "/", "**/", "**"


def translate(glob: str, by_name: bool) -> str | None:
    """Translate a glob into a regular expression for fullmatch; None if it can never match.

    Every gap (`*`, `**`) but the last is an atomic group that ends at the first position where what follows
    it matches. What follows has a fixed number of characters (or folders), so the first position is as good
    as any other, and there is no backtracking: `*a*a*a*b` takes time linear in a name of `a`.
    """
    tokens = _tokens(glob, by_name)
    if tokens is None:
        return None
    out: list[str] = []
    gap = ""
    part: list[str] = []
    for token in tokens:
        if token not in (_ANY_FOLDERS, _ANYTHING):
            part.append(token)
        elif part or not gap:
            out.append(_translate_part(gap, part, is_last=False))
            gap, part = token, []
        elif token == _ANYTHING:  # gaps in a row are one
            gap = token
    return "".join((*out, _translate_part(gap, part, is_last=True)))


def _translate_part(gap: str, part: list[str], *, is_last: bool) -> str:
    """Translate the part between two `**`, with the gap before it."""
    body = "".join(_translate_names(part))[:-1]  # without the slash after the last name
    if not gap:
        return body
    if is_last:
        return f"(?:.*/)?{body}" if gap == _ANY_FOLDERS else f".*{body}"
    return f"(?>(?:[^/]*/)*?{body})" if gap == _ANY_FOLDERS else f"(?>.*?{body})"


def _translate_names(part: list[str]) -> Iterator[str]:
    """Translate the segments of a path, each with a slash after it."""
    chunks: list[list[str]] = [[]]  # of one segment, between its stars
    for token in (*part, _SLASH):
        if token == _STAR:
            chunks.append([])
        elif token == _SLASH:
            first, *others = map("".join, chunks)
            yield first
            for chunk in others[:-1]:
                yield f"(?>[^/]*?{chunk})"
            if others:
                yield f"[^/]*{others[-1]}"
            yield _SLASH
            chunks = [[]]
        else:
            chunks[-1].append(token)


def _tokens(glob: str, by_name: bool) -> list[str] | None:
    """Split a glob into gaps, slashes and expressions for one character; None if it can never match."""
    out: list[str] = []
    at, end = 0, len(glob)
    while at < end:
        character = glob[at]
        if character == "*":
            token, at = _star_token(glob, at, by_name)
            out.append(token)
        elif character == "[":
            parsed = _translate_class(glob, at + 1)
            if parsed is None:
                return None
            piece, at = parsed
            out.append(piece)
        else:
            if character == "\\":
                at += 1
                if at == end:
                    return None
            out.append("[^/]" if character == "?" else _literal(glob[at]))
            at += 1
    return out


def _star_token(glob: str, at: int, by_name: bool) -> tuple[str, int]:
    """Return the token for the run of stars at `at`, and the offset after it."""
    stop = at
    while stop < len(glob) and glob[stop] == "*":
        stop += 1
    at_start = at == 0 or glob[at - 1] == "/"
    tail = glob[stop : stop + 2]
    if by_name or stop - at == 1 or not at_start or not (tail == "" or tail[0] == "/" or tail == "\\/"):
        return _STAR, stop
    return (_ANY_FOLDERS, stop + 1) if tail[:1] == "/" else (_ANYTHING, stop)


def _literal(character: str) -> str:
    return _SLASH if character == "/" else re.escape(character)


class _Table:
    """Rules grouped by kind of look-up, so that most paths cost a few dictionary look-ups."""

    __slots__ = ("_few_suffixes", "_literals", "_name_globs", "_names", "_path_globs", "_suffixes", "rules")

    def __init__(self, rules: tuple[Rule, ...]) -> None:
        self.rules = rules
        self._names: dict[str, int] = {}
        self._literals: dict[str, int] = {}
        suffixes: dict[str, int] = {}
        self._name_globs, self._path_globs = _Globs(by_name=True), _Globs(by_name=False)
        for position, rule in enumerate(rules):
            if _is_literal(rule):
                (self._names if rule.by_name else self._literals)[rule.glob] = position
            elif _is_suffix(rule):
                suffixes[rule.glob[1:]] = position
            else:
                (self._name_globs if rule.by_name else self._path_globs).add(position, rule.glob)
        self._suffixes = _Suffixes(suffixes)
        self._few_suffixes = tuple(suffixes) if len(suffixes) <= _FEW_SUFFIXES else ("",)

    def last_match(self, path: str) -> Rule | None:
        """Return the last rule that matches, or None."""
        name = path[path.rfind("/") + 1 :]
        best = self._names.get(name, -1)
        if self._literals:
            best = max(best, self._literals.get(path, -1))
        if name.endswith(self._few_suffixes):
            best = max(best, self._suffixes.last_match(name))
        match = self._name_globs.match(name)
        if match:
            best = max(best, self._name_globs.positions[match.lastindex or 0])
        match = self._path_globs.match(path)
        if match:
            best = max(best, self._path_globs.positions[match.lastindex or 0])
        return self.rules[best] if best >= 0 else None


class _Suffixes:
    """Rules like `*.log`: suffixes of names with the positions of their rules."""

    __slots__ = ("_lengths", "_positions")

    def __init__(self, positions: dict[str, int]) -> None:
        self._positions = positions
        self._lengths = sorted({len(suffix) for suffix in positions})

    def last_match(self, name: str) -> int:
        """Return the position of the last rule whose suffix a name has, or -1."""
        size = len(name)
        fitting = (name[size - length :] for length in self._lengths if length <= size)
        return max((self._positions.get(suffix, -1) for suffix in fitting), default=-1)


class _Globs:
    """Rules with wildcards, joined to one regular expression that is compiled for the first path."""

    __slots__ = ("_by_name", "_globs", "match", "positions")

    def __init__(self, by_name: bool) -> None:
        self._by_name = by_name
        self._globs: list[tuple[int, str]] = []
        self.positions = [-1]  # by the group number of a rule in the expression; groups count from 1
        # Replaced by the compiled expression: a call less for every path.
        self.match: Callable[[str], re.Match[str] | None] = _match_nothing

    def add(self, position: int, glob: str) -> None:
        """Add a rule."""
        self._globs.append((position, glob))
        self.match = self._compile_and_match

    def _compile_and_match(self, text: str) -> re.Match[str] | None:
        """Compile the rules, last one first: the regex engine takes the first alternative that matches."""
        expressions = []
        for position, glob in reversed(self._globs):
            expression = translate(glob, self._by_name)
            if expression is not None:
                self.positions.append(position)
                expressions.append(f"({expression})")
        self._globs.clear()
        self.match = re.compile("|".join(expressions), re.DOTALL).fullmatch if expressions else _match_nothing
        return self.match(text)


def _match_nothing(_text: str) -> None:
    """Match function of an empty set of rules."""


def _trim_trailing_spaces(line: str) -> str:
    """Strip trailing spaces unless a backslash escapes them."""
    kept = line.rstrip(" ")
    if kept == line:
        return line
    backslashes = len(kept) - len(kept.rstrip("\\"))
    return kept + " " if backslashes % 2 else kept


def _translate_class(glob: str, at: int) -> tuple[str, int] | None:
    """Translate the bracket expression after the "[" before `at`; None if it is malformed."""
    negated = glob[at : at + 1] in ("!", "^") and at < len(glob)
    if negated:
        at += 1
    items: list[str] = []
    previous = ""  # the character that a following "-" would start a range from
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
    """Escape a character for a regular expression's character class."""
    return "\\" + character if character in "\\]^-[&~|" else character
