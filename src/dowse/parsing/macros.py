"""Macros of C and C++ that hide what a declaration is, replaced by blanks before the text is parsed.

`FMT_API class view`, `FMT_CONSTEXPR auto f()` and `FMT_BEGIN_NAMESPACE` are no C++ until the preprocessor has
run: the grammar takes the macro for a type, and the names that follow for something else.
"""

from __future__ import annotations

import re

from dowse.lazy_classes import NamedTuple
from dowse.types import Span

# These expressions start with a letter, not with \b: a search for a first letter is several times as fast.
_ARGUMENTS = rb"(?:\((?:[^()\n]|\([^()\n]*\))*\))?"
# The characters before a name are compared after its first one: a search for that one is fast.
_MACROS = re.compile(
    rb"[A-Z](?<![\w.#].)[A-Z0-9]*_[A-Z0-9_]*\b" + _ARGUMENTS
    + rb"(?:[ \t]+[A-Z][A-Z0-9]*_[A-Z0-9_]*\b" + _ARGUMENTS + rb")*"
    + rb"(?:[ \t]*:(?=[ \t]*\n))?"  # an access specifier: `LIB_PRIVATE:`
)  # fmt: skip
_KEYWORD = (
    rb"(?:class|struct|union|enum|template|auto|inline|constexpr|static|extern|void|int|bool|char|unsigned|long"
    rb"|short|double|float|size_t|const|explicit|friend|virtual|typename|using|typedef|namespace|operator)\b"
)
# The name of a function, perhaps after its type.
_FUNCTION = (
    rb"(?:[\w:]+(?:<[^;{}()\n]*>)?(?:[ \t]+const\b)?[&*\s]+)?"
    rb"(?:~?[\w:]+|(?:\w+::)*operator[^\w\s(]{1,3})\s*\("
)
_DECLARATION = re.compile(rb"[ \t]+(?:" + _KEYWORD + rb"|" + _FUNCTION + rb")")
_CLASS_HEAD = re.compile(rb"\s+\w+[^;=()]*[{:;]")
_LINE_END = re.compile(rb"[ \t]*$", re.MULTILINE)
_BODY = re.compile(rb"\s*(?:\{|->|(?:override|final|const|noexcept)\b)")
_CONDITION = re.compile(rb"\s*\(")
# So many bytes before a macro are read to see what precedes it: blanks, in C comments as well.
_MAX_BLANKS, _MAX_BEFORE = 200, 1_000
# What precedes a macro that is an operand, or is being defined.
_OPERATORS = frozenset(b"(,=+-*/<>!&|?:.")
# Conditions in the parameters of a template: `template <typename T, ENABLE_IF(!is_same<T, int>())>`.
_PARENTHESES = rb"\((?:[^()]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))*\)"
_TEMPLATE = re.compile(
    rb"template\s*<(?:[^<>(){};]|<(?:[^<>(){};]|<[^<>(){};]*>)*>|" + _PARENTHESES + rb")*>"
)
_TEMPLATE_CONDITION = re.compile(rb"(?<=[,<\s])[A-Z][A-Z0-9]*_[A-Z0-9_]*" + _PARENTHESES + rb"(?=\s*[,>])")

# Macros that stand for a keyword: `LIB_IF(x) {`, `LIB_TRY {`, `LIB_CATCH (...) {`.
_KEYWORD_MACRO = re.compile(
    rb"[A-Z](?<![\w.#].)(?<!define .)[A-Z0-9_]*_(IF(?=\s*"
    + _PARENTHESES
    + rb"\s*\{)|TRY(?=\s*\{)|CATCH(?=\s*\())"
)

# What a class has before its name: `class LOCKABLE Mutex {`.
_CLASS_ATTRIBUTE = re.compile(
    rb"(?:class|struct)[ \t]+([A-Z][A-Z0-9]*\b"
    + _ARGUMENTS
    + rb")(?=[ \t]+[A-Za-z_]\w*\s*(?:final\s*)?(?:\{|:[^:]))"
)

# The names of an inline namespace are those of the namespace around it.
_INLINE_NAMESPACE = re.compile(rb"inline[ \t]+namespace[ \t]+\w+(?=\s*\{)")
_TRANSPARENT = b'extern "C"'

