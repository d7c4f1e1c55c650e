"""The words of a text or of code as token ids: what the encoder reads, in training, indexing and queries.

Identifiers are split and lower-cased, punctuation is dropped, numbers and long words are cut. A word's ids
are those the tokenizer gives to a space and the word, so they never depend on the words around it.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from dowse.encoders.model_files import load_tokenizer, reading_texts

if TYPE_CHECKING:
    from tokenizers import Tokenizer

# <s>, <pad>, </s> and <unk>: the same in every vocabulary that `dowse train export` writes.
FIRST, PAD, LAST, UNKNOWN = 0, 1, 2, 3

# An acronym before a capitalised word, a word, capitals, a number, letters of other scripts.
WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+|[^\W\d_A-Za-z]+")

# Words of code that say nothing about what it does.
EMPTY_WORDS = frozenset(
    "def self func fn function public private protected final const var let pub this void".split()
)

# Longer words and numbers are mostly data: their beginning says as much.
LONGEST_WORD, LONGEST_NUMBER = 20, 4

# No text is read further than this many characters for each id that is wanted.
_TEXT_REACH, _CODE_REACH = 12, 14

# The name is looked for where a definition begins; what stands before it are modifiers and types.
_NAME_REACH, _BEFORE_NAME, _NAME_IDS = 500, 60, 24

# Some 50 MB; machine-made words would fill any cache, so a full one starts anew.
_CACHE_WORDS = 300_000

Ids = tuple[int, ...]


class Words:
    """Token ids of words, remembered word by word; one tokenizer call a new word."""

    def __init__(self, tokenizer: Tokenizer, model: object = "the model") -> None:
        """Take a tokenizer; `model` names what it belongs to in messages."""
        self._model = model
        tokenizer.no_truncation()
        tokenizer.no_padding()
        self._tokenizer = tokenizer
        self._known: dict[str, Ids] = {}
        self._known_in_code: dict[str, Ids] = {}

    @classmethod
    def read(cls, path: Path) -> Words:
        """Read a tokenizer.json."""
        return cls(load_tokenizer(path), path.parent)

    def text(self, text: str, limit: int) -> list[int]:
        """Ids of prose or of a name: as many whole words as fit into `limit`."""
        ids: list[int] = []
        known = self._known.get
        for word in WORD.findall(text[: limit * _TEXT_REACH]):
            more = known(word)
            if more is None:
                more = self._learn(word)
            if len(ids) + len(more) > limit:
                break
            ids += more
        return ids

    def code(self, code: str, limit: int) -> list[int]:
        """The first `limit` ids of code, without words that every function has."""
        ids: list[int] = []
        known = self._known_in_code.get
        for word in WORD.findall(code[: limit * _CODE_REACH]):
            more = known(word)
            if more is None:
                more = self._learn_in_code(word)
            ids += more
            if len(ids) >= limit:
                return ids[:limit]
        return ids

    def named_code(self, name: str, code: str, limit: int) -> tuple[list[int], list[int]]:
        """Ids of a definition's name, and of its code without the name: together at most `limit`."""
        place = code.find(name, 0, _NAME_REACH) if name else -1
        if place < 0:
            before, rest = [], code
        else:
            before, rest = self.code(code[:place], _BEFORE_NAME), code[place + len(name) :]
        named = self.text(name, _NAME_IDS)
        ids = (before + named + self.code(rest, limit))[:limit]
        start, end = len(before), len(before) + len(named)
        return ids[start:end], ids[:start] + ids[end:]

    def _learn(self, word: str) -> Ids:
        if len(self._known) >= _CACHE_WORDS:
            self._known.clear()
        cut = word[: LONGEST_NUMBER if word[0].isdigit() else LONGEST_WORD].lower()
        with reading_texts(self._model):
            read = self._tokenizer.encode(" " + cut, add_special_tokens=False)
        ids = self._known[word] = tuple(read.ids)
        return ids

    def _learn_in_code(self, word: str) -> Ids:
        if len(self._known_in_code) >= _CACHE_WORDS:
            self._known_in_code.clear()
        if word.lower() in EMPTY_WORDS:
            ids: Ids = ()
        else:
            known = self._known.get(word)
            ids = self._learn(word) if known is None else known
        self._known_in_code[word] = ids
        return ids
