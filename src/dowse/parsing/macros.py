"""Macros of C++ that hide what a declaration is, replaced by blanks before the text is parsed.

`FMT_API class view`, `FMT_CONSTEXPR auto f()` and `FMT_BEGIN_NAMESPACE` are no C++ until the preprocessor has
run: the grammar takes the macro for a type, and the names that follow for something else.
"""

from __future__ import annotations

import re

_MACRO = rb"[A-Z][A-Z0-9]*_[A-Z0-9_]*"
_ARGUMENTS = rb"(?:\((?:[^()\n]|\([^()\n]*\))*\))?"
_KEYWORD = (
    rb"(?:class|struct|union|enum|template|auto|inline|constexpr|static|extern|void|int|bool|char|unsigned|long"
    rb"|short|double|float|size_t|const|explicit|friend|virtual|typename|using|typedef|namespace|operator)\b"
)
# The name of a function, perhaps after its type.
_FUNCTION = rb"(?:[\w:]+(?:<[^;{}()\n]*>)?[&*\s]+)?~?[\w:]+\s*\("
_HIDING = re.compile(
    rb"^[ \t]*" + _MACRO + _ARGUMENTS + rb"[ \t]*$"  # alone in its line
    rb"|(?:(?<=class)|(?<=struct))\s+" + _MACRO + _ARGUMENTS + rb"(?=\s+\w+[^;=()]*[{:;])"
    rb"|(?<!define )(?<![(,=+\-*/<>!&|?:.] )(?<![\w.#])" + _MACRO + _ARGUMENTS
    + rb"(?:[ \t]+" + _MACRO + _ARGUMENTS + rb")*(?=[ \t]+(?:" + _KEYWORD + rb"|" + _FUNCTION + rb"))",
    re.MULTILINE,
)  # fmt: skip


def blank_macros(text: bytes) -> bytes:
    """Return a text of the same length without the macros that hide declarations."""
    return _HIDING.sub(lambda match: b" " * len(match[0]), text)
