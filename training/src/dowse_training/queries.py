"""Queries as people write them, made from a pair's documentation and name on the device, a kind for each row.

Documentation stays as it is for three kinds (first sentence, paragraph, text). The others are web style:
without articles and other small words, "returns" as "return", three to ten words, "how to" before or
"in python" behind; made of the sentence, of the name, or of two to five words that say something.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from dowse_training.corpus import Corpus, Piece, Rows, Span
from dowse_training.plan import QUERY_KINDS
from dowse_training.shard_files import TEXT_IDS
from dowse_training.views import closed
from dowse_training.vocabulary import Vocabulary

SENTENCE, PARAGRAPH, TEXT, WEB, NAME, FEW = range(len(QUERY_KINDS))
QUERY_LIMIT = TEXT_IDS + 8  # room for "python how to … in python" and both ends

_NO_ARTICLES, _NO_STOP_WORDS, _WORD_LOST = 0.85, 0.5, 0.08
_IMPERATIVE, _HOW_TO = 0.8, 0.25
_LANGUAGE_BEFORE, _LANGUAGE_BEHIND, _WITH_IN = 0.25, 0.3, 0.5
_MOST_WORDS = (3, 11)  # from, to (exclusive)
_FEW_WORDS = (1, 5)  # rank of the last word kept, from 0
_DOCUMENTATION_LOSSY, _DOCUMENTATION_LOST = 0.3, 0.15


class QueryMaker:
    """Makes the queries of a batch; holds the vocabulary's tables on the device."""

    def __init__(self, vocabulary: Vocabulary, device: torch.device) -> None:
        self._vocabulary = vocabulary
        self._device = device
        self._begins_word = torch.from_numpy(vocabulary.begins_word).to(device)
        self._article = torch.from_numpy(vocabulary.article).to(device)
        self._stop = torch.from_numpy(vocabulary.stop).to(device)
        self._imperative = torch.from_numpy(vocabulary.imperative).to(device)

    def view(
        self, corpus: Corpus, rows: Rows, kind: Tensor, language: str, *, lose_words: bool = False
    ) -> Piece:
        """Queries for some pairs of one language."""
        ids, keep = corpus.cut(_source(rows, kind), TEXT_IDS)
        begins = self._begins_word[ids] & keep
        word = begins.cumsum(1)  # number of the word an id belongs to, from 1
        web = (kind >= WEB)[:, None]
        dropped = (self._lost_words(word) & (kind == WEB)[:, None]) | self._small_words(ids)
        if lose_words:
            lossy = (self._chance(len(ids)) < _DOCUMENTATION_LOSSY) & ~web
            keep = keep & ~((torch.rand(keep.shape, device=self._device) < _DOCUMENTATION_LOST) & lossy)
        few = self._few_words(begins & ~self._stop[ids], word) & keep
        dropped = torch.where((kind == FEW)[:, None], ~few, dropped)
        kept = self._shortened(ids, keep & ~(dropped & web), web)
        kept = torch.where(kept.any(1, keepdim=True), kept, keep)  # a query is never empty
        bent = web & (word == 1) & (self._chance(len(ids)) < _IMPERATIVE)
        ids = torch.where(bent, self._imperative[ids], ids)
        return closed(self._decorated(Piece(ids, kept), web, language), QUERY_LIMIT)

    def _chance(self, rows: int) -> Tensor:
        """One random number a row."""
        return torch.rand(rows, 1, device=self._device)

    def _small_words(self, ids: Tensor) -> Tensor:
        articles = self._article[ids] & (self._chance(len(ids)) < _NO_ARTICLES)
        return articles | (self._stop[ids] & (self._chance(len(ids)) < _NO_STOP_WORDS))

    def _lost_words(self, word: Tensor) -> Tensor:
        """A word is lost with all its ids, so the dice are thrown for words."""
        dice = torch.rand(len(word), TEXT_IDS + 1, device=self._device)
        return torch.gather(dice, 1, word) < _WORD_LOST

    def _few_words(self, telling: Tensor, word: Tensor) -> Tensor:
        """Ids of two to five words, chosen among those that begin with a `telling` id."""
        nowhere = TEXT_IDS + 1
        worth = torch.full((len(word), nowhere + 1), -1.0, device=self._device)
        dice = torch.rand(word.shape, device=self._device)
        worth.scatter_(1, torch.where(telling, word, nowhere), dice)
        worth[:, nowhere] = -1.0
        rank = torch.randint(*_FEW_WORDS, (len(word), 1), device=self._device)
        least = worth.sort(1, descending=True).values.gather(1, rank).clamp(min=0)
        return torch.gather(worth, 1, word) >= least

    def _shortened(self, ids: Tensor, keep: Tensor, web: Tensor) -> Tensor:
        most = torch.randint(*_MOST_WORDS, (len(ids), 1), device=self._device)
        return keep & (~web | ((self._begins_word[ids] & keep).cumsum(1) <= most))

    def _decorated(self, query: Piece, web: Tensor, language: str) -> list[Piece]:
        """[python] [how to] query [in] [python]."""
        rows = len(query.ids)
        how_to = (self._chance(rows) < _HOW_TO) & web
        place = self._chance(rows)
        before = (place < _LANGUAGE_BEFORE) & web
        behind = (place > _LANGUAGE_BEFORE) & (place < _LANGUAGE_BEFORE + _LANGUAGE_BEHIND) & web
        with_in = behind & (self._chance(rows) < _WITH_IN)
        how, to, in_ = (query.ids.new_full((rows, 1), word) for word in self._vocabulary.how_to_in)
        names = self._vocabulary.language(language)
        if not names:
            return [Piece(how, how_to), Piece(to, how_to), query]
        pick = torch.randint(len(names), (rows, 1), device=self._device)
        name = torch.tensor(names, device=self._device)[pick]
        head = [Piece(name, before), Piece(how, how_to), Piece(to, how_to)]
        return [*head, query, Piece(in_, with_in), Piece(name, behind)]


def draw_kinds(mix: Mapping[str, float], rows: Rows) -> Tensor:
    """A kind for each row; a pair whose name is one id gets web style instead of its name."""
    device = rows.name.length.device
    weights = torch.tensor([mix.get(kind, 0.0) for kind in QUERY_KINDS], device=device)
    kind = torch.multinomial(weights, len(rows.name.length), replacement=True)
    return torch.where((rows.name.length < 2) & (kind == NAME), WEB, kind)


def paragraphs(corpus: Corpus, pairs: Tensor) -> Piece:
    """First paragraphs as they are: the queries of mining and validation."""
    return closed([corpus.cut(corpus.rows(pairs).paragraph, TEXT_IDS)], TEXT_IDS + 10)


def _source(rows: Rows, kind: Tensor) -> Span:
    """The part of its pair that each query is made of."""
    start = torch.where(kind == NAME, rows.name.start, rows.sentence.start)
    length = rows.sentence.length
    for one, span in ((PARAGRAPH, rows.paragraph), (TEXT, rows.text), (NAME, rows.name)):
        length = torch.where(kind == one, span.length, length)
    return Span(start, length)
