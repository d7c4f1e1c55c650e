"""The reference of the command line: the help of every command, as the parsers print it."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator

from dowse.interfaces.cli.command import CommandParser
from dowse.interfaces.cli.evaluation.parser import STEPS, eval_parser
from dowse.interfaces.cli.feedback_command import build_parser as feedback_parser
from dowse.interfaces.cli.main import build_parser

_COLUMNS = "100"


def cli_reference() -> str:
    """Return the page."""
    os.environ["COLUMNS"] = _COLUMNS  # what argparse wraps at, whatever the terminal
    parts = [
        "# Command line reference",
        "What `--help-all` prints, or `--help`. [COMMANDS.md](../COMMANDS.md) is the overview.",
    ]
    for parser in _parsers():
        parts += [f"## {parser.prog}", f"```text\n{_help(parser).rstrip()}\n```"]
    return "\n\n".join(parts) + "\n"


def _help(parser: argparse.ArgumentParser) -> str:
    return parser.format_help(everything=True) if isinstance(parser, CommandParser) else parser.format_help()


def _parsers() -> Iterator[argparse.ArgumentParser]:
    whole = build_parser()
    own = {"eval": [eval_parser(step) for step in ("", *STEPS)], "feedback": _with_steps(feedback_parser())}
    yield whole
    for name, parser in _choices(whole).items():
        yield from own.get(name, [parser])


def _with_steps(parser: argparse.ArgumentParser) -> list[argparse.ArgumentParser]:
    return [parser, *_choices(parser).values()]


def _choices(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """Return the parsers of the commands of a parser."""
    actions = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    return {name: choice for action in actions for name, choice in action.choices.items()}
