"""Types of languages that declare them (Java, Kotlin, Scala, C#, PHP, C, C++) in the common form of types."""

from __future__ import annotations

import re
from functools import lru_cache

from dowse.parsing.type_expressions import parse_type

LANGUAGES = frozenset(["java", "kotlin", "scala", "csharp", "php", "c", "cpp"])

_ANNOTATIONS = re.compile(r"@[\w.:]+(?:\([^()]*\))?\s*|\[\[[^\]]*\]\]")
_MODIFIERS = re.compile(
    r"\b(?:const|constexpr|final|volatile|mutable|static|inline|extern|virtual|explicit|friend|struct|class"
    r"|enum|union|typename|ref|out|in|params|readonly|required|scoped|async|suspend|vararg|val|var|unsigned"
    r"|signed|restrict|override|public|private|protected|internal|abstract|sealed|partial|lateinit|open|new"
    r"|extends|super)\s+|\bconst\b"
)
# What holds one object and is used like it: smart pointers, and what `await` unwraps.
_HOLDERS = re.compile(
    r"\b(?:\w+\.)*(?:unique_ptr|shared_ptr|weak_ptr|scoped_refptr|RefPtr|not_null|intrusive_ptr|Task|ValueTask"
    r"|Deferred|Nullable)\s*<"
)
_POINTERS = re.compile(r"[*&?!]+")
# An Optional of Java has methods of its own, other than that of Python.
_OPTIONAL = re.compile(r"\bOptional\b")


@lru_cache(maxsize=8192)
def parse_declared_type(text: str) -> str:
    """Return a declared type in the common form; "" if it says nothing."""
    text = _ANNOTATIONS.sub("", text).strip().removeprefix(":")
    text = text.replace("::", ".").replace("\\", ".").lstrip(". ")
    text = _POINTERS.sub("", _MODIFIERS.sub("", text))
    text = _HOLDERS.sub("Annotated<", text).replace("->", "=>")
    text = _OPTIONAL.sub("OptionalOf", text).strip()
    return "" if text in ("auto", "var", "val", "let", "dynamic", "Object", "void") else parse_type(text)
