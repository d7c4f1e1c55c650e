"""The rows of a comparison: ways of asking one index, each named by what it switches on.

A way is a base and any number of switches: `auto`, `keyword`, `rrf`, `auto+expand`, `hybrid+rerank`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
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
    "rerank": {},  # the model's folder, which only the caller knows
    "diversify": {"diversify": "mmr"},
}
# What `--compare` shows: each lane alone, both joined, and what a user gets who says nothing.
COMPARED = ("keyword", "embedding", "graph", "hybrid", "auto")
_WITHOUT_VECTORS = ("keyword", "graph")


@dataclass(frozen=True, slots=True)
class Way:
    """One way of searching: what it is called, and the options of `Index.search` that make it."""

    name: str
    options: dict[str, Any] = field(default_factory=dict)
    encoder: str = ""  # another than the index's own

    @property
    def needs_vectors(self) -> bool:
        """Whether it can do nothing without an encoder."""
        mode, lanes = self.options.get("mode"), self.options.get("lanes", "")
        return mode in ("embedding", "hybrid") or "embedding" in lanes or "diversify" in self.options

    @property
    def needs_graph(self) -> bool:
        """Whether it can do nothing in a corpus, which has no references."""
        return self.options.get("mode") == "graph" or "graph" in self.options.get("lanes", "")


def way(name: str, rerank: str = "") -> Way:
    """Return the way of a name such as `auto+expand`.

    Args:
        name: A base and its switches.
        rerank: The folder of the cross-encoder that `+rerank` means.
    """
    base, *switches = name.split("+")
    unknown = [part for part in switches if part not in _SWITCHES]
    if base not in _BASES or unknown:
        raise EvalError(
            f"no way of searching is called {name!r}; write one of {', '.join(_BASES)}, "
            f"and after it any of +{', +'.join(_SWITCHES)}"
        )
    if "rerank" in switches and not rerank:
        raise EvalError("`+rerank` needs a cross-encoder; name its folder with --rerank FOLDER")
    options = dict(_BASES[base])
    for switch in switches:
        options |= {"rerank": rerank} if switch == "rerank" else _SWITCHES[switch]
    return Way(name, options)


def for_models(ways: Sequence[Way], models: Sequence[str]) -> list[Way]:
    """Return the ways once for every encoder; those that use none once in all."""
    from dataclasses import replace
    from pathlib import Path

    if not models:
        return list(ways)
    plain = [each for each in ways if each.name in _WITHOUT_VECTORS]
    others = [
        replace(each, name=f"{each.name} [{Path(model).name}]", encoder=model)
        for model in models
        for each in ways
        if each.name not in _WITHOUT_VECTORS
    ]
    return plain + others


def possible(ways: Iterable[Way], *, vectors: bool, graph: bool) -> list[Way]:
    """Return the ways that an index can be asked in."""
    return [each for each in ways if (vectors or not each.needs_vectors) and (graph or not each.needs_graph)]
