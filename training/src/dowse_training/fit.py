"""One training stage: views, forward pass, loss, step; by seconds, epochs or steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor

from dowse.errors import ConfigError
from dowse_training import checkpoint, cross, loss
from dowse_training.batches import Batches
from dowse_training.corpus import Corpus
from dowse_training.journal import Journal
from dowse_training.model import Network, Packed, Parameters, pack
from dowse_training.negatives import Guide, false_negatives
from dowse_training.plan import Fit
from dowse_training.queries import NAME, QueryMaker, draw_kinds
from dowse_training.schedule import Clock, learning_rate
from dowse_training.views import Shown, code_view

_BETA1 = 0.9
_LARGEST_GRADIENT = 1.0
_FIRST_LOG_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Materials:
    """What all training stages of a run work with."""

    network: Network
    corpus: Corpus
    queries: QueryMaker
    journal: Journal
    limit: int


@dataclass(frozen=True, slots=True)
class Batch:
    """One step's input: packed views, queries first, and which codes are hidden from which queries."""

    packed: Packed
    count: int
    hidden: Tensor
    is_taught: bool = True
    lists: cross.Lists | None = None


@dataclass(slots=True)
class Hooks:
    """What a run does now and then while a stage goes on."""

    evaluate: Callable[[Parameters], Mapping[str, Any]] = lambda parameters: {}
    after_step: Callable[[Trainer], None] = lambda trainer: None


