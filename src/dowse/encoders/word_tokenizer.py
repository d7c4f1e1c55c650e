"""The tokenizer of dowse's encoders, for training, indexing and queries: words of text or code to token ids.

Identifiers are split at camelCase and underscores and lower-cased, punctuation is dropped, numbers and long
words are cut. A word's ids are those the subword tokenizer gives to a space and the word, so they never
depend on the words around it.
"""

from __future__ import annotations

import re
from pathlib import Path

from dowse.encoders.bpe_table import TABLE_FILE, BpeTable
from dowse.encoders.byte_pairs import BytePairs
from dowse.encoders.model_files import is_shipped_file, model_errors

# <s>, <pad>, </s> and <unk>: the same in every vocabulary that `dowse train export` writes.
BOS, PAD, EOS, UNK = 0, 1, 2, 3

# An acronym before a capitalised word, a word, capitals, a number, letters of other scripts.
WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+|[^\W\d_A-Za-z]+")

# Keywords of code that say nothing about what it does.
STOP_WORDS = frozenset(
    "def self func fn function public private protected final const var let pub this void".split()
)

# Longer words and numbers are mostly data: their beginning is as informative.
MAX_WORD_CHARACTERS, MAX_NUMBER_CHARACTERS = 20, 4

# At most this many characters are read for each id that is wanted.
_TEXT_CHARACTERS_PER_ID, _CODE_CHARACTERS_PER_ID = 12, 14

# The name is searched in the first characters of a definition; modifiers and types stand before it.
_NAME_SEARCH_CHARACTERS, _MAX_IDS_BEFORE_NAME, _MAX_NAME_IDS = 500, 60, 24

# Some 50 MB; generated words would fill any cache, so a full one is cleared.
_MAX_CACHED_WORDS = 300_000

# New words from which on tokenizer.json is worth reading: its merges are four times as fast as the table.
_MAX_TABLE_WORDS = 1_000

Ids = tuple[int, ...]


class WordTokenizer:
    """Token ids of words, cached word by word; one call of the subword encoder for each new word."""

    def __init__(self, subwords: BytePairs | _TableFirst) -> None:
        self._subwords = subwords
        self._cache: dict[str, Ids] = {}
        self._code_cache: dict[str, Ids] = {}

    @classmethod
    def read(cls, path: Path) -> WordTokenizer:
        """Read a tokenizer.json; a shipped one only when its table does not do."""
        table = BpeTable.read(path.with_name(TABLE_FILE)) if is_shipped_file(path) else None
        return cls(read_byte_pairs(path) if table is None else _TableFirst(table, path))

    def encode_text(self, text: str, limit: int) -> list[int]:
        """Return the ids of prose or of a name: as many whole words as fit into `limit`."""
        ids: list[int] = []
        cached = self._cache.get
        for word in WORD.findall(text[: limit * _TEXT_CHARACTERS_PER_ID]):
            more = cached(word)
            if more is None:
                more = self._encode_word(word)
            if len(ids) + len(more) > limit:
                break
            ids += more
        return ids

    def encode_code(self, code: str, limit: int) -> list[int]:
        """Return the first `limit` ids of code, without stop words."""
        ids: list[int] = []
        cached = self._code_cache.get
        for word in WORD.findall(code[: limit * _CODE_CHARACTERS_PER_ID]):
            more = cached(word)
            if more is None:
                more = self._encode_code_word(word)
            ids += more
            if len(ids) >= limit:
                return ids[:limit]
        return ids

    def encode_definition(self, name: str, code: str, limit: int) -> tuple[list[int], list[int]]:
        """Return the ids of a definition's name and of its code without the name, at most `limit` in all."""
        at = code.find(name, 0, _NAME_SEARCH_CHARACTERS) if name else -1
        if at < 0:
            before, after = [], code
        else:
            before, after = self.encode_code(code[:at], _MAX_IDS_BEFORE_NAME), code[at + len(name) :]
        named = self.encode_text(name, _MAX_NAME_IDS)
        ids = (before + named + self.encode_code(after, limit))[:limit]
        start, end = len(before), len(before) + len(named)
        return ids[start:end], ids[:start] + ids[end:]

    def _encode_word(self, word: str) -> Ids:
        if len(self._cache) >= _MAX_CACHED_WORDS:
            self._cache.clear()
        cut = word[: MAX_NUMBER_CHARACTERS if word[0].isdigit() else MAX_WORD_CHARACTERS].lower()
        ids = self._cache[word] = tuple(self._subwords.encode(cut))
        return ids

    def _encode_code_word(self, word: str) -> Ids:
        if len(self._code_cache) >= _MAX_CACHED_WORDS:
            self._code_cache.clear()
        if word.lower() in STOP_WORDS:
            ids: Ids = ()
        else:
            cached = self._cache.get(word)
            ids = self._encode_word(word) if cached is None else cached
        self._code_cache[word] = ids
        return ids


class _TableFirst:
    """Encodes a few words by the table, so that a query need not read tokenizer.json."""

    def __init__(self, table: BpeTable, path: Path) -> None:
        self._table, self._path = table, path
        self._left = _MAX_TABLE_WORDS
        self._merges: BytePairs | None = None

    def encode(self, word: str) -> list[int]:
        if self._merges is None and self._left and word.isascii():
            self._left -= 1
            return self._table.encode(word)
        if self._merges is None:
            self._merges = read_byte_pairs(self._path)
        return self._merges.encode(word)


def read_byte_pairs(path: Path) -> BytePairs:
    """Read the tokenizer.json of a model of dowse."""
    with model_errors(path):
        return BytePairs(path.read_bytes())
