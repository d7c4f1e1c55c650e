"""Configurations of a search over one index: the rows of a comparison or ablation, named by their switches.

A name is a base and any number of switches: `auto`, `keyword`, `rrf`, `auto+expand`, `hybrid+rerank`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from dowse.config import CLUSTERINGS, DIVERSIFY, FUSIONS
from dowse.errors import EvalError

_BASES: dict[str, dict[str, Any]] = {
    **{mode: {"mode": mode} for mode in ("auto", "keyword", "tfidf", "embedding", "graph", "hybrid")},
    "tfidf-intersection": {"lanes": "tfidf,embedding", "fusion": "intersection"},
    "lanes": {"lanes": "keyword,embedding,graph"},
    **{name: {"mode": "hybrid", "fusion": name} for name in FUSIONS if name != "auto"},
}
_CLUSTERED = ("cluster", "sample")
_SWITCHES: dict[str, dict[str, Any]] = {
    "expand": {"expand": True},
    "rerank": {"rerank": True},
}
# Diversification methods, of which a configuration can have one; those that use clusters take the default
# clustering, or one that is named.
DIVERSIFIERS: dict[str, dict[str, Any]] = {
    **{method: {"diversify": method} for method in DIVERSIFY if method},
    **{
        f"{method}:{clustering}": {"diversify": method, "clustering": clustering}
        for method in _CLUSTERED
        for clustering in CLUSTERINGS
    },
}
# The control: the first results in random order.
_SHUFFLE = "shuffle"
# The page size: so many results are shuffled, and so many ranks are shared out among clusters.
FIRST = 10
# What `--compare` shows: each lane alone, both fused, and the default.
COMPARED = ("keyword", "embedding", "graph", "hybrid", "auto")
# What `--budget` shows unless rows are named: the default, and the lane that is nearest to other tools.
BUDGETED = ("auto", "keyword")
DEFAULT_BASELINE = "auto"


@dataclass(frozen=True, slots=True)
class Configuration:
    """One configuration: its name, and the options of `Index.search` that make it."""

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)
    encoder: str = ""  # another than the index's own
    shuffled: bool = False  # whether the first results are shuffled, as a control

    @property
    def needs_vectors(self) -> bool:
        """Whether it can't run without an encoder."""
        uses = self.options.get("diversify") == "mmr" or self.options.get("clustering") == "meaning"
        return uses or self._searches("embedding") or self.options.get("mode") == "hybrid"

    @property
    def uses_vectors(self) -> bool:
        """Whether an encoder, if there is one, changes the results."""
        return self.needs_vectors or self.options.get("mode") == "auto"

    @property
    def needs_counts(self) -> bool:
        """Whether terms have to be counted first."""
        return self._searches("tfidf")

    @property
    def needs_graph(self) -> bool:
        """Whether it can't run on a corpus, which has no references."""
        return self._searches("graph")

    def _searches(self, lane: str) -> bool:
        return self.options.get("mode") == lane or lane in self.options.get("lanes", "")


def parse_configuration(name: str) -> Configuration:
    """Return the configuration of a name such as `auto+expand`."""
    base, *suffixes = name.strip().split("+")
    switches = list(dict.fromkeys(suffixes))
    known = {**_SWITCHES, **DIVERSIFIERS, _SHUFFLE: {}}
    if base not in _BASES or not set(switches) <= set(known):
        raise EvalError(
            f"no configuration is called {name!r}; write one of {', '.join(_BASES)}, and after it any of "
            f"+{', +'.join((*_SWITCHES, *DIVERSIFY[1:], _SHUFFLE))}; +{' and +'.join(_CLUSTERED)} may name "
            f"a clustering ({', '.join(CLUSTERINGS)}), as in +cluster:{CLUSTERINGS[0]}"
        )
    methods = [switch for switch in switches if switch in DIVERSIFIERS]
    if len(methods) > 1:
        raise EvalError(f"{name!r} diversifies with several methods; keep one of +{', +'.join(methods)}")
    options = dict(_BASES[base])
    for switch in switches:
        options |= known[switch]
    return Configuration("+".join((base, *switches)), options, shuffled=_SHUFFLE in switches)


def is_diversified(row: str) -> bool:
    """Whether a row, by its name, diversifies or shuffles the first results."""
    switches = row.partition(" [")[0].split("+")[1:]
    return any(switch in DIVERSIFIERS or switch == _SHUFFLE for switch in switches)


def per_encoder(configurations: Sequence[Configuration], models: Sequence[str]) -> list[Configuration]:
    """Return the configurations once for every encoder; those that use none only once."""
    if not models:
        return list(configurations)
    return [each for each in configurations if not each.uses_vectors] + [
        replace(each, name=f"{each.name} [{short}]", encoder=model)
        for model, short in _short_names(models).items()
        for each in configurations
        if each.uses_vectors
    ]


def _short_names(models: Sequence[str]) -> dict[str, str]:
    """Return a model's name in a row: that of its folder, if it is unique."""
    names = {model: Path(model).name for model in models}
    twice = [name for name in names.values() if list(names.values()).count(name) > 1]
    return {model: model if name in twice else name for model, name in names.items()}


def runnable(configurations: Iterable[Configuration], *, vectors: bool, graph: bool) -> list[Configuration]:
    """Return the configurations that can run with or without vectors and a call graph."""
    return [
        each
        for each in configurations
        if (vectors or not each.needs_vectors) and (graph or not each.needs_graph)
    ]


def find_baseline(names: Sequence[str], wanted: str = DEFAULT_BASELINE) -> str:
    """Return the row of a name; with several encoders that of the first. "" if there is none."""
    return next((name for name in names if name == wanted or name.startswith(f"{wanted} [")), "")
