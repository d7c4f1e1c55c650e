"""Training of the neural bag of words: queries and code of one language in a batch, each other's negatives.

Husain et al., "CodeSearchNet Challenge: Evaluating the State of Semantic Code Search" (2019): 128 dimensions,
batches of 1,000, tokens weighted by a sigmoid of their own vectors, scores that are inner products. Rate and
dropout are our own choice, for few epochs. Needs torch (extra `[train]`); a processor is enough.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch.nn import functional

from dowse.encoders.batching import normalise_rows
from dowse.errors import DowseError
from dowse.research.nbow import ANY_LANGUAGE, QUERY, NbowModel, TokenTable, pool
from dowse_training import checkpoint
from dowse_training.journal import Journal
from dowse_training.nbow_data import Bags, PairBags

_CHECKPOINT = "checkpoint.pt"
_LOG_STEPS = 100

Rows = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class NbowOptions:
    """How to train."""

    dimension: int = 128
    batch: int = 1_000
    epochs: int = 8
    rate: float = 0.05
    dropout: float = 0.3
    # The rest of the batches ask with the whole documentation.
    summaries: float = 0.5
    clip: float = 1.0
    seed: int = 0


class Side(NamedTuple):
    """The parameters of one encoder: a vector for each token, and the direction in which weights grow."""

    vectors: torch.Tensor
    direction: torch.Tensor


class _Batch(NamedTuple):
    language: str
    rows: Rows


def contrastive_loss(code: torch.Tensor, queries: torch.Tensor) -> torch.Tensor:
    """−1/N Σᵢ log( exp(cᵢᵀqᵢ) / Σⱼ exp(cⱼᵀqᵢ) ): each query has to find its own code among the batch's."""
    return functional.cross_entropy(queries @ code.T, torch.arange(len(queries)))


def means(side: Side, ids: torch.Tensor, starts: torch.Tensor) -> torch.Tensor:
    """The weighted mean of the token vectors of each bag."""
    weights = token_weights(side)
    # Weights ride along as one more column, so that one pass sums both.
    table = torch.cat([side.vectors * weights, weights], dim=1)
    sums = functional.embedding_bag(ids, table, starts, mode="sum")
    return sums[:, :-1] / sums[:, -1:]


def token_weights(side: Side) -> torch.Tensor:
    """How much each token counts, from 0 to 1, as a column."""
    return torch.sigmoid(side.vectors @ side.direction)[:, None]


