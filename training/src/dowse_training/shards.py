"""Pairs of documentation and code → shards of token ids, once for all runs.

The exclusion list is applied here again, whatever the pairs went through before.
"""

from __future__ import annotations

import random
from array import array
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dowse.encoders.document import path_words, split_docs
from dowse_training.pairs.exclusion import Exclusion, text_hash
from dowse_training.pairs.files import says_something, split_name
from dowse_training.shard_files import (
    CODE_IDS,
    COLUMNS,
    PARAGRAPH_IDS,
    PATH_IDS,
    QUALIFIER_IDS,
    SENTENCE_IDS,
    TEXT_IDS,
    Shard,
)

if TYPE_CHECKING:
    from dowse.encoders.word_tokenizer import WordTokenizer

# Only the end of a long qualifier tells what a symbol belongs to.
_QUALIFIER_REACH = 60
_SHORTEST_SENTENCE_IDS, _SHORTEST_CODE_IDS = 2, 4


class Parts(NamedTuple):
    """The ids of one pair."""

    qualifier: list[int]
    name: list[int]
    code: list[int]
    sentence: list[int]
    paragraph: list[int]
    rest: list[int]


@dataclass(slots=True)
class Sharder:
    """Collects the pairs of one language; `path_share` of those with a path show its last words."""

    words: WordTokenizer
    exclusion: Exclusion = field(default_factory=Exclusion)
    path_share: float = 0.0
    statistics: Counter[str] = field(default_factory=Counter)
    _random: random.Random = field(default_factory=lambda: random.Random(3))  # noqa: S311 (no secret)
    _tokens: array[int] = field(default_factory=lambda: array("H"))
    _lengths: list[tuple[int, ...]] = field(default_factory=list)
    _packages: dict[str, int] = field(default_factory=dict)
    _package_of: list[int] = field(default_factory=list)
    _seen: set[str] = field(default_factory=set)

    def __len__(self) -> int:
        return len(self._lengths)

    def add(self, pair: dict[str, Any]) -> None:
        """Take one pair, or count why it is left out."""
        self.statistics["read"] += 1
        reason = self._reason_against(pair)
        parts = None if reason else self._parts(pair)
        if parts is not None:
            reason = _too_short(parts)
        if reason or parts is None:
            self.statistics[reason] += 1
            return
        self.statistics["kept"] += 1
        for part in (parts.qualifier, parts.name, parts.code, parts.sentence, parts.paragraph, parts.rest):
            self._tokens.extend(part)
        # The name stands at the beginning of its code: views show it there anyway.
        code = len(parts.name) + len(parts.code)
        text = (len(parts.sentence), len(parts.paragraph), len(parts.rest))
        self._lengths.append((len(parts.qualifier), code, 0, len(parts.name), *text))
        self._package_of.append(self._packages.setdefault(pair["pkg"], len(self._packages)))

    def shard(self, language: str) -> Shard:
        """All pairs taken so far."""
        lengths = np.array(self._lengths, np.uint8).reshape(-1, len(COLUMNS))
        return Shard(
            language, np.array(self._tokens, np.uint16), lengths, np.array(self._package_of, np.int32)
        )

    def _reason_against(self, pair: dict[str, Any]) -> str:
        if reason := self.exclusion.reason(pair["doc"], pair["code"], pair["pkg"]):
            return reason
        if not says_something(pair["doc"]):
            return "heading"
        # Several questions may ask for one function.
        key = text_hash(pair["code"]) + (text_hash(pair["doc"]) if pair.get("kind") == "question" else "")
        if key in self._seen:
            return "dup"
        self._seen.add(key)
        return ""

    def _parts(self, pair: dict[str, Any]) -> Parts:
        text = self.words.encode_text
        sentence, paragraph, rest = split_docs(pair["doc"])
        sentence_ids = text(sentence, SENTENCE_IDS)
        paragraph_ids = text(paragraph, PARAGRAPH_IDS - len(sentence_ids))
        rest_ids = text(rest, TEXT_IDS - len(sentence_ids) - len(paragraph_ids))
        qualifier, name = split_name(pair["name"])
        name_ids, code_ids = self.words.encode_definition(name, pair["code"], CODE_IDS)
        qualifier_ids = text(qualifier[-_QUALIFIER_REACH:], QUALIFIER_IDS)
        if pair.get("path") and self._random.random() < self.path_share:
            self.statistics["path"] += 1
            qualifier_ids = text(path_words(pair["path"]), PATH_IDS) + qualifier_ids
        return Parts(qualifier_ids, name_ids, code_ids, sentence_ids, paragraph_ids, rest_ids)


def _too_short(parts: Parts) -> str:
    if len(parts.sentence) < _SHORTEST_SENTENCE_IDS:
        return "short-doc"
    return "short-code" if len(parts.name) + len(parts.code) < _SHORTEST_CODE_IDS else ""
