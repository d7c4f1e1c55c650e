"""The rows of a comparison: ways of asking one index, each named by what it switches on.

A way is a base and any number of switches: `auto`, `keyword`, `rrf`, `auto+expand`, `hybrid+rerank`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from dowse.config import CLUSTERINGS, DIVERSIFY, FUSIONS
from dowse.errors import EvalError

_BASES: dict[str, dict[str, Any]] = {
    "auto": {"mode": "auto"},
    "keyword": {"mode": "keyword"},
    "tfidf": {"mode": "tfidf"},
    "tfidf-intersection": {"lanes": "tfidf,embedding", "fusion": "intersection"},
    "embedding": {"mode": "embedding"},
    "graph": {"mode": "graph"},
    "hybrid": {"mode": "hybrid"},
    "lanes": {"lanes": "keyword,embedding,graph"},
    **{name: {"mode": "hybrid", "fusion": name} for name in FUSIONS if name != "auto"},
}
_BY_CLUSTERS = ("cluster", "sample")
_SWITCHES: dict[str, dict[str, Any]] = {
    "expand": {"expand": True},
    "graph": {"graph_expand": True},
    "rerank": {"rerank": True},
}
# Ways of putting answers apart that are alike, of which a row can have one; by clusters with the usual
# clustering, or with the one that is named.
DIVERSIFIERS: dict[str, dict[str, Any]] = {
    **{how: {"diversify": how} for how in DIVERSIFY if how},
    **{
        f"{how}:{clustering}": {"diversify": how, "clustering": clustering}
        for how in _BY_CLUSTERS
        for clustering in CLUSTERINGS
    },
}
# The control: the first answers in an order that says nothing.
_SHUFFLE = "shuffle"
# What somebody looks at: so many are shuffled, and shared out where each cluster gets its share.
FIRST = 10
# What `--compare` shows: each lane alone, both joined, and what a user gets who says nothing.
COMPARED = ("keyword", "embedding", "graph", "hybrid", "auto")
# What `--budget` shows unless rows are named: the default, and the lane that is nearest to other tools.
BUDGETED = ("auto", "keyword")
# The row that others are compared with, where it is run.
DEFAULT_BASELINE = "auto"


@dataclass(frozen=True, slots=True)
class Configuration:
    """One way of searching: what it is called, and the options of `Index.search` that make it."""

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)
    encoder: str = ""  # another than the index's own
    shuffled: bool = False  # whether the first answers are put into an order that says nothing

    @property
    def needs_vectors(self) -> bool:
        """Whether it can do nothing without an encoder."""
        mode, lanes = self.options.get("mode"), self.options.get("lanes", "")
        meant = self.options.get("diversify") == "mmr" or self.options.get("clustering") == "meaning"
        return mode in ("embedding", "hybrid") or "embedding" in lanes or meant

    @property
    def uses_vectors(self) -> bool:
        """Whether an encoder, if there is one, has a say in what is found."""
        return self.needs_vectors or self.options.get("mode") == "auto"

    @property
    def needs_counts(self) -> bool:
        """Whether terms have to be counted first."""
        return self.options.get("mode") == "tfidf" or "tfidf" in self.options.get("lanes", "")

    @property
    def needs_graph(self) -> bool:
        """Whether it can do nothing in a corpus, which has no references."""
        return self.options.get("mode") == "graph" or "graph" in self.options.get("lanes", "")


def parse_configuration(name: str) -> Configuration:
    """Return the way of a name such as `auto+expand`."""
    base, *given = name.strip().split("+")
    switches = list(dict.fromkeys(given))
    known = {**_SWITCHES, **DIVERSIFIERS, _SHUFFLE: {}}
    if base not in _BASES or not set(switches) <= set(known):
        raise EvalError(
            f"no way of searching is called {name!r}; write one of {', '.join(_BASES)}, and after it any of "
            f"+{', +'.join((*_SWITCHES, *DIVERSIFY[1:], _SHUFFLE))}; +{' and +'.join(_BY_CLUSTERS)} may name "
            f"a clustering ({', '.join(CLUSTERINGS)}), as in +cluster:{CLUSTERINGS[0]}"
        )
    spreads = [switch for switch in switches if switch in DIVERSIFIERS]
    if len(spreads) > 1:
        raise EvalError(f"{name!r} puts answers apart in several ways; keep one of +{', +'.join(spreads)}")
    options = dict(_BASES[base])
    for switch in switches:
        options |= known[switch]
    return Configuration("+".join((base, *switches)), options, shuffled=_SHUFFLE in switches)


def is_diversified(row: str) -> bool:
    """Whether a row, by its name, puts the first answers of another one apart, or in random order."""
    switches = row.partition(" [")[0].split("+")[1:]
    return any(switch in DIVERSIFIERS or switch == _SHUFFLE for switch in switches)


def per_encoder(ways: Sequence[Configuration], models: Sequence[str]) -> list[Configuration]:
    """Return the ways once for every encoder; those that use none once in all."""
    if not models:
        return list(ways)
    plain = [each for each in ways if not each.uses_vectors]
    others = [
        replace(each, name=f"{each.name} [{short}]", encoder=model)
        for model, short in _short_names(models).items()
        for each in ways
        if each.uses_vectors
    ]
    return plain + others


def _short_names(models: Sequence[str]) -> dict[str, str]:
    """Return what each model is called in a row: the name of its folder, if that tells it from the others."""
    names = {model: Path(model).name for model in models}
    twice = [name for name in names.values() if list(names.values()).count(name) > 1]
    return {model: model if name in twice else name for model, name in names.items()}


def find_baseline(names: Sequence[str], wanted: str = DEFAULT_BASELINE) -> str:
    """Return the row of a name; with several encoders that of the first. "" if there is none."""
    return next((name for name in names if name == wanted or name.startswith(f"{wanted} [")), "")


def runnable(ways: Iterable[Configuration], *, vectors: bool, graph: bool) -> list[Configuration]:
    """Return the ways that an index can be asked in."""
    return [each for each in ways if (vectors or not each.needs_vectors) and (graph or not each.needs_graph)]
