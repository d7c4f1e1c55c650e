"""What the encoder is shown of a pair's code in training: [qualifier] name [sentence] code, some left out.

The code stands without its name, which comes first as it does in an index. A view of a whole batch is made at
once on the device: pieces side by side, and a mask of the ids that count.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from dowse.encoders.word_tokenizer import BOS, EOS
from dowse_training.corpus import Corpus, Piece, Rows, Span
from dowse_training.shard_files import NAME_IDS, PATH_IDS, QUALIFIER_IDS, SENTENCE_IDS

# Of 60 % of the views up to 30 % of the ids are lost, and of 30 % a stretch of up to 40 %: the model must not
# lean on single words of the code.
_LOSSY, _LOST = 0.6, 0.3
_TORN, _STRETCH = 0.3, 0.4


class Shown(NamedTuple):
    """Which parts each row shows, a flag a row."""

    qualifier: Tensor
    name: Tensor
    sentence: Tensor


def code_view(corpus: Corpus, rows: Rows, shown: Shown, limit: int, *, lose_words: bool = False) -> Piece:
    """The code of some pairs, at most `limit` ids with <s> and </s>."""
    qualifier = corpus.cut(rows.qualifier, PATH_IDS + QUALIFIER_IDS)
    name = corpus.cut(rows.name, NAME_IDS)
    sentence = corpus.cut(rows.sentence, SENTENCE_IDS)
    pieces = [
        Piece(qualifier.ids, qualifier.keep & shown.qualifier[:, None]),
        Piece(name.ids, name.keep & shown.name[:, None]),
        Piece(sentence.ids, sentence.keep & shown.sentence[:, None]),
        _nameless_code(corpus, rows, limit, lose_words),
    ]
    return closed(pieces, limit)


def plain_code(corpus: Corpus, pairs: Tensor, limit: int) -> Piece:
    """The view an index uses when there is no documentation: qualifier, name and code."""
    all_rows = torch.ones(len(pairs), dtype=torch.bool, device=corpus.device)
    return code_view(corpus, corpus.rows(pairs), Shown(all_rows, all_rows, ~all_rows), limit)


def closed(pieces: Sequence[Piece], limit: int) -> Piece:
    """<s>, at most `limit` - 2 of the ids that count, </s>."""
    ids = torch.cat([piece.ids for piece in pieces], 1)
    keep = torch.cat([piece.keep for piece in pieces], 1)
    keep = keep & (keep.cumsum(1) <= limit - 2)
    always = torch.ones(len(ids), 1, dtype=torch.bool, device=ids.device)
    first, last = ids.new_full((len(ids), 1), BOS), ids.new_full((len(ids), 1), EOS)
    return Piece(torch.cat([first, ids, last], 1), torch.cat([always, keep, always], 1))


def _nameless_code(corpus: Corpus, rows: Rows, limit: int, lose_words: bool) -> Piece:
    code = corpus.cut(rows.code, limit)
    column = torch.arange(limit, device=corpus.device)[None]
    start = (rows.name.start - rows.code.start)[:, None]
    keep = code.keep & ~((column >= start) & (column < start + rows.name.length[:, None]))
    return Piece(code.ids, _some_lost(keep, rows.code, column) if lose_words else keep)


def _some_lost(keep: Tensor, code: Span, column: Tensor) -> Tensor:
    """Fewer of the ids count: some at random, some in a stretch."""
    count, device = len(keep), keep.device
    share = torch.rand(count, 1, device=device) * _LOST * (torch.rand(count, 1, device=device) < _LOSSY)
    keep = keep & (torch.rand(keep.shape, device=device) >= share)
    length = code.length[:, None]
    start = (torch.rand(count, 1, device=device) * length).long()
    stretch = (torch.rand(count, 1, device=device) * _STRETCH * length).long()
    stretch = stretch * (torch.rand(count, 1, device=device) < _TORN)
    return keep & ~((column >= start) & (column < start + stretch))
