"""What query views must know about token ids: where words begin, what articles are, which verbs to bend."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dowse.errors import ConfigError

SPACE = "Ġ"  # how byte-level BPE writes the space a word begins with

_ARTICLES = frozenset({"a", "an", "the"})
# Words people leave out when they type keywords.
_STOP = frozenset(
    "a an the of to in on for with and or is are be by from as at it its this that if which will when into"
    " given using use used can has have was were not do does then than so such any all each new one only also"
    " you your we our i my me there their they these those other".split()
)
# They end in s and are no verbs of the third person.
_NO_VERBS = frozenset("this has does always class process access as was its alias params args".split())
# How a query names a language, when the vocabulary has the word in one piece.
_LANGUAGE_WORDS = {
    "go": ("golang", "go"),
    "javascript": ("javascript", "js"),
    "typescript": ("typescript", "ts"),
    "cpp": ("cpp", "c"),
    "csharp": ("csharp", "c"),
}


class Vocabulary(NamedTuple):
    """Tables with one entry a token id, and the ids of a few words."""

    begins_word: NDArray[np.bool_]
    article: NDArray[np.bool_]
    stop: NDArray[np.bool_]
    imperative: NDArray[np.int64]
    words: Mapping[str, int]

    @property
    def how_to_in(self) -> tuple[int, int, int]:
        """Ids of "how", "to" and "in"."""
        return self.words["how"], self.words["to"], self.words["in"]

    def language(self, language: str) -> list[int]:
        """Ids of the words that name a language, perhaps none."""
        names = _LANGUAGE_WORDS.get(language, (language,))
        return [self.words[name] for name in names if name in self.words]


def read(tokenizer: Path) -> Vocabulary:
    """Read the vocabulary of a byte-level BPE tokenizer.json."""
    try:
        ids: dict[str, int] = json.loads(tokenizer.read_text("utf-8"))["model"]["vocab"]
    except (OSError, KeyError, ValueError) as error:
        raise ConfigError(f"no vocabulary in {tokenizer} ({error}); name a tokenizer.json") from error
    return from_ids(ids)


def from_ids(ids: Mapping[str, int]) -> Vocabulary:
    """Build the tables from a map of pieces to ids."""
    size = max(ids.values()) + 1
    begins = np.zeros(size, bool)
    article, stop = begins.copy(), begins.copy()
    imperative = np.arange(size)
    words = {piece[1:]: number for piece, number in ids.items() if piece.startswith(SPACE)}
    for word, number in words.items():
        begins[number] = True
        article[number] = word in _ARTICLES
        stop[number] = word in _STOP
        imperative[number] = words.get(_bare_verb(word), number)
    return Vocabulary(begins, article, stop, imperative, words)


def _bare_verb(word: str) -> str:
    """Make "return" of "returns": documentation speaks in the third person, people who search do not."""
    plain = word.isalpha() and word.islower() and word.endswith("s")
    if not plain or word.endswith(("ss", "us", "is")) or word in _NO_VERBS:
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-2] if word.endswith(("ches", "shes", "sses", "xes", "zes")) else word[:-1]
