"""Functions that a language calls without naming them: operators, statements, conversions, destructors."""

from __future__ import annotations

import re

from dowse.types import SymbolRow

_RUST_OPERATORS = "add|sub|mul|div|rem|neg|not|bitand|bitor|bitxor|shl|shr"
_NAMES = {
    "python": r"__\w+__",
    "php": r"__\w+",
    "lua": r"__\w+",
    "cpp": r"operator\b.*|~.*|begin|end",
    "csharp": r"\W+|~\w+|implicit|explicit|true|false|this|\w*Dispose|DisposeAsync|MoveNext|MoveNextAsync|"
    r"GetEnumerator|GetAsyncEnumerator|GetAwaiter|Deconstruct|ToString",
    "java": r"close|iterator|hasNext|next|toString",
    "kotlin": r"close|iterator|hasNext|next|toString",
    "scala": r"apply|unapply|unapplySeq|update|map|flatMap|foreach|filter|withFilter|toString",
    "ruby": r"\W+|call|each|coerce|method_missing|respond_to_missing\?|to_s|to_str|to_a|to_ary|to_proc|"
    r"inherited|included|extended|prepended|deconstruct|deconstruct_keys",
    "rust": rf"(?:{_RUST_OPERATORS})(?:_assign)?|eq|ne|lt|le|gt|ge|partial_cmp|cmp|index|index_mut|deref|"
    r"deref_mut|drop|from|fmt|into_iter|next|poll|into_future|clone",
    "javascript": r"\[.*\]|toString|valueOf|toJSON|then|next",
    "typescript": r"\[.*\]|toString|valueOf|toJSON|then|next",
    "swift": r"\W+|deinit|subscript|callAsFunction|makeIterator|next",
    "go": r"init|String|Error",
}


def is_called_implicitly(symbol: SymbolRow) -> bool:
    """Whether the language itself may call a function, with no mention of its name."""
    if symbol.language == "kotlin" and re.search(r"\boperator\b", symbol.signature):
        return True
    return bool(re.fullmatch(_NAMES.get(symbol.language, r"(?!)"), symbol.name))