class NbowTrainer:
    """The encoders in training, and where they stand."""

    def __init__(self, languages: Sequence[str], vocabulary: int, options: NbowOptions) -> None:
        self.options = options
        self.epoch = 0
        torch.manual_seed(options.seed)
        # Short enough that the first scores are all about the same.
        scale = options.dimension**-0.5
        self.sides = {
            name: Side(
                (torch.randn(vocabulary, options.dimension) * scale).requires_grad_(),
                torch.zeros(options.dimension, requires_grad=True),
            )
            for name in (QUERY, *sorted(languages))
        }
        self._parameters = [parameter for side in self.sides.values() for parameter in side]
        self._optimizer = torch.optim.Adam(self._parameters, lr=options.rate, fused=True)

    def train(self, bags: Mapping[str, PairBags], journal: Journal, folder: Path | None = None) -> None:
        """Train the epochs that are left; after each, leave a checkpoint in the folder."""
        while self.epoch < self.options.epochs:
            self._train_epoch(bags, journal)
            self.epoch += 1
            if folder is not None:
                self._save(folder / _CHECKPOINT)

    def resume(self, folder: Path) -> None:
        """Go on from the checkpoint in a folder; with the same pairs the end is that of an unbroken run."""
        path = folder / _CHECKPOINT
        state = checkpoint.load(path, torch.device("cpu"))
        if state is None:
            raise DowseError(f"there is no {path} to go on with: train without --resume")
        mine = {name: list(side.vectors.shape) for name, side in self.sides.items()}
        if state["shapes"] != mine or state["options"] != asdict(self.options):
            raise DowseError(f"{path} is of another run: give its settings and pairs, or drop --resume")
        with torch.no_grad():
            for parameter, stored in zip(self._parameters, state["parameters"], strict=True):
                parameter.copy_(stored)
        self._optimizer.load_state_dict(state["optimizer"])
        self.epoch = state["epoch"]

    def tables(self, bags: Mapping[str, PairBags]) -> dict[str, TokenTable]:
        """The tables for use: a language's tokens that training never showed take what the others learned."""
        with torch.no_grad():
            learned = {
                name: TokenTable(side.vectors.numpy().copy(), token_weights(side)[:, 0].numpy().copy())
                for name, side in self.sides.items()
            }
        query = learned.pop(QUERY)
        counts = {name: bags[name].code.counts(len(query.weights)) for name in learned}
        common = common_table(learned, counts)
        for name, table in learned.items():
            unseen = counts[name] == 0
            table.vectors[unseen], table.weights[unseen] = common.vectors[unseen], common.weights[unseen]
        tables = {QUERY: query, ANY_LANGUAGE: common, **learned}
        return {name: table.as_type(np.float16) for name, table in tables.items()}

    def _train_epoch(self, bags: Mapping[str, PairBags], journal: Journal) -> None:
        # A generator for each epoch: a resumed run draws what an unbroken one does.
        random = np.random.default_rng([self.options.seed, self.epoch])
        batches = _batches(bags, self.options.batch, random)
        losses = []
        for step, batch in enumerate(batches):
            done = (self.epoch + step / len(batches)) / self.options.epochs
            losses.append(self._step(bags[batch.language], batch, done, random))
            if (step + 1) % _LOG_STEPS == 0 or step + 1 == len(batches):
                loss = round(sum(losses) / len(losses), 4)
                journal.write(epoch=self.epoch, step=step + 1, of=len(batches), loss=loss)
                losses.clear()

    def _step(self, pairs: PairBags, batch: _Batch, done: float, random: np.random.Generator) -> float:
        asked = pairs.summaries if random.random() < self.options.summaries else pairs.docs
        code = means(self.sides[batch.language], *self._draw(pairs.code, batch.rows, random))
        queries = means(self.sides[QUERY], *self._draw(asked, batch.rows, random))
        loss = contrastive_loss(code, queries)
        # Encoders of other languages keep no gradient, and so the optimiser leaves them alone.
        self._optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self._parameters, self.options.clip)
        for group in self._optimizer.param_groups:
            group["lr"] = self.options.rate * (1 - done)
        self._optimizer.step()
        return float(loss.detach())

    def _draw(self, bags: Bags, rows: Rows, random: np.random.Generator) -> tuple[torch.Tensor, torch.Tensor]:
        """Some bags with a share of their tokens dropped, but never all of them."""
        ids, starts = bags.select(rows)
        kept = random.random(len(ids)) >= self.options.dropout
        kept[starts] = True
        places: Rows = np.cumsum(kept) - kept
        return torch.from_numpy(ids[kept]), torch.from_numpy(places[starts])

    def _save(self, path: Path) -> None:
        state = {
            "epoch": self.epoch,
            "options": asdict(self.options),
            "shapes": {name: list(side.vectors.shape) for name, side in self.sides.items()},
            "parameters": [parameter.detach() for parameter in self._parameters],
            "optimizer": self._optimizer.state_dict(),
        }
        checkpoint.save(path, state)


def common_table(tables: Mapping[str, TokenTable], counts: Mapping[str, Rows]) -> TokenTable:
    """One table for code in any language: each language speaks for a token as often as it uses it."""
    # A little for everyone, so that a token nobody uses has a mean too.
    shares = np.stack([counts[name] + 1e-3 for name in tables])
    shares /= shares.sum(axis=0)
    weights = np.stack([table.weights for table in tables.values()]) * shares
    vectors = np.stack([table.vectors for table in tables.values()]) * weights[:, :, None]
    total = weights.sum(axis=0)
    return TokenTable((vectors.sum(axis=0) / total[:, None]).astype(np.float32), total.astype(np.float32))


def pool_mrr(model: NbowModel, language: str, pairs: PairBags) -> float:
    """Mean reciprocal rank of each summary's own code among the code of all the pairs, by angle."""
    table = model.tables[model.table_for(language)].as_type(np.float32)
    code = normalise_rows(pool(table, pairs.code.lists()))
    scores = pool(model.tables[QUERY].as_type(np.float32), pairs.summaries.lists()) @ code.T
    better = (scores > np.diag(scores)[:, None]).sum(axis=1)
    return round(float((1 / (1 + better)).mean()), 4)


def _batches(bags: Mapping[str, PairBags], size: int, random: np.random.Generator) -> list[_Batch]:
    """One epoch's batches, each within one language, in random order."""
    batches = [
        _Batch(name, rows) for name, pairs in bags.items() for rows in _chunks(len(pairs), size, random)
    ]
    return [batches[i] for i in random.permutation(len(batches))]


def _chunks(count: int, size: int, random: np.random.Generator) -> Iterator[Rows]:
    """Rows in batches of one size: the rest waits for another epoch, unless it is all there is."""
    rows = random.permutation(count)
    size = min(size, count)
    for start in range(0, count - size + 1, size):
        yield rows[start : start + size]
