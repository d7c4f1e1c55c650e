"""Training of a token table: sums of token vectors that come close to the document vectors of an encoder.

The encoder stays as it is and is the teacher. A batch of pairs gives its queries' vectors and, for each code,
the teacher's vector and the table's. The table learns to rank the codes for each query as the teacher does
(Kullback-Leibler divergence), to find the right one (cross entropy), and the vectors themselves (cosine),
also of names and sentences, which a document has as views of their own.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from dowse.encoders.document import Form
from dowse.encoders.model_files import CONFIG_FILE
from dowse.encoders.onnx_encoder import WEIGHTS_FILE
from dowse.encoders.token_table import ARCHITECTURE, FORMAT_VERSION
from dowse.encoders.word_tokenizer import BOS, EOS
from dowse_training.corpus import Corpus, Piece
from dowse_training.journal import Journal
from dowse_training.model import Network, Packed, Parameters, pack
from dowse_training.shard_files import NAME_IDS
from dowse_training.views import closed, plain_code

_TEMPERATURE = 0.05
_WARM_UP_STEPS, _LAST_RATE = 100, 0.02
_PLACE_RATE = 0.01
# Of the losses: the right code, cosines of codes; the others have weight 1.
_RIGHT, _CLOSE = 0.5, 2.0
_LOG_STEPS = 200
# A query is ranked among this many codes when a run checks itself.
_POOL = 5_000


@dataclass(frozen=True, slots=True)
class TableOptions:
    """How to train."""

    epochs: int = 6
    batch: int = 4096
    rate: float = 0.003
    seed: int = 0


class Table:
    """The parameters: a vector for each token, the logarithm of the weight of each place, an offset."""

    def __init__(self, vectors: Tensor, places: int) -> None:
        self.vectors = vectors.clone().requires_grad_(True)
        self.places = vectors.new_zeros(places).requires_grad_(True)
        self.offset = vectors.new_zeros(vectors.shape[1]).requires_grad_(True)

    def encode(self, packed: Packed) -> Tensor:
        """Unit vectors, one a sequence."""
        lengths = packed.bounds.diff()
        owners = torch.repeat_interleave(torch.arange(len(lengths), device=lengths.device), lengths)
        tokens = F.embedding(packed.ids, self.vectors) * self.places.exp()[packed.positions][:, None]
        sums = tokens.new_zeros(len(lengths), tokens.shape[1]).index_add(0, owners, tokens)
        return F.normalize(sums / lengths[:, None].sqrt() + self.offset, dim=-1)

    def write(self, folder: Path, name: str, of: str) -> None:
        """Write a model folder, with rows in eight bits."""
        folder.mkdir(parents=True, exist_ok=True)
        rows = self.vectors.detach()
        scales = rows.abs().amax(1, keepdim=True).clamp(min=1e-9) / 127
        numbers = torch.cat([scales.flatten(), self.places.detach().exp(), self.offset.detach()])
        data = (rows / scales).round().to(torch.int8).cpu().numpy().tobytes()
        data += numbers.cpu().numpy().astype(np.float32).tobytes()
        (folder / WEIGHTS_FILE).write_bytes(data)
        description = {
            "arch": ARCHITECTURE,
            "version": FORMAT_VERSION,
            "name": name,
            "of": of,
            "tokens": len(rows),
            "places": len(self.places),
            "sha256": {WEIGHTS_FILE: hashlib.sha256(data).hexdigest()},
        }
        (folder / CONFIG_FILE).write_text(json.dumps(description, indent=2) + "\n")


class TableTrainer:
    """Trains a table of one encoder on pairs."""

    def __init__(self, network: Network, teacher: Parameters, corpus: Corpus, options: TableOptions) -> None:
        torch.manual_seed(options.seed)
        self._network, self._teacher, self._corpus, self._options = network, teacher, corpus, options
        self._limit = Form().tokens
        self.table = Table(self._first_vectors(), self._limit)

    def train(self, journal: Journal) -> None:
        """Go through all pairs so many times."""
        options, table = self._options, self.table
        steps = options.epochs * (len(self._corpus) // options.batch)
        optimiser = torch.optim.Adam(
            [
                {"params": [table.vectors, table.offset], "lr": options.rate},
                {"params": [table.places], "lr": _PLACE_RATE},
            ],
            betas=(0.9, 0.99),
        )
        schedule = torch.optim.lr_scheduler.LambdaLR(
            optimiser, lambda step: min(1.0, step / _WARM_UP_STEPS) * max(_LAST_RATE, 1 - step / steps)
        )
        order = torch.empty(0, dtype=torch.int64)
        for step in range(steps):
            if len(order) < options.batch:
                order = torch.randperm(len(self._corpus), device=self._corpus.device)
            pairs, order = order[: options.batch], order[options.batch :]
            loss, parts = self._loss(pairs)
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            optimiser.step()
            schedule.step()
            if step % _LOG_STEPS == 0 or step == steps - 1:
                journal.write(step=step, steps=steps, **{key: round(p.item(), 4) for key, p in parts.items()})

    def mrr(self, corpus: Corpus) -> tuple[float, float]:
        """Return the mean reciprocal rank of codes for their sentences: by the teacher, and by the table."""
        pairs = torch.arange(min(_POOL, len(corpus)), device=corpus.device)
        with torch.no_grad():
            queries = self._teach(_sentences(corpus, pairs))
            code = pack([plain_code(corpus, pairs, self._limit)])
            by_teacher = self._network.forward(self._teacher, code)
            return _mrr(queries, by_teacher), _mrr(queries, self.table.encode(code))

    def _loss(self, pairs: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        corpus, table = self._corpus, self.table
        code = plain_code(corpus, pairs, self._limit)
        sentences, names = _sentences(corpus, pairs), _names(corpus, pairs)
        with torch.no_grad():
            queries, taught = self._teach(sentences), self._teach(code)
            named = self._teach(names)
        vectors = table.encode(pack([code]))
        scores, wanted = queries @ vectors.T / _TEMPERATURE, queries @ taught.T / _TEMPERATURE
        parts = {
            "order": F.kl_div(F.log_softmax(scores, 1), F.softmax(wanted, 1), reduction="batchmean"),
            "right": F.cross_entropy(scores, torch.arange(len(pairs), device=scores.device)),
            "code": _distance(vectors, taught),
            "name": _distance(table.encode(pack([names])), named),
            "sentence": _distance(table.encode(pack([sentences])), queries),
        }
        weights = {"right": _RIGHT, "code": _CLOSE}
        return torch.stack([weights.get(key, 1.0) * part for key, part in parts.items()]).sum(), parts

    def _teach(self, piece: Piece) -> Tensor:
        return self._network.encode(self._teacher, piece)

    def _first_vectors(self) -> Tensor:
        """The teacher's vector of each token by itself, longer for rare tokens."""
        corpus, count = self._corpus, self._teacher["word_emb"].shape[0]
        ids = torch.arange(count, device=corpus.device)
        one = torch.stack([torch.full_like(ids, BOS), ids, torch.full_like(ids, EOS)], 1)
        vectors = self._teach(Piece(one, torch.ones_like(one, dtype=torch.bool)))
        uses = torch.bincount(corpus.tokens.long(), minlength=count)[:count]
        rarity = torch.log(len(corpus) / (1.0 + uses)).clamp(min=0.3)
        return vectors * (rarity / rarity.mean())[:, None]


def _sentences(corpus: Corpus, pairs: Tensor) -> Piece:
    limit = Form().query
    return closed([corpus.cut(corpus.rows(pairs).sentence, limit)], limit)


def _names(corpus: Corpus, pairs: Tensor) -> Piece:
    return closed([corpus.cut(corpus.rows(pairs).name, NAME_IDS)], NAME_IDS + 2)


def _distance(vectors: Tensor, taught: Tensor) -> Tensor:
    return 1 - (vectors * taught).sum(1).mean()


def _mrr(queries: Tensor, codes: Tensor) -> float:
    scores = queries @ codes.T
    better = (scores > scores.diagonal()[:, None]).sum(1)
    return float((1 / (1.0 + better)).mean())
