"""What all commands share: the argument parser and the exit codes."""

from __future__ import annotations

import argparse
import os
import sys
import threading
from collections.abc import Collection, Sequence
from typing import Any, NoReturn

# Exit codes, as of grep.
EXIT_FOUND, EXIT_NOTHING, EXIT_ERROR = 0, 1, 2
EXIT_INTERRUPTED = 130  # 128 + SIGINT
# Marks words behind `--` that begin with a dash; no word of a command line has this character in it.
_LITERAL = "\0"
_USAGE = "usage: "
# Columns of help where there is no terminal, as in argparse.
_DEFAULT_WIDTH = 80


class Once(argparse.Action):
    """Takes the value of a flag that is given once: of two values, one would be ignored."""

    def __call__(self, parser: object, namespace: object, values: Any, flag: object = None) -> None:  # noqa: ANN401
        """Keep the value."""
        if getattr(namespace, self.dest, None) is not None:
            raise argparse.ArgumentError(self, "may be given once; --workspace searches several repositories")
        setattr(namespace, self.dest, values)


class CommandParser(argparse.ArgumentParser):
    """The parser of one command: flags and positional arguments may be mixed, `--` ends the flags."""

    def __init__(self, command: str = "", **settings: Any) -> None:  # noqa: ANN401 - as argparse has them
        super().__init__(**{"formatter_class": _help_formatter, **settings})
        self.command = command
        self._optional_values: dict[str, tuple[str, Collection[str]]] = {}
        self._advanced: list[argparse.Action] = []
        self._lock = threading.Lock()

    def format_help(self, *, everything: bool = False) -> str:
        """Return the help, with flags that few people need only if everything is asked for."""
        usage, self.usage = self.usage, self.format_usage()[len(_USAGE) :]
        helps = [action.help for action in self._advanced]
        for action in () if everything else self._advanced:
            action.help = argparse.SUPPRESS
        try:
            return super().format_help()
        finally:
            self.usage = usage
            for action, help in zip(self._advanced, helps, strict=True):
                action.help = help

    def hide(self, *flags: str) -> None:
        """Leave flags out of `--help`, and add `--help-all`, which shows them."""
        self._advanced += [self._option_string_actions[flag] for flag in flags]
        if "--help-all" not in self._option_string_actions:
            self.add_argument("--help-all", action=_HelpAll, nargs=0, help="show all flags and exit")

    def format_usage(self) -> str:
        """Return the usage on one line: the flags are listed by `--help`."""
        arguments = " ".join(map(_show_argument, self._get_positional_actions()))
        return _USAGE + (self.usage or f"{self.prog} [OPTION ...] {arguments}").strip() + "\n"

    def error(self, message: str) -> NoReturn:
        """Print the usage and an error, and end the process."""
        self.exit(EXIT_ERROR, f"{self.format_usage()}dowse: {message}; see `{self.prog} --help`\n")

    def set_optional_value(self, flag: str, const: str, choices: Collection[str]) -> None:
        """Let the value of a flag be left out: then it is `const`.

        With `nargs="?"` argparse would take a query that follows the flag as its value.
        """
        self._optional_values[flag] = (const, choices)

    def parse(self, arguments: Sequence[str]) -> argparse.Namespace:
        """Parse the words that follow the command.

        `parse_intermixed_args` takes `search QUERY --json PATH`, but before Python 3.13 it loses a `--`.
        """
        words = list(arguments)
        end = words.index("--") if "--" in words else len(words)
        literals = [_LITERAL + word if word.startswith("-") else word for word in words[end + 1 :]]
        with self._lock:  # argparse changes its actions meanwhile, and a warm process has several threads
            known = [*self._with_optional_values(words[:end]), *literals]
            options, unknown = self.parse_known_intermixed_args(known)
        if unknown:
            self.error(
                f"unrecognized: {' '.join(unknown)}; words that begin with - go in quotes or behind --"
            )
        for name, value in vars(options).items():
            setattr(options, name, _without_mark(value))
        options.command = self.command
        return options

    def _with_optional_values(self, words: Sequence[str]) -> list[str]:
        """Return the words with the value of every flag whose value was left out."""
        result = []
        for word, following in zip(words, [*words[1:], ""], strict=False):
            const, choices = self._optional_values.get(word, ("", ()))
            result.append(f"{word}={const}" if const and following not in choices else word)
        return result


class _HelpAll(argparse.Action):
    """Prints the help with all flags, and ends the process."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        assert isinstance(parser, CommandParser)  # noqa: S101 - only these have hidden flags
        sys.stdout.write(parser.format_help(everything=True))
        parser.exit()


def _help_formatter(prog: str) -> argparse.HelpFormatter:
    """Return a formatter as wide as the terminal.

    argparse makes one for every flag, and would load `shutil` with all its compressors to find that out.
    """
    try:
        width = int(os.environ.get("COLUMNS", 0)) or os.get_terminal_size().columns
    except (ValueError, OSError):
        width = _DEFAULT_WIDTH
    return argparse.HelpFormatter(prog, width=(width or _DEFAULT_WIDTH) - 2)


def _show_argument(action: argparse.Action) -> str:
    name = str(action.metavar or action.dest).upper()
    if action.choices is not None:
        name = "|".join(map(str, action.choices))
    return {"?": f"[{name}]", "*": f"[{name} ...]", "+": f"{name} ..."}.get(str(action.nargs), name)


def _without_mark(value: object) -> object:
    if isinstance(value, list):
        return [_without_mark(each) for each in value]
    return value.removeprefix(_LITERAL) if isinstance(value, str) else value
