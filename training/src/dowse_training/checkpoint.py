"""The whole state of a run on disk, so that a killed one goes on as if nothing had been.

On a CPU a resumed run gives the same weights bit for bit; on a GPU sums of gradients have no fixed order.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch


def save(path: Path, state: Mapping[str, Any]) -> None:
    """Replace the checkpoint at once: after a kill there is the old one or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    half_done = path.with_suffix(".tmp")
    torch.save(dict(state), half_done)
    half_done.replace(path)


def load(path: Path, device: torch.device) -> dict[str, Any] | None:
    """Read a checkpoint, if there is one."""
    if not path.exists():
        return None
    state: dict[str, Any] = torch.load(path, map_location=device, weights_only=True)
    return state


def random_state(device: torch.device) -> dict[str, Any]:
    """Where torch's random numbers are."""
    state = {"cpu": torch.get_rng_state()}
    return state | {"cuda": torch.cuda.get_rng_state()} if device.type == "cuda" else state


def restore_random(state: Mapping[str, Any]) -> None:
    """Go on with the random numbers that would have come."""
    torch.set_rng_state(state["cpu"].cpu())
    if "cuda" in state:
        torch.cuda.set_rng_state(state["cuda"].cpu())


def generator_state(random: np.random.Generator) -> str:
    """Where a numpy generator is, as text: its numbers are wider than a tensor's."""
    return json.dumps(random.bit_generator.state)


def restore_generator(random: np.random.Generator, state: str) -> None:
    """Set a numpy generator back."""
    random.bit_generator.state = json.loads(state)
