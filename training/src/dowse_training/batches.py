"""Which pairs meet in a batch: one language, in chunks of one package or of one cluster of meaning.

Neighbours in a batch are each other's negatives, so a chunk of alike pairs makes a batch harder.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import torch
from torch import Tensor


class Batches:
    """An endless stream of batches; each language is gone through in a new order whenever it is used up."""

    def __init__(
        self,
        ranges: Mapping[str, tuple[int, int]],
        groups: Tensor,
        chunk: int,
        shares: Mapping[str, float],
        random: np.random.Generator,
        chunks: Mapping[str, int] = MappingProxyType({}),
    ) -> None:
        self._ranges, self._groups, self._chunk, self._random = ranges, groups, chunk, random
        self._chunks = chunks  # of languages whose chunks have another size
        self._left: dict[str, Tensor] = {}
        self._languages = list(ranges)
        weight = [(end - start) * shares.get(name, 1.0) for name, (start, end) in ranges.items()]
        self._shares = np.array(weight) / sum(weight)

    def next(self, size: int) -> tuple[str, Tensor]:
        """A language and `size` of its pairs (fewer when it has fewer)."""
        language = self._languages[self._random.choice(len(self._languages), p=self._shares)]
        left = self._left.get(language)
        if left is None or len(left) < size:
            left = self._order(language)
        self._left[language] = left[size:]
        return language, left[:size]

    def state(self) -> dict[str, Any]:
        """What is left of the current order of each language."""
        return {"left": self._left}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from a saved state."""
        self._left = {name: left.to(self._groups.device) for name, left in state["left"].items()}

    def _order(self, language: str) -> Tensor:
        """All pairs of a language: alike ones in chunks, chunks and the order within a group at random."""
        start, end = self._ranges[language]
        device = self._groups.device
        order = torch.randperm(end - start, device=device)
        order = order[torch.sort(self._groups[start:end][order], stable=True).indices]
        chunk = min(self._chunks.get(language, self._chunk), end - start)
        order = order.roll(int(self._random.integers(chunk)))  # so that chunks are cut elsewhere each time
        chunks = order[: len(order) // chunk * chunk].view(-1, chunk)
        return (chunks[torch.randperm(len(chunks), device=device)] + start).reshape(-1)
