r"""Unicode properties: the names that Rust accepts in \p{…}, in RE2 syntax inside a class."""

from __future__ import annotations

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


def property_body(name: str) -> str | None:
    """Return the RE2 syntax of a property inside a class, None if there is no such property."""
    _, _, value = name.rpartition("=")
    loose = "".join(c for c in value.lower() if c not in " _-")
    if not loose.isascii() or not loose.isalpha():
        return None
    return _BODIES.get(loose) or _script_body(value)


def _script_body(name: str) -> str | None:
    """Return the RE2 syntax of a script, None if RE2 does not know it."""
    from dowse.query.regex import re2_engine

    script = "_".join(
        part.capitalize() for part in name.strip().replace(" ", "_").replace("-", "_").split("_")
    )
    body = rf"\p{{{script}}}"
    return body if re2_engine.is_valid(f"[{body}]") else None
