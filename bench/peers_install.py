"""Put the tools that `peers.py` measures into a folder; universal-ctags comes from the system's packages.

    python bench/peers_install.py --tools DIR [--zoekt-source CHECKOUT]

semble's default model can't be had without a download, so one of the same shape is made with random vectors:
right for times and sizes, useless for quality.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

# Of potion-code-16M-v2, semble's default: 63,500 tokens of 256 dimensions as float16 are its 32.5 MB.
MODEL_TOKENS, MODEL_DIMENSIONS = 63_500, 256
_MAKE_MODEL = f"""
import pathlib, sys, sysconfig
import numpy as np
from model2vec import StaticModel
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers
made = Tokenizer(models.WordPiece(unk_token="[UNK]"))
made.normalizer, made.pre_tokenizer = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer()
files = sorted(map(str, pathlib.Path(sysconfig.get_path("stdlib")).glob("*.py")))
made.train(files, trainers.WordPieceTrainer(vocab_size={MODEL_TOKENS}, special_tokens=["[PAD]", "[UNK]"]))
# Unused tokens fill the vocabulary; as added tokens they would slow the tokenizer down.
vocabulary = made.get_vocab()
vocabulary |= {{f"unused{{n}}": n for n in range(len(vocabulary), {MODEL_TOKENS})}}
made.model = models.WordPiece(vocabulary, unk_token="[UNK]")
vectors = np.random.default_rng(0).normal(size=(made.get_vocab_size(), {MODEL_DIMENSIONS})).astype(np.float16)
StaticModel(vectors, made, normalize=True).save_pretrained(sys.argv[1])
"""


def main() -> None:
    """Run every step that isn't done yet; what fails is named and stays missing."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tools", type=Path, required=True, help="folder to fill, not in a repository")
    parser.add_argument("--zoekt-source", type=Path, help="a checkout to build instead of @latest")
    options = parser.parse_args()
    tools, zoekt_source = options.tools.resolve(), options.zoekt_source
    tools.mkdir(parents=True, exist_ok=True)
    repository = Path(__file__).resolve().parents[1]
    zoekt = ["zoekt", "zoekt-index", "zoekt-webserver"]
    module = "." if zoekt_source else "github.com/sourcegraph/zoekt"
    packages = [f"{module}/cmd/{name}{'' if zoekt_source else '@latest'}" for name in zoekt]
    steps: list[tuple[Path | None, list[Any], Path | None]] = [
        (tools / "dowse", [sys.executable, "-m", "venv", tools / "dowse"], None),
        (None, [tools / "dowse/bin/pip", "install", "-q", repository], None),
        (tools / "semble", [sys.executable, "-m", "venv", tools / "semble"], None),
        (None, [tools / "semble/bin/pip", "install", "-q", "semble"], None),
        (tools / "model", [tools / "semble/bin/python", "-c", _MAKE_MODEL, tools / "model"], None),
        (
            tools / "codegraph",
            ["npm", "install", "--prefix", tools / "codegraph", "@colbymchenry/codegraph"],
            None,
        ),
        (tools / "bin/zoekt", ["go", "install", *packages], zoekt_source),
        (tools / "bin/rg", ["cargo", "install", "ripgrep", "--root", tools], None),
    ]
    for made, command, folder in steps:
        if made is not None and made.exists():
            continue
        try:
            env = {**os.environ, "GOBIN": str(tools / "bin")}
            subprocess.run(command, cwd=folder, env=env, check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            print(f"left out: {error}", file=sys.stderr)
    if zoekt_source:
        head = ["git", "-C", zoekt_source, "rev-parse", "HEAD"]
        (tools / "zoekt.version").write_bytes(subprocess.run(head, capture_output=True, check=True).stdout)


if __name__ == "__main__":
    main()
