"""Character classes as RE2 writes them; what RE2 has no syntax for is worked out as explicit ranges."""

from __future__ import annotations

from functools import cache, lru_cache

from dowse.query.regex import re2_engine
from dowse.query.regex.ast import CharClass, CharSet, ClassItem, Perl, Posix, Property, Range, SetOperation
from dowse.query.regex.unicode_properties import DIGIT_BODY, SPACE_BODY, WORD_BODY

LAST = 0x10FFFF
_UNICODE = {"d": DIGIT_BODY, "s": SPACE_BODY, "w": WORD_BODY}
_ASCII = {"d": "0-9", "s": r"\t-\r ", "w": "0-9A-Za-z_"}


def render_class(node: CharClass, *, ascii_text: bool) -> str:
    """Write a class for RE2; with `ascii_text` the small tables do, as the text holds nothing else."""
    chars = node.chars
    sign = "^" if chars.negated else ""
    only = chars.items[0] if len(chars.items) == 1 else None
    if isinstance(only, Perl):  # a lone \W needs no table: it is a negated union
        sign = "^" if chars.negated != only.negated else ""
        body: str | None = (_ASCII if ascii_text else _UNICODE)[only.name]
    else:
        body = _union_body(chars.items, ascii_text)
    if body is None:
        return _with_fold(f"[{_ranges_body(class_ranges(node))}]", fold=False)
    return _with_fold(f"[{sign}{body}]", node.fold)


@lru_cache(maxsize=64)
def class_ranges(node: CharClass) -> tuple[Range, ...]:
    """Work out which code points a class holds, line feed included."""
    return tuple(_evaluate(node.chars, node.fold))


def _with_fold(text: str, fold: bool) -> str:
    """Ignore case if asked."""
    return f"(?i:{text})" if fold else text


def _union_body(items: tuple[ClassItem, ...], ascii_text: bool) -> str | None:
    """Write the items side by side, None when one of them cannot stand inside RE2's brackets."""
    bodies = []
    for item in items:
        body = _item_body(item, ascii_text)
        if body is None:
            return None
        bodies.append(body)
    return "".join(bodies)


def _item_body(item: ClassItem, ascii_text: bool) -> str | None:
    """Write one item for use inside RE2's brackets, None when there is no way."""
    if isinstance(item, tuple):
        return _ranges_body((item,))
    if isinstance(item, Posix):
        return f"[:{'^' if item.negated else ''}{item.name}:]"
    if isinstance(item, Property):
        return item.body if not item.negated else _negated_property(item.body)
    if isinstance(item, Perl):
        if not item.negated:
            return (_ASCII if ascii_text else _UNICODE)[item.name]
        return "\\" + item.name.upper() if ascii_text and item.name != "s" else None
    if isinstance(item, CharSet) and not item.negated:
        return _union_body(item.items, ascii_text)
    return None


def _negated_property(body: str) -> str | None:
    r"""Turn \p{X} into \P{X}; bodies of several parts have no such form."""
    return r"\P" + body[2:] if body.startswith(r"\p{") and body.count("\\") == 1 else None


def _ranges_body(ranges: tuple[Range, ...]) -> str:
    """Write ranges for use inside RE2's brackets."""
    if not ranges:
        return rf"^\x{{0}}-\x{{{LAST:x}}}"
    return "".join(rf"\x{{{low:x}}}-\x{{{high:x}}}" for low, high in ranges)


def _evaluate(item: ClassItem, fold: bool) -> list[Range]:
    """Work out one item of a class."""
    if isinstance(item, SetOperation):
        return _operate(item.operator, _evaluate(item.left, fold), _evaluate(item.right, fold))
    if isinstance(item, CharSet):
        union = _merge([r for part in item.items for r in _evaluate(part, fold)])
        return _complement(union) if item.negated else union
    if isinstance(item, Perl) and item.negated:
        return _complement(_evaluate(Perl(item.name, False), fold))
    if isinstance(item, Property) and item.negated:
        return _complement(_evaluate(Property(item.body, False), fold))
    return _ask_re2(_with_fold(f"[{_item_body(item, ascii_text=False)}]", fold))


def _operate(operator: str, left: list[Range], right: list[Range]) -> list[Range]:
    """Apply a set operator of Rust's classes."""
    if operator == "&&":
        return _intersect(left, right)
    if operator == "--":
        return _intersect(left, _complement(right))
    return _merge(_intersect(left, _complement(right)) + _intersect(right, _complement(left)))


def _merge(ranges: list[Range]) -> list[Range]:
    """Sort ranges and join those that touch."""
    merged: list[Range] = []
    for low, high in sorted(ranges):
        if merged and low <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
        else:
            merged.append((low, high))
    return merged


def _complement(ranges: list[Range]) -> list[Range]:
    """Return what sorted `ranges` leave out."""
    gaps = []
    start = 0
    for low, high in ranges:
        if low > start:
            gaps.append((start, low - 1))
        start = high + 1
    return [*gaps, (start, LAST)] if start <= LAST else gaps


def _intersect(left: list[Range], right: list[Range]) -> list[Range]:
    """Return what both sorted lists hold."""
    common = []
    i = j = 0
    while i < len(left) and j < len(right):
        low, high = max(left[i][0], right[j][0]), min(left[i][1], right[j][1])
        if low <= high:
            common.append((low, high))
        if left[i][1] < right[j][1]:
            i += 1
        else:
            j += 1
    return common


def _ask_re2(pattern: str) -> list[Range]:
    """Let RE2 say which characters a class holds, so that both always agree."""
    everything = _every_character()
    ranges = []
    for match in re2_engine.compile_re2(f"{pattern}+", newlines=True).finditer(everything):
        start, end = match.span()
        run = everything[start:end].decode()
        ranges.append((ord(run[0]), ord(run[-1])))
    return ranges


@cache
def _every_character() -> bytes:
    """Return all of Unicode in order, but for surrogates, which UTF-8 cannot hold."""
    return "".join(map(chr, (*range(0xD800), *range(0xE000, LAST + 1)))).encode()
