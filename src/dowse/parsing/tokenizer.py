"""The tokenizer of the keyword index: camelCase and snake_case splitting, then stemming.

An identifier gives its whole form and its stemmed parts as terms, the same for documents and for queries.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_WORD = re.compile(r"\w+")
# For `translate`: every byte that is no part of a word becomes a space.
_WORD_BYTES_OR_SPACE = bytes(
    byte if chr(byte).isalnum() or chr(byte) == "_" else ord(" ") for byte in range(256)
)
_ASCII_PARTS = re.compile(
    r"[A-Z]+(?=[A-Z][a-z])"  # an acronym before a capitalised word: HTTP in HTTPServer
    r"|[A-Z]?[a-z]+"  # server, Server
    r"|[A-Z]+"  # a trailing acronym: ID in userID
    r"|[0-9]+"
)
# Code repeats its identifiers, so a cache of this size answers nearly every word; the bound keeps an indexing
# process small on generated files whose words never repeat.
CACHE_LIMIT = 400_000
# A longer "word" is data (base64, minified text), not something a person would search for.
_MAX_WORD = 80
# … unless it is not too long for a name, and its parts are about as long as words are.
_MAX_NAME, _MIN_PART, _MAX_PART = 240, 4, 16
# More terms of a query add cost and no meaning (a pasted file, say); the first ones are kept.
_MAX_QUERY_TERMS = 64
# English words that say nothing about code; left out of queries that have other words.
STOP_WORDS = frozenset(
    """a an and are as at be been being but by can could did do does done for from had has have how i if in
    into is it its itself may me might must my no of on onto or our shall should so some such than that the
    their them then there these they this those to too us was we were what when where which while who whom
    whose why will with would you your""".split()
)


def tokenize(text: str) -> list[str]:
    """Return the terms of a text, in order and with repetitions."""
    return " ".join(map(term_cache.__getitem__, _words(text.encode("utf-8", "replace")))).split()


def tokenize_query(text: str) -> list[str]:
    """Return the distinct terms of a query, without stop words unless there is nothing else."""
    words = dict.fromkeys(content_words(text))
    terms = dict.fromkeys(tokenize(" ".join(words))) or dict.fromkeys(tokenize(text))
    return list(terms)[:_MAX_QUERY_TERMS]


def content_words(text: str) -> list[str]:
    """Return the words of a text that are no stop words."""
    return [word for word in text.split() if word.strip("?!.,;:").lower() not in STOP_WORDS]


def document_terms(text: bytes) -> str:
    """Return the terms of a UTF-8 text joined with spaces, with repetitions: BM25 counts them."""
    return " ".join(map(term_cache.__getitem__, _words(text)))


def distinct_terms(text: str) -> str:
    """Return the terms of a name, a signature or a path joined with spaces, each word once."""
    return " ".join(map(term_cache.__getitem__, dict.fromkeys(_words(text.encode("utf-8", "replace")))))


def split_identifier(word: str) -> list[str]:
    """Return the parts of an identifier in lower case: HTTPServerError → http, server, error."""
    parts = _ASCII_PARTS.findall(word) if word.isascii() else _unicode_parts(word)
    return [part.lower() for part in parts]


def stem(word: str) -> str:
    """Return the English stem of one lower-case word (Snowball)."""
    return _stemmer()(word)


def _words(text: bytes) -> list[bytes]:
    """Return the words of a text; in ASCII, as most code is, without a pattern and so in half the time."""
    if text.isascii():
        return text.translate(_WORD_BYTES_OR_SPACE).split()
    return [word.encode() for word in _WORD.findall(text.decode("utf-8", "replace"))]


class TermCache(dict[bytes, str]):
    """Word → its terms joined with spaces; filled on first use, cleared when it grows too large."""

    def __missing__(self, word: bytes) -> str:
        if len(word) > 4 * _MAX_NAME:  # has no terms, and a cache of such words would hold whole files
            return ""
        if len(self) >= CACHE_LIMIT:
            self.clear()
        terms = self[word] = " ".join(_word_terms(word.decode()))
        return terms


term_cache = TermCache()
_stem_function: Callable[[str], str] | None = None


def _word_terms(word: str) -> list[str]:
    """Return the terms of one word: the whole identifier first, then its stemmed parts."""
    if len(word) > _MAX_NAME:
        return []
    parts = split_identifier(word)
    if len(word) > _MAX_WORD:
        # A long test name has words in it; encoded data falls into short pieces.
        is_name = _MIN_PART * len(parts) < len(word) < _MAX_PART * len(parts)
        return [stem(part) for part in parts] if is_name else []
    stems = [stem(part) for part in parts]
    return stems if len(stems) < 2 else [word.strip("_").lower(), *stems]


def _unicode_parts(word: str) -> list[str]:
    """Split as the ASCII pattern does, by the Unicode case of each letter."""
    borders = [i for i in range(1, len(word)) if _is_boundary(word, i)]
    spans = zip([0, *borders], [*borders, len(word)], strict=True)
    pieces = (word[start:end].strip("_") for start, end in spans)
    return [piece for piece in pieces if piece]


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
