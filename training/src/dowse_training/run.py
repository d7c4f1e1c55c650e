"""A whole run: the stages of a plan in order, with checkpoints, a log and curves."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import torch

from dowse.errors import ConfigError
from dowse_training import checkpoint, curves, journal, model, shard_files, vocabulary
from dowse_training import weights as weight_files
from dowse_training.corpus import Corpus
from dowse_training.fit import Hooks, Materials, Trainer
from dowse_training.journal import Journal
from dowse_training.model import Network, Parameters
from dowse_training.negatives import Guide, mine
from dowse_training.plan import Average, Evaluate, Fit, Load, Mine, Plan, Save, Stage, Student
from dowse_training.queries import QueryMaker
from dowse_training.validate import EvaluationSet, evaluate, valid
from dowse_training.weights import Arrays


@dataclass(frozen=True, slots=True)
class Places:
    """Where a run reads and writes."""

    shards: Sequence[Path]
    tokenizer: Path
    out: Path  # the log, curves and weights to keep
    work: Path  # checkpoints and weights of the way
    weights: Sequence[Path] = ()
    evaluation: Sequence[Path] = ()


@dataclass(frozen=True, slots=True)
class Options:
    """How a run is made, apart from its plan."""

    device: str = "cuda"
    compiled: bool = True
    deadline: float = float("inf")  # seconds from the start, after which no training goes on
    checkpoint_seconds: float = 0.0  # 0: no checkpoints by time
    checkpoint_steps: int = 0
    resume: bool = False
    quiet: bool = False


@dataclass
class Run:
    """A plan in progress."""

    plan: Plan
    places: Places
    options: Options
    hooks: Hooks = field(default_factory=Hooks)
    parameters: Parameters | None = None
    guide: Guide | None = None
    _number: int = 0
    _last_checkpoint: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        torch.manual_seed(self.plan.seed)
        torch.set_float32_matmul_precision("high")
        self.device = torch.device(self.options.device)
        self.network = Network(self.device, compiled=self.options.compiled)
        self.journal = Journal(self.places.out / "log.jsonl", quiet=self.options.quiet)

    def run(self) -> None:
        """All stages from the first, or from the checkpoint on."""
        state = self._resumed() if self.options.resume else None
        for number, stage in enumerate(self.plan.stages):
            if number < self._number:
                continue
            self._number = number
            self.journal.write(stage=number + 1, kind=type(stage).__name__.lower(), plan=_described(stage))
            if isinstance(stage, Fit):
                self._fit(stage, state if state and "optimizer" in state else None)
            else:
                self._other(stage)
            state = None
            self._number = number + 1
            if self._checkpoints and number + 1 < len(self.plan.stages):
                self._save_between_stages(mined=isinstance(stage, Mine))
        records = journal.read(self.places.out / "log.jsonl")
        (self.places.out / "curves.svg").write_text(curves.draw(records), "utf-8")
        self.journal.write(end=True)

    @cached_property
    def materials(self) -> Materials:
        """The pairs on the device, read when first needed."""
        corpus = Corpus(shard_files.read_all(self.places.shards), self.device)
        sizes = {language: end - start for language, (start, end) in corpus.ranges.items()}
        self.journal.write(data=len(corpus), tokens=len(corpus.tokens), languages=sizes)
        maker = QueryMaker(vocabulary.read(self.places.tokenizer), self.device)
        return Materials(self.network, corpus, maker, self.journal, self.plan.limit)

    @cached_property
    def kept_aside(self) -> Corpus:
        """The pairs to validate on."""
        return Corpus(shard_files.read_all(self.places.shards, valid=True), self.device)

    @cached_property
    def evaluation_sets(self) -> dict[str, EvaluationSet]:
        """Evaluation sets by the name of their file."""
        return {path.stem: EvaluationSet(path, self.device) for path in self.places.evaluation}

    @property
    def current(self) -> Parameters:
        """The weights the last stage left."""
        if self.parameters is None:
            raise ConfigError('the plan has no weights yet; begin with a stage of kind "load"')
        return self.parameters

    def _other(self, stage: Stage) -> None:
        match stage:
            case Load():
                self._use(weight_files.mean([self._read(name) for name in stage.weights]))
            case Average():
                others = [self._read(name) for name in stage.weights]
                self._use(weight_files.mean([model.arrays(self.current), *others]))
            case Student():
                self._use(weight_files.select_layers(model.arrays(self.current), stage.layers))
            case Mine():
                self._mine(stage)
            case Save():
                self._save(stage)
            case Evaluate():
                self.journal.write(**self._evaluate(self.current, stage))

    def _use(self, arrays: Arrays) -> None:
        self.parameters = self.network.parameters(arrays)

    def _read(self, name: str) -> Arrays:
        return weight_files.read([self.places.work, self.places.out, *self.places.weights], name)

    def _mine(self, stage: Mine) -> None:
        began = time.monotonic()
        self.guide = None  # the old one's memory is needed
        corpus = self.materials.corpus
        self.guide, first = mine(self.network, self.current, corpus, stage, self.plan.limit)
        self.journal.write(mined=first, sec=round(time.monotonic() - began, 1))

    def _save(self, stage: Save) -> None:
        folder = self.places.out if stage.folder == "out" else self.places.work
        arrays = model.arrays(self.current)
        if stage.form == "safetensors":
            folder.mkdir(parents=True, exist_ok=True)
            weight_files.write_safetensors(folder / f"{stage.name}.safetensors", arrays)
        else:
            weight_files.write_parts(folder, stage.name, arrays)

    def _evaluate(self, parameters: Parameters, stage: Evaluate) -> dict[str, Any]:
        """Results of all sets asked for; those of one evaluation set stand without its name."""
        began, limit, report = time.monotonic(), stage.limit or self.plan.limit, {}
        if stage.sets and self.evaluation_sets:
            results = {
                name: evaluate(self.network, parameters, one, limit, full=stage.full)
                for name, one in self.evaluation_sets.items()
            }
            report["eval"] = results if len(results) > 1 else next(iter(results.values()))
        # No shards kept aside is no reason to lose the weights of the stage before.
        if stage.valid and shard_files.languages_in(self.places.shards, valid=True):
            report["valid"] = valid(self.network, parameters, self.kept_aside, limit)
        return report | {"limit": limit, "sec": round(time.monotonic() - began, 1)}

    def _fit(self, stage: Fit, state: Mapping[str, Any] | None) -> None:
        if stage.seconds:  # a shorter stage with its whole schedule is better than one that is cut off
            left = self.options.deadline - self.journal.seconds()
            stage = replace(stage, seconds=max(1.0, min(stage.seconds, left)))
        teachers = [self.network.constants(self._read(name)) for name in stage.teachers]
        seed = (self.plan.seed, self._number)
        cross = [self.network.constants(self._read(name)) for name in stage.cross]
        trainer = Trainer(self.materials, stage, self.current, teachers, self.guide, seed, cross)
        if state is not None:
            trainer.restore(state)
        hooks = Hooks(evaluate=self._evaluate_midway, after_step=self._after_step)
        result = trainer.run(hooks)
        self.parameters = {key: value.detach().clone().requires_grad_(True) for key, value in result.items()}

    def _evaluate_midway(self, parameters: Parameters) -> Mapping[str, Any]:
        return self._evaluate(parameters, Evaluate(valid=not self.evaluation_sets))

    def _after_step(self, trainer: Trainer) -> None:
        options = self.options
        by_steps = options.checkpoint_steps and trainer.step % options.checkpoint_steps == 0
        waited = time.monotonic() - self._last_checkpoint
        if by_steps or (options.checkpoint_seconds and waited > options.checkpoint_seconds):
            checkpoint.save(self._checkpoint, {"stage": self._number, **trainer.state()})
            self._last_checkpoint = time.monotonic()
        self.hooks.after_step(trainer)

    @property
    def _checkpoints(self) -> bool:
        return bool(self.options.checkpoint_seconds or self.options.checkpoint_steps)

    @property
    def _checkpoint(self) -> Path:
        return self.places.work / "checkpoint.pt"

    def _save_between_stages(self, mined: bool) -> None:
        """The guide is large and changes only by mining, so it has a file of its own, written first."""
        if mined and self.guide is not None:
            guide = self.guide
            tensors = [guide.queries, guide.codes, guide.clusters, guide.negatives]
            checkpoint.save(self.places.work / f"guide{self._number}.pt", {"tensors": tensors})
        state: dict[str, Any] = {"stage": self._number, "torch_random": checkpoint.random_state(self.device)}
        if self.parameters is not None:
            state["parameters"] = {key: value.detach() for key, value in self.parameters.items()}
        checkpoint.save(self._checkpoint, state)

    def _resumed(self) -> dict[str, Any] | None:
        """Take up the checkpoint: number of the stage, weights, guide; gives back the stage's own state."""
        state = checkpoint.load(self._checkpoint, self.device)
        if state is None:
            return None
        self._number = state["stage"]
        if "parameters" in state:
            tensors = state["parameters"].items()
            self.parameters = {key: value.clone().requires_grad_(True) for key, value in tensors}
        mined = [n + 1 for n, stage in enumerate(self.plan.stages[: self._number]) if isinstance(stage, Mine)]
        if mined:
            guide = checkpoint.load(self.places.work / f"guide{mined[-1]}.pt", self.device)
            if guide is None:
                raise ConfigError("the checkpoint's guide is missing; start again without --resume")
            self.guide = Guide(*guide["tensors"])
        checkpoint.restore_random(state["torch_random"])
        self.journal.write(resumed=self._number + 1, step=state.get("counts", [0])[0])
        return state


def _described(stage: Stage) -> dict[str, Any]:
    """What the plan set, for the log: everything that is not as it is by default."""
    values = {one.name: (getattr(stage, one.name), _default(one)) for one in fields(stage)}
    return {name: value for name, (value, default) in values.items() if value != default}


def _default(one: Field[Any]) -> object:
    return one.default if one.default_factory is MISSING else one.default_factory()
