"""Code of another language inside a file: scripts and styles of pages, fenced code of Markdown.

Everything else is blanked at the same length, so that lines and offsets stay those of the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from dowse.parsing.languages import LANGUAGES, detect_language

# More blocks are no hand-written page; a file is parsed once for each language in it.
_MAX_BLOCKS = 500
_MAX_LANGUAGES = 4

# No longer than a tag, so that a search for its end takes no quadratic time.
_TAG = re.compile(rb"<(script|style)\b([^>]{0,300})>", re.IGNORECASE)
_LANG = re.compile(rb"\b(?:lang|type)\s{0,9}=\s{0,9}[\"']?([\w/.+-]{1,60})")
_FRONT_MATTER = re.compile(rb"\A\s{0,99}---[ \t]*\r?\n")
_FENCE = re.compile(rb"^[ \t]{0,12}(```+|~~~+)[ \t]*\{?\.?([\w+#-]{0,30})[^\n]*$", re.MULTILINE)

_SCRIPT_TYPES = frozenset(["", "module", "text/javascript", "application/javascript", "text/babel"])
_SCRIPT_LANGUAGES = {"ts": "typescript", "tsx": "typescript", "typescript": "typescript"}
# Words after a fence that are neither a language nor an extension.
_ALIASES = {"golang": "go", "c++": "cpp", "c#": "csharp", "node": "javascript"}

# (language, start, end)
_Block = tuple[str, int, int]

_BLANK = bytes(byte if byte in b"\r\n" else 0x20 for byte in range(256))


def embedded_code(text: bytes, language: str) -> dict[str, bytes]:
    """Return, for each language inside a file, the text with everything else blanked; the main one first."""
    by_language: dict[str, list[_Block]] = {}
    for number, block in enumerate(_blocks(text, language)):
        if number == _MAX_BLOCKS:
            break
        by_language.setdefault(block[0], []).append(block)
    blank = text.translate(_BLANK) if by_language else b""
    chosen = sorted(by_language.items(), key=lambda each: each[0] in ("css", "scss", "less"))[:_MAX_LANGUAGES]
    return {name: _splice(blank, text, blocks) for name, blocks in chosen}


def _splice(blank: bytes, text: bytes, blocks: list[_Block]) -> bytes:
    parts, at = [], 0
    for _, start, end in blocks:
        parts += [blank[at:start], text[start:end]]
        at = end
    return b"".join([*parts, blank[at:]])


def _blocks(text: bytes, language: str) -> Iterator[_Block]:
    if language == "markdown":
        yield from _fences(text)
        return
    start = 0
    if language == "astro" and (opened := _FRONT_MATTER.match(text)):
        start = text.find(b"\n---", opened.end() - 1)
        if start < 0:
            return
        yield "typescript", opened.end(), start
    for name, begin, end in _tags(text, start):
        # A component is one file of one language; TypeScript reads JavaScript, too.
        yield "typescript" if language != "html" and name == "javascript" else name, begin, end


def _tags(text: bytes, start: int) -> Iterator[_Block]:
    """Yield the scripts and styles of a page."""
    while tag := _TAG.search(text, start):
        closer = b"</" + tag[1]
        end = text.find(closer, tag.end())
        if end < 0:
            return
        written = _LANG.search(tag[2])
        kind = written[1].decode("utf-8", "ignore").lower() if written else ""
        if tag[1].lower() == b"style":
            yield kind if kind in ("scss", "less") else "css", tag.end(), end
        elif kind in _SCRIPT_LANGUAGES or kind in _SCRIPT_TYPES or kind in ("js", "jsx"):
            yield _SCRIPT_LANGUAGES.get(kind, "javascript"), tag.end(), end
        start = end


def _fences(text: bytes) -> Iterator[_Block]:
    """Yield the fenced code of Markdown whose language is known; a fence without end is none."""
    opened: tuple[bytes, str, int] | None = None
    for fence in _FENCE.finditer(text):
        if opened is None:
            opened = fence[1], fence[2].decode("utf-8", "ignore").lower(), fence.end() + 1
        elif fence[1].startswith(opened[0]) and not fence[2]:
            name = _fence_language(opened[1])
            if name and opened[2] < fence.start():
                yield name, opened[2], fence.start()
            opened = None


def _fence_language(word: str) -> str:
    """Return the language of fenced code; "" for commands and examples of data, which define nothing."""
    name = _ALIASES.get(word, word)
    name = name if name in LANGUAGES else detect_language(f"x.{word}")
    return name if name in LANGUAGES and name != "bash" else ""