@dataclass(slots=True)
class Trainer:
    """A training stage in progress."""

    materials: Materials
    stage: Fit
    parameters: Parameters
    teachers: Sequence[Parameters]
    guide: Guide | None
    seed: tuple[int, int]  # of the run, and the number of the stage
    cross: Sequence[Parameters] = ()  # an encoder and a cross-encoder
    clock: Clock = field(init=False)
    step: int = 0
    pairs: int = 0
    tokens: int = 0
    _random: np.random.Generator = field(init=False)
    _batches: Batches = field(init=False)
    _optimizer: torch.optim.Optimizer = field(init=False)
    _mean: list[Tensor] = field(init=False)

    def __post_init__(self) -> None:
        stage, corpus = self.stage, self.materials.corpus
        if (stage.order == "cluster" or stage.negatives) and self.guide is None:
            raise ConfigError('cluster batches and negatives want a stage of kind "mine" before')
        if self.guide is not None and stage.negatives > self.guide.negatives.shape[1]:
            raise ConfigError("more negatives are wanted than were mined; see `candidates` and `negatives`")
        self._random = np.random.default_rng(self.seed)
        groups = corpus.packages
        if self.guide and stage.order == "cluster":
            groups = self.guide.clusters.clone()
            for start, end in (corpus.ranges[language] for language in stage.package_chunks):
                groups[start:end] = corpus.packages[start:end]
        self._batches = Batches(
            corpus.ranges, groups, stage.chunk, stage.shares, self._random, stage.package_chunks
        )
        values = list(self.parameters.values())
        fused = self.materials.network.device.type == "cuda"
        self._optimizer = torch.optim.AdamW(
            values, lr=stage.rate, weight_decay=stage.weight_decay, betas=(_BETA1, stage.beta2), fused=fused
        )
        self._mean = [value.detach().clone() for value in values] if stage.ema else []
        steps = stage.steps or int(stage.epochs * len(corpus) / stage.batch)
        self.clock = Clock(stage.seconds, 0 if stage.seconds else max(1, steps))

    def run(self, hooks: Hooks) -> Parameters:
        """Train to the end of the stage; gives the weights to go on with."""
        reporter = _Reporter(self, self.stage.log_seconds)
        next_evaluation = self.clock.elapsed() + self.stage.evaluate_seconds
        while (progress := self.clock.progress(self.step)) < 1:
            value = self.one_step(progress)
            reporter.note(value)
            hooks.after_step(self)
            if self.stage.evaluate_seconds and self.clock.elapsed() > next_evaluation:
                self.materials.journal.write(step=self.step, mid=hooks.evaluate(self.result()))
                next_evaluation = self.clock.elapsed() + self.stage.evaluate_seconds
        reporter.done()
        return self.result()

    def one_step(self, progress: float) -> Tensor:
        """One batch forth and back; gives its loss, still on the device."""
        stage = self.stage
        rate = learning_rate(stage.rate, stage.schedule, progress, self.step, stage.warm_steps, stage.end)
        for group in self._optimizer.param_groups:
            group["lr"] = rate
        batch = self.next_batch()
        value = self.loss(batch)
        torch.autograd.backward(value)
        fast = True if batch.packed.ids.is_cuda else None
        torch.nn.utils.clip_grad_norm_(list(self.parameters.values()), _LARGEST_GRADIENT, foreach=fast)
        self._optimizer.step()
        self._optimizer.zero_grad(set_to_none=True)
        if self._mean:
            values = [parameter.detach() for parameter in self.parameters.values()]
            torch._foreach_lerp_(self._mean, values, 1 - stage.ema)
        self.step += 1
        self.pairs += batch.count
        self.tokens += len(batch.packed.ids)
        return value.detach()

    def next_batch(self) -> Batch:
        """Draw a view, a language and its pairs, and make queries and codes of them."""
        stage, corpus = self.stage, self.materials.corpus
        view = _draw(self._random, stage.views)
        language, pairs = self._batches.next(stage.batch)
        rows = corpus.rows(pairs)
        kind = draw_kinds(stage.mix(view), rows)
        codes = pairs
        if stage.negatives and self.guide is not None:
            codes = torch.cat([pairs, self.guide.draw(pairs, stage.negatives)])
        shown = _shown(view, kind, len(codes), stage.qualifier)
        queries = self.materials.queries.view(corpus, rows, kind, language, lose_words=stage.lose_words)
        limit = stage.limit or self.materials.limit
        code = code_view(corpus, corpus.rows(codes), shown, limit, lose_words=stage.lose_words)
        hidden = false_negatives(corpus, pairs, codes, kind, self.guide, stage.mask)
        asked = None
        if self.cross:  # it reads whole codes, but no more parts of them than the student
            first = Shown(*(part[: len(pairs)] for part in shown))
            whole = code_view(corpus, rows, first, limit)
            asked = cross.lists(queries, whole, stage.cross_rows, stage.chunk)
        is_taught = language not in stage.untaught
        return Batch(pack([queries, code]), len(pairs), hidden, is_taught, asked)

    def loss(self, batch: Batch) -> Tensor:
        """Contrast; with teachers some of it, and what they say."""
        stage, network = self.stage, self.materials.network
        vectors = network.forward(self.parameters, batch.packed, stage.dropout)
        queries, codes = vectors[: batch.count], vectors[batch.count :]
        value = loss.matryoshka(queries, codes, batch.hidden, stage.temperature, stage.dimensions)
        if batch.lists is not None:
            encoder, reader = self.cross
            ordered = cross.teach(network, encoder, reader, batch.lists)
            value = value + stage.cross_weight * cross.divergence(
                vectors, batch.count, batch.lists, ordered, stage.temperature
            )
        if not self.teachers or not batch.is_taught:
            return value
        with torch.no_grad():
            taught = loss.taught([network.forward(one, batch.packed) for one in self.teachers], batch.count)
        return stage.contrast * value + loss.distillation(
            vectors, taught, batch.count, stage.temperature, stage.distance
        )

    def result(self) -> Parameters:
        """The weights as they would be used: the running mean if there is one."""
        return dict(zip(self.parameters, self._mean, strict=True)) if self._mean else self.parameters

    def state(self) -> dict[str, Any]:
        """Everything that the next steps depend on."""
        return {
            "parameters": {key: value.detach() for key, value in self.parameters.items()},
            "mean": self._mean,
            "optimizer": self._optimizer.state_dict(),
            "batches": self._batches.state(),
            "random": checkpoint.generator_state(self._random),
            "torch_random": checkpoint.random_state(self.materials.network.device),
            "counts": [self.step, self.pairs, self.tokens],
            "seconds": self.clock.elapsed(),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from a saved state; the parameters must already be those of it."""
        with torch.no_grad():
            for key, value in self.parameters.items():
                value.copy_(state["parameters"][key])
        self._mean = list(state["mean"])
        self._optimizer.load_state_dict(state["optimizer"])
        self._batches.restore(state["batches"])
        checkpoint.restore_generator(self._random, state["random"])
        self.step, self.pairs, self.tokens = state["counts"]
        self.clock.before = state["seconds"]
        checkpoint.restore_random(state["torch_random"])


class _Reporter:
    """Writes loss and speed now and then; looking at a loss waits for the GPU, so not at each step."""

    def __init__(self, trainer: Trainer, seconds: float) -> None:
        self._trainer, self._seconds = trainer, seconds
        self._began = trainer.clock.elapsed()
        self._from = (trainer.pairs, trainer.tokens)
        self._next = self._began + min(_FIRST_LOG_SECONDS, seconds)
        self._losses: list[Tensor] = []

    def note(self, value: Tensor) -> None:
        """Take one step's loss."""
        self._losses.append(value)
        if self._trainer.clock.elapsed() >= self._next:
            self._write()
            self._next = self._trainer.clock.elapsed() + self._seconds

    def done(self) -> None:
        """Write the end of the stage."""
        trainer = self._trainer
        if self._losses:
            self._write()
        epochs = round(trainer.pairs / len(trainer.materials.corpus), 2)
        seconds = round(trainer.clock.elapsed(), 1)
        trainer.materials.journal.write(done=trainer.step, pairs=trainer.pairs, epochs=epochs, sec=seconds)

    def _write(self) -> None:
        trainer = self._trainer
        value = round(float(torch.stack(self._losses).mean()), 4)
        passed = max(1e-9, trainer.clock.elapsed() - self._began)
        cuda = trainer.materials.network.device.type == "cuda"
        trainer.materials.journal.write(
            step=trainer.step,
            sec=round(trainer.clock.elapsed(), 1),
            pairs_s=int((trainer.pairs - self._from[0]) / passed),
            tok_s=int((trainer.tokens - self._from[1]) / passed),
            loss=value,
            lr=float(f"{trainer._optimizer.param_groups[0]['lr']:.3g}"),
            gb=round(torch.cuda.max_memory_allocated() / 2**30, 1) if cuda else 0,
        )
        self._losses = []


def _draw(random: np.random.Generator, weights: Mapping[str, float]) -> str:
    values = np.array(list(weights.values()), float)
    return list(weights)[int(random.choice(len(values), p=values / values.sum()))]


def _shown(view: str, kind: Tensor, codes: int, qualifier: float) -> Shown:
    """What the codes of a batch show; the first of them belong to the queries."""

    def some(share: float) -> Tensor:
        return torch.rand(codes, device=kind.device) < share

    nothing = torch.zeros(codes, dtype=torch.bool, device=kind.device)
    if view == "named":
        return Shown(some(qualifier), ~nothing, nothing)
    if view == "nameless":
        return Shown(nothing, nothing, nothing)
    shown = Shown(some(0.2), some(0.6), some(0.5))
    by_name = kind == NAME  # a name must not be found by itself
    shown.name[: len(kind)] &= ~by_name
    shown.qualifier[: len(kind)] &= ~by_name
    return shown
