"""Byte-pair encoding of words by the tokenizer.json of a model (Sennrich et al., 2016).

The tokenizers library reads any tokenizer.json, and costs 31 MB with what it depends on. dowse's own models
have one kind, a byte-level BPE as GPT-2's, which this reads: the same ids, as fast.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable, Iterable
from itertools import groupby, pairwise
from typing import Any

# Ids have 16 bits, so that a pair of them is a number of 32; the last one is none.
MAX_ID = (1 << 16) - 1
NO_ID = MAX_ID
# No pair has so high a rank.
NO_MERGE = 1 << 40
# Byte-level BPE writes a space as this letter.
SPACE = "Ġ"
# Options of BPE that this reader lacks.
_OTHER_OPTIONS = """
    dropout unk_token continuing_subword_prefix end_of_word_suffix byte_fallback ignore_merges
""".split()


class BytePairs:
    """Encodes words with the merges of a tokenizer."""

    def __init__(self, tokenizer: str | bytes) -> None:
        """Read the JSON of a tokenizer; raises ValueError if it is of another kind."""
        content = json.loads(tokenizer)
        _check_kind(content)
        model = content["model"]
        vocabulary: dict[str, int] = model["vocab"]
        self.largest_id = max(vocabulary.values(), default=0)  # there may be gaps below
        if self.largest_id >= MAX_ID or len(model["merges"]) > MAX_ID:
            raise ValueError("its vocabulary is too large")
        # Written as "left right" or, in newer files, as a pair.
        lines = [each if isinstance(each, str) else " ".join(each) for each in model["merges"]]
        parts = list(map(vocabulary.__getitem__, "\n".join(lines).split()))
        texts = "\n".join(lines).replace(" ", "").split()
        merged = list(map(vocabulary.__getitem__, texts))
        pairs = (left << 16 | right for left, right in zip(parts[::2], parts[1::2], strict=True))
        ranks = (rank << 16 | id_ for rank, id_ in enumerate(merged))
        self._merges = dict(zip(pairs, ranks, strict=True))
        # What merges made is made of its own text, too, by the same merges.
        self._tokens = dict(zip(texts, merged, strict=True))
        self._first = [vocabulary.get(each, NO_ID) for each in byte_symbols()]

    def encode(self, word: str) -> list[int]:
        """Return the ids of a space and a word: lower-case letters and numbers of any script."""
        if word.isascii():
            token = self._tokens.get(SPACE + word)
            return [token] if token is not None else self._encode_bytes(b" " + word.encode())
        first, *others = ("".join(part) for _, part in groupby(word, _split_class))
        return [id_ for part in (" " + first, *others) for id_ in self._encode_bytes(part.encode())]

    def _encode_bytes(self, text: bytes) -> list[int]:
        return merge(map(self._first.__getitem__, text), self._merges.get)


def merge(symbols: Iterable[int], rank_of: Callable[[int, int], int]) -> list[int]:
    """Merge the pair of the lowest rank, of equal ones the first, until no pair can be merged.

    Args:
        symbols: The ids of single symbols; one without an id is left out.
        rank_of: Gives the rank and the id that a pair becomes, in one number, or the second argument.
    """
    ids = [id_ for id_ in symbols if id_ != NO_ID]
    ids.append(NO_ID)  # the end: it is part of no merge
    ranks = [rank_of(left << 16 | right, NO_MERGE) for left, right in pairwise(ids)]
    while (best := min(ranks, default=NO_MERGE)) != NO_MERGE:
        at = ranks.index(best)
        both = ids[at] = best & MAX_ID
        del ids[at + 1], ranks[at]
        ranks[at] = rank_of(both << 16 | ids[at + 1], NO_MERGE)
        if at:
            ranks[at - 1] = rank_of(ids[at - 1] << 16 | both, NO_MERGE)
    ids.pop()
    return ids


def byte_symbols() -> list[str]:
    """Return the letters by which byte-level BPE writes the 256 bytes: printable ones as themselves."""
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = iter(range(0x100, 0x200))
    return [chr(byte if byte in printable else next(others)) for byte in range(256)]


def _split_class(character: str) -> str:
    """Tell letters, numbers and the rest apart: GPT-2 splits between them."""
    kind = unicodedata.category(character)[0]
    return kind if kind in "LN" else ""


def _check_kind(content: dict[str, Any]) -> None:
    """Raise ValueError unless this reader gives the ids that the tokenizers library would."""
    model, splitter = content["model"], content.get("pre_tokenizer") or {}
    is_byte_level = model.get("type") == "BPE" and splitter.get("type") == "ByteLevel"
    added = [token["content"].strip() for token in content.get("added_tokens", ())]
    if (
        not is_byte_level
        or not splitter.get("use_regex", True)
        or content.get("normalizer") is not None
        or any(model.get(option) for option in _OTHER_OPTIONS)
        or any(text.isalnum() for text in added)  # these would be found in words before all merges
    ):
        raise ValueError("it is no byte-level BPE as GPT-2's")
