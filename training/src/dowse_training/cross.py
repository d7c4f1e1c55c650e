"""A cross-encoder as a teacher: what it makes of each query of a chunk with each code of that chunk.

It reads a query and a code in one sequence, so it sees more than two vectors can hold; the encoder is trained
to order the chunk as the sum of an encoder's cosine and the cross-encoder's score does.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from dowse_training import loss
from dowse_training.corpus import Piece
from dowse_training.export_cross import CROSS_FORM
from dowse_training.model import Network, Packed, Parameters, pack

_QUERY_IDS = CROSS_FORM.query + 2  # with both its marks
_CODE_IDS = CROSS_FORM.tokens - 1  # without <s>: the query's stands for both
# Weights of cosine and score: the best of seven by five on twelve lists of held-back pairs.
COSINE, SCORE = 22.0, 1.0


@dataclass(frozen=True, slots=True)
class Lists:
    """Rows of a batch in lists of one chunk, and every query of a list with every code of it."""

    rows: Tensor  # lists × size: places in the batch
    pairs: Packed  # list after list, query after query
    alone: Packed  # the same queries, then codes, each by itself


def lists(queries: Piece, codes: Piece, count: int, size: int) -> Lists:
    """Draw `count` rows of a batch, in chunks of `size` neighbours."""
    device = queries.ids.device
    chunks = len(queries.ids) // size
    chosen = torch.randperm(chunks, device=device)[: max(1, count // size)]
    rows = chosen[:, None] * size + torch.arange(size, device=device)[None]
    query, code = _take(queries, rows.reshape(-1)), _take(codes, rows.reshape(-1))
    head = _squeezed(query, _QUERY_IDS)
    tail = _squeezed(Piece(code.ids[:, 1:], code.keep[:, 1:]), _CODE_IDS)
    many, n = len(chosen), size
    left = [part.view(many, n, 1, -1).expand(-1, -1, n, -1).reshape(many * n * n, -1) for part in head]
    right = [part.view(many, 1, n, -1).expand(-1, n, -1, -1).reshape(many * n * n, -1) for part in tail]
    both = Piece(torch.cat([left[0], right[0]], 1), torch.cat([left[1], right[1]], 1))
    return Lists(rows, pack([both]), pack([query, code]))


def teach(network: Network, encoder: Parameters, cross: Parameters, asked: Lists) -> Tensor:
    """The teacher's logits: lists × queries × codes."""
    many, size = asked.rows.shape
    with torch.no_grad():
        head = cross["head"] * cross["head"].shape[0] ** 0.5
        score = (network.forward(cross, asked.pairs) @ head).view(many, size, size)
        vectors = network.forward(encoder, asked.alone).view(2, many, size, -1)
        return COSINE * vectors[0] @ vectors[1].transpose(1, 2) + SCORE * score


def divergence(vectors: Tensor, count: int, asked: Lists, taught: Tensor, temperature: float) -> Tensor:
    """How far the batch's vectors (queries first, `count` of them) are from ordering the lists as taught."""
    queries, codes = vectors[:count][asked.rows], vectors[count:][asked.rows]
    own = queries @ codes.transpose(1, 2) / temperature
    by_query = loss.divergence(own.flatten(0, 1), taught.flatten(0, 1))
    by_code = loss.divergence(own.transpose(1, 2).flatten(0, 1), taught.transpose(1, 2).flatten(0, 1))
    return (by_query + by_code) / 2


def _take(piece: Piece, rows: Tensor) -> Piece:
    return Piece(piece.ids[rows], piece.keep[rows])


def _squeezed(piece: Piece, columns: int) -> Piece:
    """At most so many of the ids that count, in the first columns; the closing mark is always kept."""
    place = piece.keep.cumsum(1)
    keep = piece.keep & ((place < columns) | (place == place[:, -1:]))
    order = (~keep).int().sort(dim=1, stable=True).indices[:, :columns]
    return Piece(piece.ids.gather(1, order), keep.gather(1, order))
