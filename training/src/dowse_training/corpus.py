"""All pairs of the shards as tensors on one device, and the pieces they are made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from dowse_training import shard_files
from dowse_training.shard_files import (
    CODE,
    CODE_IDS,
    NAME,
    NAME_IDS,
    NAME_START,
    PARAGRAPH,
    QUALIFIER,
    REST,
    SENTENCE,
    SENTENCE_IDS,
    Shard,
)


class Span(NamedTuple):
    """Where a part of each pair begins among the corpus' tokens, and how long it is."""

    start: Tensor
    length: Tensor


class Rows(NamedTuple):
    """The parts of some pairs."""

    qualifier: Span
    code: Span
    name: Span
    sentence: Span
    paragraph: Span
    text: Span


class Piece(NamedTuple):
    """Token ids, one row a pair, and which of them count; the others are skipped, not padding."""

    ids: Tensor
    keep: Tensor


class Corpus:
    """The tokens of all pairs, their parts, and hashes that tell equal parts."""

    def __init__(self, shards: Sequence[Shard], device: torch.device) -> None:
        lengths = np.concatenate([shard.lengths for shard in shards])
        tokens = np.concatenate([shard.tokens for shard in shards])
        self.device = device
        self.tokens = torch.from_numpy(tokens.astype(np.int32)).to(device)
        self._lengths = torch.from_numpy(lengths.astype(np.int32)).to(device)
        self._offsets = torch.from_numpy(shard_files.offsets(lengths)).to(device)
        self.ranges = _ranges(shards)
        self.packages = torch.from_numpy(_packages(shards)).to(device)
        everything = self.rows(torch.arange(len(lengths), device=device))
        self.same_sentence = self._hashes(everything.sentence, SENTENCE_IDS)
        self.same_name = self._hashes(everything.name, NAME_IDS)
        self.same_code = self._hashes(everything.code, CODE_IDS)

    def __len__(self) -> int:
        return len(self._lengths)

    def rows(self, pairs: Tensor) -> Rows:
        """Where the parts of these pairs are."""
        lengths = self._lengths[pairs].long()
        qualifier = self._offsets[pairs]
        code = qualifier + lengths[:, QUALIFIER]
        text = code + lengths[:, CODE]
        paragraph = lengths[:, SENTENCE] + lengths[:, PARAGRAPH]
        return Rows(
            Span(qualifier, lengths[:, QUALIFIER]),
            Span(code, lengths[:, CODE]),
            Span(code + lengths[:, NAME_START], lengths[:, NAME]),
            Span(text, lengths[:, SENTENCE]),
            Span(text, paragraph),
            Span(text, paragraph + lengths[:, REST]),
        )

    def cut(self, span: Span, columns: int) -> Piece:
        """The first `columns` ids of a part."""
        column = torch.arange(columns, device=self.device)[None]
        index = (span.start[:, None] + column).clamp(max=len(self.tokens) - 1)
        return Piece(self.tokens[index].long(), column < span.length[:, None])

    def _hashes(self, span: Span, columns: int) -> Tensor:
        """A 64-bit hash of a part of each pair; column by column, for a whole corpus is too much at once."""
        generator = torch.Generator().manual_seed(5)
        values = torch.randint(-(2**62), 2**62, (2**16,), generator=generator).to(self.device)
        weights = (torch.randint(0, 2**40, (columns,), generator=generator) * 2 + 1).to(self.device)
        out = torch.zeros(len(span.start), dtype=torch.int64, device=self.device)
        for column in range(columns):
            index = (span.start + column).clamp(max=len(self.tokens) - 1)
            value = values[self.tokens[index].long()] * weights[column]
            out += torch.where(column < span.length, value, 0)
        return out


def _ranges(shards: Sequence[Shard]) -> dict[str, tuple[int, int]]:
    """First pair and one past the last, for each language."""
    out, first = {}, 0
    for shard in shards:
        out[shard.language] = (first, first + len(shard.lengths))
        first += len(shard.lengths)
    return out


def _packages(shards: Sequence[Shard]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Package numbers that differ from language to language."""
    return np.concatenate([s.packages.astype(np.int64) + number * 10**6 for number, s in enumerate(shards)])
