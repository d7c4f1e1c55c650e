"""The trigrams that a text must contain for a pattern to match.

After Cox 2012, "Regular Expression Matching with a Trigram Index". The index stores each three consecutive
characters of a text, lower-cased. A trigram query has false positives, but no false negatives.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import TYPE_CHECKING

from dowse.lazy_classes import dataclass
from dowse.query.regex.ast import Alternate, Assertion, CharClass, Concat, Literal, Node, Repeat

if TYPE_CHECKING:
    from dowse.query.regex.matcher import Pattern

# Alternative strings that are kept; with more, an alternative costs more lookups than it saves.
MAX_STRINGS = 12
# Characters of a class that are enumerated.
MAX_CLASS = 6
# Copies of a counted repetition that are unrolled.
MAX_COPIES = 3
# Trigrams of one string; more add little to the filter.
MAX_TRIGRAMS = 24
# Conditions of one pattern; more take quadratic time to compare, and rule out hardly any other file.
MAX_CONDITIONS = 32
# Stands for "s or ſ", the only two characters with one ASCII case folding that str.lower() keeps apart.
_EITHER_S = "\ue000"


@dataclass(frozen=True, slots=True)
class All:
    """No constraint."""


@dataclass(frozen=True, slots=True)
class Trigram:
    """The text contains this trigram."""

    text: str


@dataclass(frozen=True, slots=True)
class And:
    """All parts hold."""

    parts: tuple[TrigramQuery, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """Some part holds."""

    parts: tuple[TrigramQuery, ...]


TrigramQuery = All | Trigram | And | Or


def required_trigrams(pattern: Pattern) -> TrigramQuery:
    """Return the trigram query that every matching text satisfies."""
    return _all_of(_conditions(_analyse(pattern.node)))


@dataclass(frozen=True, slots=True)
class _Info:
    """What is known of the matches of a node.

    `exact` lists all of them, or is None; every match starts with one of `prefixes` and ends with one of
    `suffixes`; `match` are conditions that hold for every match.
    """

    exact: frozenset[str] | None
    prefixes: frozenset[str]
    suffixes: frozenset[str]
    match: frozenset[TrigramQuery] = frozenset()


_NOTHING = frozenset({""})
_UNKNOWN = _Info(None, _NOTHING, _NOTHING)
_EMPTY = _Info(_NOTHING, _NOTHING, _NOTHING)


def _analyse(node: Node) -> _Info:
    """Return what is known of the matches of a node."""
    if isinstance(node, Literal):
        return _exactly(_spelled(node.char, node.fold))
    if isinstance(node, CharClass):
        return _exactly(_class_strings(node))
    if isinstance(node, Assertion):
        return _EMPTY
    if isinstance(node, Concat):
        return _concat(map(_analyse, node.parts))
    if isinstance(node, Alternate):
        return _alternate([_analyse(part) for part in node.parts])
    if isinstance(node, Repeat):
        return _repeat(node)
    return _UNKNOWN


def _exactly(strings: frozenset[str] | None) -> _Info:
    """Return the info of a known, small set of matches."""
    return _Info(strings, strings, strings) if strings else _UNKNOWN


def _spelled(char: str, fold: bool) -> frozenset[str] | None:
    """Return the spellings of a character in the text, before lower-casing, None if they are unknown."""
    if char == _EITHER_S:
        return None
    if not fold:
        return frozenset({char})
    if not char.isascii():
        return None  # characters with the same case folding can have different lower-case forms
    return frozenset({_EITHER_S if char in "sS" else char.lower()})


def _class_strings(node: CharClass) -> frozenset[str] | None:
    """Enumerate a small class."""
    chars: set[str] = set()
    for item in node.chars.items:
        if node.chars.negated or not isinstance(item, tuple) or item[1] - item[0] >= MAX_CLASS:
            return None
        chars.update(map(chr, range(item[0], item[1] + 1)))
    spellings = [_spelled(char, node.fold) for char in chars - {"\n"}]
    if len(spellings) > MAX_CLASS:
        return None
    known = [spelling for spelling in spellings if spelling is not None]
    return frozenset().union(*known) if len(known) == len(spellings) else None


def _repeat(node: Repeat) -> _Info:
    """Unroll a repetition, with an unknown string between the copies."""
    inner = _analyse(node.node)
    if (node.low, node.high) == (0, 1):
        return _alternate([inner, _EMPTY])
    if node.low == 0:
        return _EMPTY if node.high == 0 else _UNKNOWN
    if node.low == node.high and node.low <= MAX_COPIES:
        return _concat([inner] * node.low)
    if node.low == 1:
        return _Info(None, inner.prefixes, inner.suffixes, _conditions(inner))
    return _concat([*[inner] * min(node.low - 1, MAX_COPIES), _UNKNOWN, inner])


def _concat(infos: Iterable[_Info]) -> _Info:
    """Join neighbours; those of known strings first, since joins with anything else repeat their trigrams."""
    result = known = _EMPTY
    for info in infos:
        if joined := _join_exact(known, info):
            known = joined
        elif len(result.match) > MAX_CONDITIONS:  # the rest may be anything
            return _join(result, _UNKNOWN)
        else:
            result, known = _join(result, known), info
    return _join(result, known)


def _join_exact(left: _Info, right: _Info) -> _Info | None:
    """Join two small sets of matches; None if one is unknown, or their product is not small."""
    if left.exact is None or right.exact is None or len(left.exact) * len(right.exact) > MAX_STRINGS:
        return None
    return _exactly(_cross(left.exact, right.exact))


def _join(left: _Info, right: _Info) -> _Info:
    if exact := _join_exact(left, right):
        return exact
    across = _condition(_cross(_ends(left.suffixes, last=True), _ends(right.prefixes, last=False)))
    prefixes = left.prefixes if left.exact is None else _cross(left.exact, right.prefixes)
    suffixes = right.suffixes if right.exact is None else _cross(left.suffixes, right.exact)
    match = _conditions(left) | _conditions(right) | across
    return _Info(None, _bounded(prefixes, last=False), _bounded(suffixes, last=True), match)


def _alternate(infos: list[_Info]) -> _Info:
    exact = [info.exact for info in infos if info.exact is not None]
    if len(exact) == len(infos) and sum(map(len, exact)) <= MAX_STRINGS:
        return _exactly(frozenset().union(*exact))
    prefixes = frozenset().union(*(info.prefixes for info in infos))
    suffixes = frozenset().union(*(info.suffixes for info in infos))
    match = _as_set(_any_of([_all_of(_conditions(info)) for info in infos]))
    return _Info(None, _bounded(prefixes, last=False), _bounded(suffixes, last=True), match)


def _conditions(info: _Info) -> frozenset[TrigramQuery]:
    """Return the conditions of an info, with those that its strings imply."""
    if info.exact is not None:
        return info.match | _condition(info.exact)
    return info.match | _condition(info.prefixes) | _condition(info.suffixes)


def _cross(left: frozenset[str], right: frozenset[str]) -> frozenset[str]:
    """Return the cross product: every string of one set followed by every string of the other."""
    return frozenset(a + b for a, b in product(left, right))


def _ends(strings: frozenset[str], *, last: bool) -> frozenset[str]:
    """Return the two characters of each string that can be part of a trigram across the border."""
    return _bounded(frozenset((s[-2:] if last else s[:2]) for s in strings), last=last)


def _bounded(strings: frozenset[str], *, last: bool) -> frozenset[str]:
    """Shorten strings until there are few enough of them."""
    size = 3
    while len(strings) > MAX_STRINGS and size > 0:
        size -= 1
        strings = frozenset((s[len(s) - min(size, len(s)) :] if last else s[:size]) for s in strings)
    return strings


def _condition(strings: frozenset[str]) -> frozenset[TrigramQuery]:
    """Return the condition that the text contains one of the strings."""
    if not strings or len(strings) > MAX_STRINGS * MAX_STRINGS or any(len(s) < 3 for s in strings):
        return frozenset()
    return _as_set(_any_of([_all_of(_trigram_conditions(s)) for s in strings]))


def _trigram_conditions(string: str) -> frozenset[TrigramQuery]:
    conditions = {_trigram_condition(string[i : i + 3]) for i in range(min(len(string) - 2, MAX_TRIGRAMS))}
    return frozenset(conditions - {All()})


def _trigram_condition(three: str) -> TrigramQuery:
    spellings = product(*("sſ" if char == _EITHER_S else char for char in three))
    options = ["".join(spelling) for spelling in spellings]
    if any(_has_irregular_lower(option) for option in options):
        return All()
    return _any_of([Trigram(option.lower()) for option in options])


def _has_irregular_lower(three: str) -> bool:
    """Whether lower-casing depends on the context or changes the length (final sigma, dotted I)."""
    return [char.lower() for char in three] != list(three.lower())


def _as_set(query: TrigramQuery) -> frozenset[TrigramQuery]:
    """Split a conjunction into its parts."""
    if isinstance(query, All):
        return frozenset()
    return frozenset(query.parts) if isinstance(query, And) else frozenset({query})


def _all_of(parts: frozenset[TrigramQuery]) -> TrigramQuery:
    """Return the simplest conjunction of queries, in an order that does not change between runs."""
    trigrams = sorted(part.text for part in parts if isinstance(part, Trigram))
    kept: list[TrigramQuery] = list(map(Trigram, trigrams))  # none implies another
    for part in sorted(parts.difference(kept), key=repr):
        if not any(_implies(other, part) for other in kept):
            kept = [*(other for other in kept if not _implies(part, other)), part]
    if not kept:
        return All()
    return kept[0] if len(kept) == 1 else And(tuple(kept))


def _any_of(options: list[TrigramQuery]) -> TrigramQuery:
    """Return the simplest disjunction of queries; conditions that all share are factored out."""
    flat = {inner for option in options for inner in (option.parts if isinstance(option, Or) else (option,))}
    if All() in flat or len(flat) > MAX_STRINGS:
        return All()
    kept: list[TrigramQuery] = []
    for option in sorted(flat, key=repr):
        if not any(_implies(option, other) for other in kept):
            kept = [*(other for other in kept if not _implies(other, option)), option]
    if len(kept) == 1:
        return kept[0]
    shared = frozenset.intersection(*map(_as_set, kept))
    rests = [_all_of(_as_set(option) - shared) for option in kept]
    return _all_of(shared | {Or(tuple(rests))})


def _implies(strong: TrigramQuery, weak: TrigramQuery) -> bool:
    """Whether `strong` implies `weak`, as far as their structure tells."""
    if strong == weak:
        return True
    if isinstance(strong, Or):
        return all(_implies(option, weak) for option in strong.parts)
    if isinstance(weak, And):
        return all(_implies(strong, part) for part in weak.parts)
    if isinstance(weak, Or) and any(_implies(strong, option) for option in weak.parts):
        return True
    return isinstance(strong, And) and any(_implies(part, weak) for part in strong.parts)
