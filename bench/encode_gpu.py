"""How many functions a GPU encodes in a second with an encoder of `base`'s or `small`'s shape.

Weights are random, for they do not change the time; sequences are as long as functions are: up to 128 tokens.

    python bench/encode_gpu.py --out bench/results/encode_gpu.json
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
import torch

from dowse_training.corpus import Piece
from dowse_training.model import Network

from common import write_results

WORDS, TOKENS, WIDTH, INNER = 32_571, 128, 384, 1536
LAYERS = {"base": 6, "small": 2}
FUNCTIONS, ROUNDS = 65_536, 5


def made_weights(layers: int) -> dict[str, np.ndarray]:
    """Return random weights."""
    draw = np.random.default_rng(0)

    def normal(*shape: int) -> np.ndarray:
        return draw.normal(0, 0.02, shape).astype(np.float32)

    arrays = {"word_emb": normal(WORDS, WIDTH), "pos_emb": normal(TOKENS + 2, WIDTH)}
    arrays |= {"type_emb": normal(1, WIDTH), "emb_ln.w": np.ones(WIDTH), "emb_ln.b": np.zeros(WIDTH)}
    shapes = {"qkv": (3 * WIDTH, WIDTH), "ao": (WIDTH, WIDTH), "f1": (INNER, WIDTH), "f2": (WIDTH, INNER)}
    for layer in range(layers):
        for name, (out, into) in shapes.items():
            arrays |= {f"l{layer}.{name}.w": normal(out, into), f"l{layer}.{name}.b": np.zeros(out)}
        for name in ("aln", "fln"):
            arrays |= {f"l{layer}.{name}.w": np.ones(WIDTH), f"l{layer}.{name}.b": np.zeros(WIDTH)}
    return arrays


def made_functions(device: torch.device) -> Piece:
    """Return functions of all lengths: half of them fill the 128 tokens."""
    draw = torch.Generator().manual_seed(0)
    lengths = torch.randint(16, 2 * TOKENS - 16, (FUNCTIONS,), generator=draw).clamp(max=TOKENS)
    keep = torch.arange(TOKENS)[None] < lengths[:, None]
    ids = torch.randint(0, WORDS, (FUNCTIONS, TOKENS), generator=draw)
    return Piece(ids.to(device), keep.to(device))


def main() -> None:
    """Measure both shapes."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--out", type=Path, default=Path("bench/results/encode_gpu.json"))
    options = parser.parse_args()
    device = torch.device(options.device)
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else "CPU"
    results: dict[str, object] = {"device": name, "functions": FUNCTIONS, "tokens": TOKENS}
    functions = made_functions(device)
    for shape, layers in LAYERS.items():
        network = Network(device)
        parameters = network.constants(made_weights(layers))
        network.encode(parameters, functions)  # compiles
        times = []
        for _ in range(ROUNDS):
            started = time.perf_counter()
            network.encode(parameters, functions).cpu()
            times.append(time.perf_counter() - started)
        results[shape] = {"functions_per_second": round(FUNCTIONS / sorted(times)[ROUNDS // 2])}
    write_results(options.out, results)


if __name__ == "__main__":
    main()
