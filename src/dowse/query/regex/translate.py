"""Translation of the AST to RE2 syntax, with the meaning that ripgrep gives it.

Character classes without such syntax become explicit ranges.
"""

from __future__ import annotations

from functools import cache, lru_cache
from itertools import groupby

from dowse import deadline
from dowse.lazy_classes import replace
from dowse.query.regex import re2_engine
from dowse.query.regex.ast import (
    Alternate,
    Assertion,
    CharClass,
    CharSet,
    ClassItem,
    Concat,
    Dot,
    Literal,
    Node,
    Perl,
    Posix,
    Property,
    Range,
    Repeat,
    SetOperation,
)

# Alphabetic, marks, decimal digits, connectors, joiners: Unicode's word characters (UTS 18, Annex C).
# Letters that are alphabetic without being in L or Nl (circled, squared) stand as ranges.
WORD_BODY = (
    r"\p{L}\p{M}\p{Nl}\p{Nd}\p{Pc}\x{200c}\x{200d}\x{24b6}-\x{24e9}"
    r"\x{1f130}-\x{1f149}\x{1f150}-\x{1f169}\x{1f170}-\x{1f189}"
)
SPACE_BODY = r"\t-\r \x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}"
DIGIT_BODY = r"\p{Nd}"

_CATEGORIES = {
    "L": "letter", "Lu": "uppercaseletter", "Ll": "lowercaseletter", "Lt": "titlecaseletter",
    "Lm": "modifierletter", "Lo": "otherletter",
    "M": "mark", "Mn": "nonspacingmark", "Mc": "spacingmark", "Me": "enclosingmark",
    "N": "number", "Nd": "decimalnumber", "Nl": "letternumber", "No": "othernumber",
    "P": "punctuation", "Pc": "connectorpunctuation", "Pd": "dashpunctuation", "Ps": "openpunctuation",
    "Pe": "closepunctuation", "Pi": "initialpunctuation", "Pf": "finalpunctuation", "Po": "otherpunctuation",
    "S": "symbol", "Sm": "mathsymbol", "Sc": "currencysymbol", "Sk": "modifiersymbol", "So": "othersymbol",
    "Z": "separator", "Zs": "spaceseparator", "Zl": "lineseparator", "Zp": "paragraphseparator",
    "C": "other", "Cc": "control", "Cf": "format", "Co": "privateuse",
}  # fmt: skip
_BODIES = {
    "any": r"\x{0}-\x{10ffff}",
    "ascii": r"\x{0}-\x{7f}",
    "whitespace": SPACE_BODY,
    "digit": DIGIT_BODY,
    "punct": r"\p{P}",
    "cntrl": r"\p{Cc}",
}
for _short, _long in _CATEGORIES.items():
    _BODIES[_short.lower()] = _BODIES[_long] = rf"\p{{{_short}}}"

LAST = 0x10FFFF
_UNICODE = {"d": DIGIT_BODY, "s": SPACE_BODY, "w": WORD_BODY}
_ASCII = {"d": "0-9", "s": r"\t-\r ", "w": "0-9A-Za-z_"}


def to_re2(node: Node, *, ascii_text: bool, boundaries: bool = True) -> str:
    r"""Return a node in RE2 syntax, with multi-line anchors.

    Args:
        node: The AST.
        ascii_text: The text is ASCII only, so the short class tables suffice.
        boundaries: Keep \b and \B; without them the result matches more, never less.
    """
    return f"(?m){_Renderer(ascii_text, boundaries).render(node)}"


class _Renderer:
    """The options of one translation."""

    def __init__(self, ascii_text: bool, boundaries: bool) -> None:
        self.ascii_text = ascii_text
        self.boundaries = boundaries

    def render(self, node: Node) -> str:
        """Return one node such that others can follow it."""
        if isinstance(node, Literal):
            return _literal_run([node], node.fold)
        if isinstance(node, Dot):
            return r"[^\n]"
        if isinstance(node, CharClass):
            return render_class(node, ascii_text=self.ascii_text)
        if isinstance(node, Assertion):
            return self.assertion(node)
        if isinstance(node, Repeat):
            return self.repeat(node)
        if isinstance(node, Alternate):
            return f"(?:{'|'.join(map(self.render, node.parts))})"
        return self.concat(node)

    def assertion(self, node: Assertion) -> str:
        if node.kind in ("start", "end"):
            return "^" if node.kind == "start" else "$"
        if not self.boundaries:
            return "(?:)"
        return r"\b" if node.kind == "boundary" else r"\B"

    def repeat(self, node: Repeat) -> str:
        """Return a repetition; the group separates stacked operators."""
        high = "" if node.high is None else str(node.high)
        return f"(?:{self.render(node.node)}){{{node.low},{high}}}{'' if node.greedy else '?'}"

    def concat(self, node: Concat) -> str:
        """Return a sequence, with neighbouring letters under one case flag."""
        pieces: list[str] = []
        for key, group in groupby(node.parts, lambda part: part.fold if isinstance(part, Literal) else None):
            parts = list(group)
            if key is None:
                pieces += map(self.render, parts)
            else:
                pieces.append(_literal_run([part for part in parts if isinstance(part, Literal)], key))
        return "".join(pieces) or "(?:)"


