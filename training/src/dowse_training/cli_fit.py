"""`dowse train fit`: train an encoder by a plan."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from dowse.errors import ConfigError
from dowse_training import curves, journal, plan


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add = parser.add_argument
    add("--plan", type=Path, help="TOML file with the stages")
    add("--shards", type=Path, action="append", default=[], help="folder of token shards; may be given again")
    add("--out", type=Path, required=True, help="folder for the log, the curves and the weights to keep")
    add("--work", type=Path, help="folder for checkpoints and weights saved on the way (default: --out)")
    add(
        "--weights",
        type=Path,
        action="append",
        default=[],
        help="folder of weights to load; may be given again",
    )
    add("--tokenizer", type=Path, help="tokenizer.json the shards were made with")
    add(
        "--evaluation",
        type=Path,
        action="append",
        default=[],
        help="evaluation set as .npz; may be given again",
    )
    add("--device", default="auto", help="cuda, cpu, or auto (default)")
    add("--seed", type=int, help="instead of the plan's")
    add("--no-compile", action="store_true", help="leave torch.compile out")
    add(
        "--deadline",
        type=float,
        default=float("inf"),
        help="seconds from the start by which training is to end: later stages are shortened (default: none)",
    )
    add("--checkpoint-seconds", type=float, default=0.0, help="time between checkpoints (default: none)")
    add("--resume", action="store_true", help="go on from the checkpoint in --work")
    add("--curves", type=Path, metavar="LOG", help="only draw the curves of a log.jsonl into --out")


def run(args: argparse.Namespace) -> int:
    """Train, or draw a log's curves."""
    if args.curves:
        args.out.mkdir(parents=True, exist_ok=True)
        (args.out / "curves.svg").write_text(curves.draw(journal.read(args.curves)), "utf-8")
        return 0
    for name in ("plan", "shards", "tokenizer"):
        if not getattr(args, name):
            raise ConfigError(f"training wants --{name}")
    the_plan = plan.read(args.plan)
    import torch

    from dowse_training.run import Options, Places, Run

    device = args.device
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    places = Places(
        args.shards, args.tokenizer, args.out, args.work or args.out, args.weights, args.evaluation
    )
    options = Options(device, not args.no_compile, args.deadline, args.checkpoint_seconds, resume=args.resume)
    Run(the_plan if args.seed is None else replace(the_plan, seed=args.seed), places, options).run()
    return 0