# In C: before a type, or alone in a line.
_C_MACRO = re.compile(
    rb"\n[ \t]*+(?:(?:static|extern|inline)[ \t]++){0,2}([A-Z][A-Z0-9]*+_[A-Z0-9_]*+)(\([^()\n]*\))?"
    rb"(?:(?P<alone>(?=[ \t]*\n))|(?=[ \t]+(?:" + _KEYWORD + rb"|\w+[ \t*]+\w+\s*\()))"
)
# A body after the macro, the rest of an expression, or a function whose type the macro is.
_NO_DECLARATION = re.compile(rb"\s*(?:[{(=,]|\w+\s*\()")
_NO_CODE = re.compile(rb"(?:/\*(?:[^*]|\*(?!/))*\*/|\n[ \t]*#[^\n]*|//[^\n]*)\Z")
_STRUCT_HEAD = re.compile(rb"(?:struct|union)\b[^;{}()]*\{\Z")
# The grammar takes what follows a comment in the body of a macro for code.
_DEFINITION = re.compile(rb"#[ \t]*define[ \t]+(\w+)((?:[^\n\\]++|\\(?:.|\n))*+)")
_COMMENT = re.compile(rb"/\*(?:[^*\n]|\*(?!/)|(?<=\\)\n)*\*/")
# Declarations in the body of a macro without parameters.
_MACRO_FIELD = re.compile(rb"[\w*}][ \t*]{1,80}(\w+)(?:\[[^\];]{0,80}\]){0,4}[ \t]{0,80};")
_STATEMENT = re.compile(rb"=|\breturn\b|\bgoto\b")


class CMacros(NamedTuple):
    """A text of C that the grammar understands, of the same length, and what macros have in it."""

    text: bytes
    used: list[Span]  # the names of macros that are blank in it
    fields: list[tuple[int, int, str]]  # names that the bodies of macros declare, with their kind


def blank_c_macros(text: bytes) -> CMacros:
    """Return a text of C without macros that hide declarations.

    Such as `LIB_EXPORT int f(void);`, and `LIB_FIELDS` in a struct, which declares the fields of its body.
    """
    blanked, used, fields = bytearray(text), list[Span](), list[tuple[int, int, str]]()
    for match in _DEFINITION.finditer(text):
        start, end = match.span(2)
        if b"/*" in match[2] and b"\\\n" in match[2]:
            blanked[start:end] = _COMMENT.sub(_blank, match[2])
        if b";" in match[2] and match[2][:1] != b"(" and not _STATEMENT.search(match[2]):
            fields += [(*each.span(1), "macro_field") for each in _MACRO_FIELD.finditer(blanked, start, end)]
    for match in _C_MACRO.finditer(text):
        start, end = match.start(1), match.end()
        if match["alone"] is None or _is_declared(blanked, match.start(), end, match[2] is None):
            blanked[start:end] = b" " * (end - start)
            used.append(match.span(1))
    return CMacros(bytes(blanked), used, fields)


def _is_declared(text: bytearray, start: int, end: int, is_plain: bool) -> bool:
    """Whether a macro that is alone in its line is between declarations, or in a struct."""
    before = text[max(0, start - _MAX_BEFORE) : start].rstrip()
    while skipped := _NO_CODE.search(before):  # comments and directives
        before = before[: skipped.start()].rstrip()
    if before.endswith(b"{"):
        return _STRUCT_HEAD.search(before) is not None
    return is_plain and before.endswith((b";", b"}")) and _NO_DECLARATION.match(text, end) is None


def blank_macros(text: bytes) -> bytes:
    """Return a text of the same length without macros that hide declarations, and inline namespaces."""
    text = _TEMPLATE.sub(
        lambda head: _TEMPLATE_CONDITION.sub(lambda macro: b"int".ljust(len(macro[0])), head[0]), text
    )
    text = _CLASS_ATTRIBUTE.sub(lambda head: head[0][: -len(head[1])] + b" " * len(head[1]), text)
    if any(word in text for word in (b"_IF", b"_TRY", b"_CATCH")):
        text = _KEYWORD_MACRO.sub(lambda match: match[1].lower().ljust(len(match[0])), text)
    text = _MACROS.sub(lambda match: _blank(match) if _hides(text, *match.span()) else match[0], text)
    return _INLINE_NAMESPACE.sub(lambda match: _TRANSPARENT.ljust(len(match[0])), text)


def _blank(match: re.Match[bytes]) -> bytes:
    return b" " * len(match[0])


def _hides(text: bytes, start: int, end: int) -> bool:
    """Whether macros hide what a declaration is."""
    line = text[text.rfind(b"\n", 0, start) + 1 : start]
    before = line.rstrip()
    if not before and _LINE_END.match(text, end):
        # Alone in its line; after a comma, it is the last one in a list of names.
        return not text[max(0, start - _MAX_BLANKS) : start].rstrip().endswith(b",")
    if before.endswith((b"class", b"struct")):
        return _CLASS_HEAD.match(text, end) is not None
    if before.endswith((b")", b"const", b"noexcept", b"override")) and _BODY.match(text, end):
        return True
    if before.endswith(b"if") and _CONDITION.match(text, end):
        return True
    is_operand = bool(before) and before != line and (before[-1] in _OPERATORS or before.endswith(b"define"))
    return not is_operand and _DECLARATION.match(text, end) is not None
