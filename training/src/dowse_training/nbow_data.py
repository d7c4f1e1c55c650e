"""Pairs of documentation and code as bags of token ids, for the neural bag of words."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dowse.encoders.document import Document, Form, query_view, views
from dowse.encoders.word_tokenizer import MAX_NUMBER_CHARACTERS, MAX_WORD_CHARACTERS, WORD
from dowse.eval.mine.doc_pairs import first_paragraph
from dowse.research.nbow import bag
from dowse_training.pairs.exclusion import Exclusion, text_hash
from dowse_training.pairs.files import PairFile, languages_of, rows_of, says_something, split_name

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    from dowse.encoders.word_tokenizer import WordTokenizer

# The tokenizer learns from this many pairs of each language: a million words or so.
TOKENIZER_PAIRS = 8_000

# What `dowse.encoders.word_tokenizer` takes the first four ids to be.
_SPECIAL_TOKENS = ["<s>", "<pad>", "</s>", "<unk>"]

# A bag of fewer tokens says too little to be told from the others of its batch.
_MIN_DOC_TOKENS, _MIN_CODE_TOKENS = 2, 4


def read_pairs(files: Sequence[PairFile], language: str, exclusion: Exclusion) -> Iterator[dict[str, Any]]:
    """The pairs of a language, without those that must not be trained on and those that say nothing."""
    for row in rows_of(files, language):
        if says_something(row["doc"]) and not exclusion.reason(row["doc"], row["code"], row["pkg"]):
            yield row


def train_tokenizer(files: Sequence[PairFile], exclusion: Exclusion, size: int) -> Tokenizer:
    """Learn a byte-level BPE vocabulary from the words of the pairs, identifiers split."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=_SPECIAL_TOKENS,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    pairs = (
        pair
        for language in languages_of(files)
        for pair in islice(read_pairs(files, language, exclusion), TOKENIZER_PAIRS)
    )
    texts = (_plain_words(f"{pair['doc']} {pair['code']}") for pair in pairs)
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


@dataclass(slots=True)
class Bags:
    """Many bags of token ids, one after another."""

    ids: array[int] = field(default_factory=lambda: array("H"))
    ends: array[int] = field(default_factory=lambda: array("q", [0]))

    def __len__(self) -> int:
        return len(self.ends) - 1

    def append(self, ids: Iterable[int]) -> None:
        """Add one bag."""
        self.ids.extend(ids)
        self.ends.append(len(self.ids))

    def select(self, rows: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """The ids of some bags on end, and where each of them starts."""
        ends = np.frombuffer(self.ends, np.int64)
        starts, lengths = ends[rows], ends[rows + 1] - ends[rows]
        offsets = np.cumsum(lengths) - lengths
        places = np.arange(int(lengths.sum())) + np.repeat(starts - offsets, lengths)
        return np.frombuffer(self.ids, np.uint16)[places].astype(np.int64), offsets

    def lists(self) -> list[array[int]]:
        """Every bag by itself."""
        return [self.ids[start:end] for start, end in pairwise(self.ends)]

    def counts(self, size: int) -> npt.NDArray[np.int64]:
        """How often each token occurs."""
        return np.bincount(np.frombuffer(self.ids, np.uint16), minlength=size)


@dataclass(slots=True)
class PairBags:
    """The pairs of one language: code, the first paragraph of its documentation, and all of it."""

    code: Bags = field(default_factory=Bags)
    summaries: Bags = field(default_factory=Bags)
    docs: Bags = field(default_factory=Bags)

    def __len__(self) -> int:
        return len(self.code)


def read_bags(
    files: Sequence[PairFile],
    exclusion: Exclusion,
    words: WordTokenizer,
    form: Form,
    limit: int | None = None,
) -> dict[str, PairBags]:
    """The pairs of each language as bags, `limit` at most; a function seen before is left out."""
    bags: dict[str, PairBags] = {}
    seen: set[str] = set()
    for language in languages_of(files):
        target = bags[language] = PairBags()
        for pair in read_pairs(files, language, exclusion):
            if limit is not None and len(target) >= limit:
                break
            if (key := text_hash(pair["code"])) not in seen:
                seen.add(key)
                _append(target, pair, language, words, form)
    return {language: of_language for language, of_language in bags.items() if len(of_language)}


def _append(target: PairBags, pair: dict[str, Any], language: str, words: WordTokenizer, form: Form) -> None:
    summary = bag(query_view(first_paragraph(pair["doc"]), words, form))
    # Its documentation is the query, and so no part of the document.
    document = Document(*split_name(pair["name"]), docs="", code=pair["code"], language=language)
    code = bag(views(document, words, form)[0])
    if len(summary) >= _MIN_DOC_TOKENS and len(code) >= _MIN_CODE_TOKENS:
        target.code.append(code)
        target.summaries.append(summary)
        target.docs.append(bag(query_view(pair["doc"], words, form)))


def _plain_words(text: str) -> str:
    """A text as `WordTokenizer` gives it to the tokenizer: a space before every word."""
    words = (
        word[: MAX_NUMBER_CHARACTERS if word[0].isdigit() else MAX_WORD_CHARACTERS]
        for word in WORD.findall(text)
    )
    return "".join(f" {word.lower()}" for word in words)
