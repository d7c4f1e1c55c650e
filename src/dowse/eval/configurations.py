"""Configurations of a search over one index: the rows of a comparison or ablation, named by their switches.

A name is a base and any number of switches: `auto`, `keyword`, `rrf`, `auto+expand`, `hybrid+rerank`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from dowse.config import CLUSTERINGS, DIVERSIFY, FUSIONS
from dowse.errors import EvalError
from dowse.lazy_classes import dataclass, field

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
# What `--compare` shows: each lane alone, both fused, and the default.
COMPARED = ("keyword", "embedding", "graph", "hybrid", "auto")
DEFAULT_BASELINE = "auto"


@dataclass(frozen=True, slots=True)
class Configuration:
    """One configuration: its name, and the options of `Index.search` that make it."""

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)

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
    known = {**_SWITCHES, **DIVERSIFIERS}
    if base not in _BASES or not set(switches) <= set(known):
        raise EvalError(
            f"no configuration is called {name!r}; write one of {', '.join(_BASES)}, and after it any of "
            f"+{', +'.join((*_SWITCHES, *DIVERSIFY[1:]))}; +{' and +'.join(_CLUSTERED)} may name "
            f"a clustering ({', '.join(CLUSTERINGS)}), as in +cluster:{CLUSTERINGS[0]}"
        )
    methods = [switch for switch in switches if switch in DIVERSIFIERS]
    if len(methods) > 1:
        raise EvalError(f"{name!r} diversifies with several methods; keep one of +{', +'.join(methods)}")
    options = dict(_BASES[base])
    for switch in switches:
        options |= known[switch]
    return Configuration("+".join((base, *switches)), options)


def runnable(configurations: Iterable[Configuration], *, vectors: bool, graph: bool) -> list[Configuration]:
    """Return the configurations that can run with or without vectors and a call graph."""
    return [
        each
        for each in configurations
        if (vectors or not each.needs_vectors) and (graph or not each.needs_graph)
    ]
