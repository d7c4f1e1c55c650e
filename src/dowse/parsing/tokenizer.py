"""Text → search terms: identifiers whole and in parts, the same for documents and for queries."""

from __future__ import annotations

import re
from collections.abc import Callable

_WORD = re.compile(r"\w+")
# For `translate`: all that is no part of a word becomes a blank.
_BLANKED = bytes(byte if chr(byte).isalnum() or chr(byte) == "_" else ord(" ") for byte in range(256))
_ASCII_PARTS = re.compile(
    r"[A-Z]+(?=[A-Z][a-z])"  # an acronym before a capitalised word: HTTP in HTTPServer
    r"|[A-Z]?[a-z]+"  # server, Server
    r"|[A-Z]+"  # a trailing acronym: ID in userID
    r"|[0-9]+"
)
# Real code repeats its identifiers, so a cache of this size answers nearly every word; the bound
# keeps an indexing process small on machine-made files whose words never repeat.
_CACHE_LIMIT = 400_000
# A longer "word" is data (base64, minified text), not something a person would search for.
_MAX_WORD = 80
# … unless it is not too long for a name, and its parts are about as long as words are.
_MAX_NAME, _MIN_PART, _MAX_PART = 240, 4, 16


def tokenize(text: str) -> list[str]:
    """Return the search terms of a text, in order and with repetitions."""
    return " ".join(map(_terms.__getitem__, _words(text.encode("utf-8", "replace")))).split()


def document_terms(text: bytes) -> str:
    """Return the distinct search terms of a UTF-8 text joined with spaces, as the index stores them.

    Each identifier counts once per document: on our sets presence ranks better than frequency, since code
    repeats a variable for reasons that say nothing about what a function is for.
    """
    return " ".join(map(_terms.__getitem__, set(_words(text))))


def _words(text: bytes) -> list[bytes]:
    """The words of a text; in ASCII, as most code is, without a pattern and so in half the time."""
    if text.isascii():
        return text.translate(_BLANKED).split()
    return [word.encode() for word in _WORD.findall(text.decode("utf-8", "replace"))]


def split_identifier(word: str) -> list[str]:
    """Return the parts of an identifier in lower case: HTTPServerError → http, server, error."""
    parts = _ASCII_PARTS.findall(word) if word.isascii() else _unicode_parts(word)
    return [part.lower() for part in parts]


def stem(word: str) -> str:
    """Return the English stem of one lower-case word."""
    return _stemmer()(word)


class _Terms(dict[bytes, str]):
    """Word → its terms joined with spaces; filled on first use, emptied when it grows too large."""

    def __missing__(self, word: bytes) -> str:
        if len(word) > 4 * _MAX_NAME:  # has no terms, and a cache of such words would hold whole files
            return ""
        if len(self) >= _CACHE_LIMIT:
            self.clear()
        terms = self[word] = " ".join(_terms_of(word.decode()))
        return terms


_terms = _Terms()
_stem_function: Callable[[str], str] | None = None


def _terms_of(word: str) -> list[str]:
    """Return the terms of one word: the whole identifier first, then its stemmed parts."""
    if len(word) > _MAX_WORD:
        return _long_terms(word)
    parts = [stem(part) for part in split_identifier(word)]
    whole = word.strip("_").lower()
    return parts if len(parts) < 2 else [whole, *parts]


def _long_terms(word: str) -> list[str]:
    """Return the parts of a long test name, which has words in it; encoded data falls into crumbs."""
    if len(word) > _MAX_NAME:
        return []
    parts = split_identifier(word)
    is_name = _MIN_PART * len(parts) < len(word) < _MAX_PART * len(parts)
    return [stem(part) for part in parts] if is_name else []


def _unicode_parts(word: str) -> list[str]:
    """Split as the ASCII pattern does, by what Unicode says of each letter's case."""
    parts: list[str] = []
    start = 0
    for i in range(1, len(word) + 1):
        if i == len(word) or _is_boundary(word, i):
            piece = word[start:i].strip("_")
            if piece:
                parts.append(piece)
            start = i
    return parts


def _is_boundary(word: str, i: int) -> bool:
    before, here = word[i - 1], word[i]
    if before == "_" or here == "_" or before.isdigit() != here.isdigit():
        return True
    if here.isupper():
        return before.islower() or (before.isupper() and i + 1 < len(word) and word[i + 1].islower())
    return False


def _stemmer() -> Callable[[str], str]:
    """Load the Snowball stemmer on first use (it is compiled code and costs a few milliseconds)."""
    global _stem_function
    if _stem_function is None:
        import Stemmer

        _stem_function = Stemmer.Stemmer("english").stemWord
    return _stem_function
