"""Names in source code, split into qualifier and last segment."""

from __future__ import annotations

import re
from functools import lru_cache

from dowse.parsing.paths import member_path

# Callees can be whole chains of calls; only the end of longer ones is used.
MAX_CALLEE_BYTES = 1_000
# The last name of a callee is in its end, type arguments included.
_MAX_LAST_CHARS = 200

# The qualifier of a name after an expression that is too complex for a name.
UNKNOWN = "?"

# The qualifier of a function that its decorator is given.
REGISTERED = "@"

# The number of arguments of a call that may be a variable: a bare name, in a language without brackets.
BARE = -2

# The number of arguments of the name of a type, and of an attribute, where members can have the same name.
TYPE, ATTRIBUTE = -3, -4

# Enough for the callees of many files; the limit is for generated ones.
_MAX_CACHED_CALLEES = 32768

# The last name of an expression, with type arguments after it if any; `#` starts a private one of JavaScript.
_LAST = re.compile(r"(?<![\w$])((?:(?<=\.)#)?[\w$]+(?:[?!]|'*))\s*(?:(?:::)?[<\[][^()]*[>\]])?$")
_NAME_BEFORE = re.compile(r"[\w$]+[?!]?\s*(?:::)?$")
# Type arguments after a turbofish of Rust, four levels deep.
_TYPE_ARGUMENTS = re.compile(r"::<(?:[^<>]|<(?:[^<>]|<(?:[^<>]|<[^<>]*>)*>)*>)*>$")
# Most callees: names joined with dots.
_DOTTED = re.compile(r"(?:([\w$@](?:[\w$@.]*[\w$@])?)\.)?([\w$]+(?:[?!]|'*))")
_SEPARATORS = re.compile(r"(?:\?\.|!{1,2}\.|&\.|->|::|[.:\\#~])\s*(?:template\s+)?$")
_PATH = re.compile(r"(?:[\w$@.:\\?&!>-]|(?<=\.)#)+")
_GENERICS = re.compile(r"<[^<>]*>|\[[^\[\]]*\]")

# What can stand before the name in a type: pointers, brackets, lifetimes and modifiers of Rust.
_TYPE_PREFIX = re.compile(r"^(?:[&*(\[ ]|'\w+\s|(?:mut|dyn|const)\s)+")

# Type arguments in type arguments, as in specialisations of C++ templates.
_MAX_NESTING = 10

# Segments that are no qualifier of a definition's name.
_NON_QUALIFIERS = frozenset(
    ("exports", "module", "prototype", "this", "self", "window", "globalThis", "static")
)

_WORD = re.compile(r"\w")
_QUOTES = "'\"`"
_MODULE_SUFFIX = re.compile(r"\.(?:js|mjs|cjs|ts|tsx|jsx|h|hpp|hh|rb|sh|bash|zig|json)$")


class _Callees(dict[bytes, tuple[str, str, int]]):
    """Callee as written → its parts; a dictionary is twice as fast as `lru_cache`."""

    def __missing__(self, source: bytes) -> tuple[str, str, int]:
        if len(self) >= _MAX_CACHED_CALLEES:
            self.clear()
        parts = self[source] = _split_callee(source)
        return parts


def _split_callee(source: bytes) -> tuple[str, str, int]:
    text = source.decode("utf-8", "ignore")
    plain = _DOTTED.fullmatch(text)
    if plain:
        return plain[2], plain[1] or "", len(plain[2].encode())
    type_arguments = _TYPE_ARGUMENTS.search(text.replace("->", "--")) if text.endswith(">") else None
    if type_arguments:
        name, qualifier, back = _split_callee(text[: type_arguments.start()].encode())
        return name, qualifier, back + len(text[type_arguments.start() :].encode())
    skipped = max(0, len(text) - _MAX_LAST_CHARS, _last_part_start(text))
    match = _LAST.search(text[skipped:])
    if not match:
        return "", "", 0
    before = text[: skipped + match.start(1)]
    back = len(text[len(before) :].encode())
    separator = _SEPARATORS.search(before)
    if separator is None:
        return match[1], "", back
    receiver = before[: separator.start()]
    if separator[0][0] == "?" and receiver.endswith((")", "]", ".await")):
        receiver += "?"  # of Rust: what a Result holds
    return match[1], _qualifier(receiver) or UNKNOWN, back


