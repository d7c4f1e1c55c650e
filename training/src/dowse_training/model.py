"""The encoder in torch: packed token ids → unit vectors, one a sequence (that of its first token).

A post-norm RoBERTa (exact GELU, layer norm with 1e-12, positions from 2) with heads of 32. Sequences of a
batch lie packed behind each other, so no time goes into padding; the last layer makes only first tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, cast

import torch
import torch.nn.functional as F
from torch import Tensor

from dowse_training import weights as weight_files
from dowse_training.corpus import Piece
from dowse_training.weights import Arrays

Parameters = dict[str, Tensor]

HEAD_SIZE = 32
_EPSILON = 1e-12
_FIRST_POSITION = 2


class Packed(NamedTuple):
    """Sequences behind each other: ids, positions, where each begins (and the end), the longest length."""

    ids: Tensor
    positions: Tensor
    bounds: Tensor
    longest: int


class _Blocks(NamedTuple):
    """The compiled parts of a forward pass for one dropout; `last` has too few rows to be worth compiling."""

    embed: Callable[..., Tensor]
    after_attention: Callable[..., Tensor]
    last: Callable[..., Tensor]


class Network:
    """Runs any encoder of the family; keeps the compiled blocks, not the weights."""

    def __init__(self, device: torch.device, *, compiled: bool = True) -> None:
        self.device = device
        self._cuda = device.type == "cuda"
        self._number = torch.bfloat16 if self._cuda else torch.float32
        self._compiled = compiled and self._cuda
        self._attend = _packed_attention() if self._cuda else _padded_attention
        self._blocks: dict[float, _Blocks] = {}

    def parameters(self, arrays: Arrays) -> Parameters:
        """Weights as parameters to be trained."""
        return {key: tensor.requires_grad_(True) for key, tensor in self.constants(arrays).items()}

    def constants(self, arrays: Arrays) -> Parameters:
        """Weights that stay as they are."""
        number = torch.float32
        return {key: torch.tensor(value, dtype=number, device=self.device) for key, value in arrays.items()}

    def forward(self, parameters: Parameters, packed: Packed, dropout: float = 0.0) -> Tensor:
        """Unit vectors in float32, one a sequence."""
        blocks = self._blocks_for(dropout)
        p, bounds = parameters, packed.bounds
        x = blocks.embed(packed.ids, packed.positions, *(p[key] for key in _EMBEDDING))
        numbers = weight_files.layers(p)
        for number in numbers:
            weight, bias, *others = (p[f"l{number}.{key}"] for key in _LAYER)
            width = x.shape[-1]
            qkv = F.linear(x, weight.to(self._number), bias.to(self._number))
            q, k, v = qkv.view(-1, 3, width // HEAD_SIZE, HEAD_SIZE).unbind(1)
            if number == numbers[-1]:
                first = bounds[:-1].long()
                one_each = torch.arange(len(bounds), device=bounds.device, dtype=bounds.dtype)
                attended = self._attend(q[first].contiguous(), k, v, one_each, bounds, 1, packed.longest)
                x = blocks.last(x[first], attended.reshape(-1, width), *others)
            else:
                attended = self._attend(q, k, v, bounds, bounds, packed.longest, packed.longest)
                x = blocks.after_attention(x, attended.reshape(-1, width), *others)
        return F.normalize(x.float(), dim=-1)

    def encode(self, parameters: Parameters, piece: Piece, rows: int = 8192) -> Tensor:
        """Unit vectors of many sequences, some at a time and without gradients."""
        with torch.no_grad():
            parts = [
                self.forward(parameters, pack([Piece(piece.ids[i : i + rows], piece.keep[i : i + rows])]))
                for i in range(0, len(piece.ids), rows)
            ]
        return torch.cat(parts)

    def _blocks_for(self, dropout: float) -> _Blocks:
        if dropout not in self._blocks:
            embed, after = _embedding(self._number, dropout), _after_attention(self._number, dropout)
            if self._compiled:
                embed_c, after_c = torch.compile(embed, dynamic=True), torch.compile(after, dynamic=True)
                self._blocks[dropout] = _Blocks(embed_c, after_c, after)
            else:
                self._blocks[dropout] = _Blocks(embed, after, after)
        return self._blocks[dropout]


_EMBEDDING = ("word_emb", "pos_emb", "type_emb", "emb_ln.w", "emb_ln.b")
_LAYER = (
    "qkv.w", "qkv.b", "ao.w", "ao.b", "aln.w", "aln.b", "f1.w", "f1.b", "f2.w", "f2.b", "fln.w", "fln.b"
)  # fmt: skip


def pack(pieces: Sequence[Piece]) -> Packed:
    """Rows of all pieces in their order, each a sequence of the ids that count."""
    ids = torch.cat([piece.ids[piece.keep] for piece in pieces])
    positions = torch.cat([(piece.keep.cumsum(1) - 1)[piece.keep] for piece in pieces])
    lengths = torch.cat([piece.keep.sum(1) for piece in pieces])
    bounds = F.pad(lengths.cumsum(0), (1, 0)).int()
    return Packed(ids, positions, bounds, int(lengths.max()))


def arrays(parameters: Mapping[str, Tensor]) -> Arrays:
    """Parameters as arrays, to be written."""
    return {key: value.detach().float().cpu().numpy() for key, value in parameters.items()}


def _embedding(number: torch.dtype, dropout: float) -> Callable[..., Tensor]:
    drop = _dropper(dropout)

    def embed(
        ids: Tensor, positions: Tensor, words: Tensor, places: Tensor, types: Tensor,
        scale: Tensor, shift: Tensor,
    ) -> Tensor:  # fmt: skip
        x = F.embedding(ids, words) + F.embedding(positions + _FIRST_POSITION, places) + types[0]
        return drop(F.layer_norm(x, x.shape[-1:], scale, shift, _EPSILON).to(number))

    return embed


def _after_attention(number: torch.dtype, dropout: float) -> Callable[..., Tensor]:
    drop = _dropper(dropout)

    def dense(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        return F.linear(x, weight.to(number), bias.to(number))

    def added(x: Tensor, y: Tensor, scale: Tensor, shift: Tensor) -> Tensor:
        total = (x + drop(y)).float()
        return F.layer_norm(total, total.shape[-1:], scale, shift, _EPSILON).to(number)

    def after(
        x: Tensor, attended: Tensor, ao_w: Tensor, ao_b: Tensor, aln_w: Tensor, aln_b: Tensor,
        f1_w: Tensor, f1_b: Tensor, f2_w: Tensor, f2_b: Tensor, fln_w: Tensor, fln_b: Tensor,
    ) -> Tensor:  # fmt: skip
        x = added(x, dense(attended, ao_w, ao_b), aln_w, aln_b)
        return added(x, dense(F.gelu(dense(x, f1_w, f1_b)), f2_w, f2_b), fln_w, fln_b)

    return after


def _dropper(share: float) -> Callable[[Tensor], Tensor]:
    """Chosen before compiling: no branch on a number is left inside the block."""
    return (lambda x: F.dropout(x, share, True)) if share else (lambda x: x)


def _packed_attention() -> Callable[..., Tensor]:
    try:
        from torch.nn.attention.varlen import varlen_attn
    except ImportError:  # torch before 2.10
        return _padded_attention

    def attend(
        q: Tensor, k: Tensor, v: Tensor, q_bounds: Tensor, k_bounds: Tensor, q_longest: int, k_longest: int
    ) -> Tensor:
        out = varlen_attn(q, k, v, q_bounds, k_bounds, q_longest, k_longest)
        return cast(Tensor, out)  # it is a pair only if asked for more

    return attend


def _padded_attention(
    q: Tensor, k: Tensor, v: Tensor, q_bounds: Tensor, k_bounds: Tensor, q_longest: int, k_longest: int
) -> Tensor:
    """The same for devices without a packed kernel."""
    q_live, k_live = _live(q_bounds, q_longest), _live(k_bounds, k_longest)
    q, k, v = _padded(q, q_live), _padded(k, k_live), _padded(v, k_live)
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=k_live[:, None, None, :])
    return out.transpose(1, 2)[q_live]


def _live(bounds: Tensor, longest: int) -> Tensor:
    return torch.arange(longest, device=bounds.device)[None] < bounds.diff()[:, None]


def _padded(x: Tensor, live: Tensor) -> Tensor:
    out = x.new_zeros(*live.shape, *x.shape[1:])
    out[live] = x
    return out.transpose(1, 2)
