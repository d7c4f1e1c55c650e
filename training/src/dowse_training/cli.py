"""`dowse train STEP …`: the steps from source code to a shipped encoder, each in a module of its own."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence
from types import ModuleType

from dowse.errors import DowseError
from dowse.security.terminal import escape_message, protect_terminals

STEPS = {
    "pairs": "mine pairs of documentation and code from packages and repositories",
    "commits": "mine pairs of commit message and changed function from repositories",
    "comments": "take pairs of comment and function from pairs of documentation and code",
    "questions": "take pairs of written question and function from pairs of documentation and code",
    "shards": "turn pairs into token ids, once for all runs",
    "fit": "train an encoder by a plan of stages",
    "export": "turn weights into an ONNX model that dowse can ship",
    "table": "train the token table that approximates a shipped encoder",
    "nbow": "train the neural bag-of-words baseline (also: dowse train --arch nbow)",
}


def run(arguments: Sequence[str]) -> int:
    """Run one step and return its exit code."""
    given = list(arguments)
    if given[:2] == ["--arch", "nbow"] or given[:1] == ["--arch=nbow"]:
        given[: 2 if given[0] == "--arch" else 1] = ["nbow"]
    parser = argparse.ArgumentParser(
        prog="dowse train", description="From source code to an encoder, step by step."
    )
    steps = parser.add_subparsers(dest="step", metavar="STEP", required=True)
    for name, text in STEPS.items():
        step = steps.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
        if given[:1] == [name]:  # the others' modules need not be loaded
            _module(name).add_arguments(step)
    options = parser.parse_args(given)
    try:
        return int(_module(options.step).run(options))
    except ModuleNotFoundError as error:
        if (error.name or "dowse").startswith("dowse"):
            raise
        raise DowseError(
            f"`dowse train {options.step}` needs {error.name}; "
            "install it with `pip install 'dowse-training[torch]'`"
        ) from error


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a step without the rest of dowse, on a machine that has torch and little else."""
    protect_terminals()
    try:
        return run(sys.argv[1:] if arguments is None else arguments)
    except DowseError as error:
        sys.stderr.write(f"dowse: {escape_message(error)}\n")
        return 2


def _module(step: str) -> ModuleType:
    """Return the module of a step, with `add_arguments` and `run`; it loads what is heavy when it runs."""
    return importlib.import_module(f"dowse_training.cli_{step}")


if __name__ == "__main__":
    raise SystemExit(main())