def _last_part_start(text: str) -> int:
    """Return where the last part of `rows["a"].get<Cell>` starts, whose brackets are type arguments."""
    closing = text[-1:]
    opening = {">": "<", "]": "["}.get(closing)
    if opening is None:
        return 0
    depth = 0
    for at in range(len(text) - 1, max(0, len(text) - _MAX_LAST_CHARS), -1):
        is_arrow = text[at] == ">" and text[at - 1] in "-="
        depth += (text[at] == closing and not is_arrow) - (text[at] == opening)
        if not depth:
            name = _NAME_BEFORE.search(text, 0, at)
            return name.start() if name else 0
    return 0


# The parts of `self.client.get`: name, qualifier, and how many bytes before the end the name starts.
callees = _Callees()


def _qualifier(before: str) -> str:
    """Return the expression before the last separator as a member path, else ""."""
    before = before.strip()
    return before.lstrip("&.>:-") if _PATH.fullmatch(before) else member_path(before)


@lru_cache(maxsize=8192)
def clean_qualifier(source: bytes) -> str:
    """Return a receiver that is captured on its own, in the form of those inside callees."""
    return _qualifier(source.decode("utf-8", "ignore")) or UNKNOWN


@lru_cache(maxsize=8192)
def split_definition_name(source: bytes, separators: tuple[str, ...]) -> tuple[str, ...]:
    """Return the meaningful segments of a definition's name: `Foo.prototype.bar` is Foo, bar."""
    text = " ".join(source.decode("utf-8", "ignore").split())
    if "<" in text and "operator" not in text and _WORD.search(text):  # not the name `<=>`
        text = _without_generics(text)
    for separator in separators:
        text = text.replace(separator, "\0")
    parts = [_unquoted(part.strip()) for part in text.split("\0")]
    kept = [part for part in parts[:-1] if part and part not in _NON_QUALIFIERS] + parts[-1:]
    return tuple(kept) if kept and kept[-1] and kept != ["exports"] else ()


def _unquoted(name: str) -> str:
    """Return a name without quotes; a prime at its end belongs to it: `foldl'`."""
    start = name.lstrip(_QUOTES)
    return start.rstrip(_QUOTES) if start != name else name


def _without_generics(text: str) -> str:
    """Return a name without type arguments; where they hold a comparison, what precedes them."""
    plain = text
    for _ in range(_MAX_NESTING):
        shorter = _GENERICS.sub("", plain)
        if shorter == plain:
            break
        plain = shorter
    return plain if not set("<>()") & set(plain) else text.partition("<")[0]


@lru_cache(maxsize=4096)
def type_name(source: bytes) -> str:
    """Return the bare name of a type expression: `&'a mut a::Foo<T>`, `*Foo[T]` and `(Foo a)` are all Foo."""
    text = _TYPE_PREFIX.sub("", source.decode("utf-8", "ignore"))
    words = re.findall(r"[\w$]+", re.split(r"[<\[{]", text, maxsplit=1)[0].rpartition("::")[2])
    return words[0] if words else ""


def split_import(source: str, module: str) -> tuple[str, str]:
    """Return the name and module of an import by name."""
    separator = next((j for j in ("::", "\\", ".") if j in source), "")
    if not separator:
        return source, module
    before, _, name = source.rpartition(separator)
    return name, f"{module}{separator}{before}" if module else before.lstrip("\\")


def split_path(source: str) -> tuple[str, str]:
    """Return the name and module of an import by path: the file's name without its suffix."""
    path = source.strip("<>\"'")
    return _MODULE_SUFFIX.sub("", path.removeprefix("node:").rstrip("/").rpartition("/")[2]), path
