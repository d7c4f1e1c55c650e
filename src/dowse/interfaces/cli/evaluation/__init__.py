"""`dowse eval` and its steps: each is a function that takes the parsed flags and returns the exit code."""

from __future__ import annotations

from collections.abc import Sequence

from dowse.interfaces.cli.evaluation.parser import parse_eval


def main(arguments: Sequence[str]) -> int:
    """Run `dowse eval` with the arguments that follow it."""
    options = parse_eval(arguments)
    if options.step == "gate":
        from dowse.interfaces.cli.evaluation.gate import gate as command
    elif options.step == "report":
        from dowse.interfaces.cli.evaluation.output import render_saved as command
    else:
        from dowse.interfaces.cli.evaluation.run import evaluate as command
    return command(options)
