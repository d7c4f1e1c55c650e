"""The rows of a comparison: ways of asking one index, each named by what it switches on.

A way is a base and any number of switches: `auto`, `keyword`, `rrf`, `auto+expand`, `hybrid+rerank`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from dowse.config import FUSIONS
from dowse.errors import EvalError

_BASES: dict[str, dict[str, Any]] = {
    "auto": {"mode": "auto"},
    "keyword": {"mode": "keyword"},
    "embedding": {"mode": "embedding"},
    "graph": {"mode": "graph"},
    "hybrid": {"mode": "hybrid"},
    "lanes": {"lanes": "keyword,embedding,graph"},
    **{name: {"mode": "hybrid", "fusion": name} for name in FUSIONS if name != "auto"},
}
_SWITCHES: dict[str, dict[str, Any]] = {
    "expand": {"expand": True},
    "graph": {"graph_expand": True},
    "rerank": {"rerank": True},
    "diversify": {"diversify": "mmr"},
}
# What `--compare` shows: each lane alone, both joined, and what a user gets who says nothing.
COMPARED = ("keyword", "embedding", "graph", "hybrid", "auto")
# The row that others are compared with, where it is run.
USUAL = "auto"


@dataclass(frozen=True, slots=True)
class Way:
    """One way of searching: what it is called, and the options of `Index.search` that make it."""

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)
    encoder: str = ""  # another than the index's own

    @property
    def needs_vectors(self) -> bool:
        """Whether it can do nothing without an encoder."""
        mode, lanes = self.options.get("mode"), self.options.get("lanes", "")
        return mode in ("embedding", "hybrid") or "embedding" in lanes or "diversify" in self.options

    @property
    def uses_vectors(self) -> bool:
        """Whether an encoder, if there is one, has a say in what is found."""
        return self.needs_vectors or self.options.get("mode") == "auto"

    @property
    def needs_graph(self) -> bool:
        """Whether it can do nothing in a corpus, which has no references."""
        return self.options.get("mode") == "graph" or "graph" in self.options.get("lanes", "")


def way(name: str) -> Way:
    """Return the way of a name such as `auto+expand`."""
    base, *switches = name.strip().split("+")
    if base not in _BASES or not set(switches) <= set(_SWITCHES):
        raise EvalError(
            f"no way of searching is called {name!r}; write one of {', '.join(_BASES)}, "
            f"and after it any of +{', +'.join(_SWITCHES)}"
        )
    options = dict(_BASES[base])
    for switch in switches:
        options |= _SWITCHES[switch]
    return Way("+".join((base, *dict.fromkeys(switches))), options)


def for_models(ways: Sequence[Way], models: Sequence[str]) -> list[Way]:
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


def row_to_compare_with(names: Sequence[str], wanted: str = USUAL) -> str:
    """Return the row of a name; with several encoders that of the first. "" if there is none."""
    return next((name for name in names if name == wanted or name.startswith(f"{wanted} [")), "")


def possible(ways: Iterable[Way], *, vectors: bool, graph: bool) -> list[Way]:
    """Return the ways that an index can be asked in."""
    return [each for each in ways if (vectors or not each.needs_vectors) and (graph or not each.needs_graph)]