def _literal_run(literals: list[Literal], fold: bool) -> str:
    text = "".join(_escape(literal.char) for literal in literals)
    return f"(?i:{text})" if fold else text


def _escape(char: str) -> str:
    return char if char.isalnum() or char == "_" else rf"\x{{{ord(char):x}}}"


def render_class(node: CharClass, *, ascii_text: bool) -> str:
    """Return a class in RE2 syntax; `ascii_text` allows the small tables for ASCII texts."""
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
    """Return the code points of a class, with line feed."""
    return tuple(_evaluate(node.chars, node.fold))


def _with_fold(text: str, fold: bool) -> str:
    return f"(?i:{text})" if fold else text


def _union_body(items: tuple[ClassItem, ...], ascii_text: bool) -> str | None:
    """Return the concatenated items, None if RE2 has no syntax for one of them inside brackets."""
    bodies = [_item_body(item, ascii_text) for item in items]
    known = [body for body in bodies if body is not None]
    return "".join(known) if len(known) == len(bodies) else None


def _item_body(item: ClassItem, ascii_text: bool) -> str | None:
    """Return one item in RE2 syntax inside brackets, None if there is none."""
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
    r"""Return \P{X} for \p{X}; bodies of several parts have no such form."""
    return r"\P" + body[2:] if body.startswith(r"\p{") and body.count("\\") == 1 else None


def _ranges_body(ranges: tuple[Range, ...]) -> str:
    if not ranges:
        return rf"^\x{{0}}-\x{{{LAST:x}}}"
    return "".join(rf"\x{{{low:x}}}-\x{{{high:x}}}" for low, high in ranges)


def _evaluate(item: ClassItem, fold: bool) -> list[Range]:
    """Return the code points of one item of a class."""
    if isinstance(item, SetOperation):
        return _operate(item.operator, _evaluate(item.left, fold), _evaluate(item.right, fold))
    if isinstance(item, CharSet):
        union = _merge([r for part in item.items for r in _evaluate(part, fold)])
        return _complement(union) if item.negated else union
    if isinstance(item, tuple) and not fold:
        return [item]
    if isinstance(item, Perl | Property) and item.negated:
        return _complement(_evaluate(replace(item, negated=False), fold))
    return _ranges_by_re2(_with_fold(f"[{_item_body(item, ascii_text=False)}]", fold))


def _operate(operator: str, left: list[Range], right: list[Range]) -> list[Range]:
    if operator == "&&":
        return _intersect(left, right)
    if operator == "--":
        return _intersect(left, _complement(right))
    return _merge(_intersect(left, _complement(right)) + _intersect(right, _complement(left)))


def _merge(ranges: list[Range]) -> list[Range]:
    """Sort ranges and merge adjacent ones."""
    merged: list[Range] = []
    for low, high in sorted(ranges):
        if merged and low <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
        else:
            merged.append((low, high))
    return merged


def _complement(ranges: list[Range]) -> list[Range]:
    gaps = []
    start = 0
    for low, high in ranges:
        if low > start:
            gaps.append((start, low - 1))
        start = high + 1
    return [*gaps, (start, LAST)] if start <= LAST else gaps


def _intersect(left: list[Range], right: list[Range]) -> list[Range]:
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


@lru_cache(maxsize=64)
def _ranges_by_re2(pattern: str) -> list[Range]:
    """Return the code points of a class by matching it with RE2, so that both always agree."""
    deadline.check()
    everything = _every_character()
    ranges = []
    for match in re2_engine.compile_re2(f"{pattern}+", newlines=True).finditer(everything):
        start, end = match.span()
        run = everything[start:end].decode()
        ranges.append((ord(run[0]), ord(run[-1])))
    return ranges


@cache
def _every_character() -> bytes:
    """Return all of Unicode in order, except for surrogates, which UTF-8 cannot encode."""
    return "".join(map(chr, (*range(0xD800), *range(0xE000, LAST + 1)))).encode()


def property_body(name: str) -> str | None:
    """Return the RE2 syntax of a property inside a class, None if there is no such property."""
    _, _, value = name.rpartition("=")
    loose = "".join(c for c in value.lower() if c not in " _-")
    if not loose.isascii() or not loose.isalpha():
        return None
    return _BODIES.get(loose) or _script_body(value)


def _script_body(name: str) -> str | None:
    """Return the RE2 syntax of a script, None if RE2 does not know it."""
    script = "_".join(
        part.capitalize() for part in name.strip().replace(" ", "_").replace("-", "_").split("_")
    )
    body = rf"\p{{{script}}}"
    return body if re2_engine.is_valid(f"[{body}]") else None
