"""What all commands share: the argument parser and the exit codes."""

from __future__ import annotations

import argparse
import threading
from collections.abc import Collection, Sequence
from typing import Any

# Exit codes, as of grep.
EXIT_FOUND, EXIT_NOTHING, EXIT_ERROR = 0, 1, 2
EXIT_INTERRUPTED = 130  # 128 + SIGINT
# Marks words behind `--` that begin with a dash; no word of a command line has this character in it.
_LITERAL = "\0"


class CommandParser(argparse.ArgumentParser):
    """The parser of one command: flags and positional arguments may be mixed, `--` ends the flags."""

    def __init__(self, command: str = "", **settings: Any) -> None:  # noqa: ANN401 - as argparse has them
        super().__init__(**settings)
        self.command = command
        self._optional_values: dict[str, tuple[str, Collection[str]]] = {}
        self._lock = threading.Lock()

    def add_optional_choice(
        self, flag: str, choices: Collection[str], const: str, help: str, dest: str | None = None
    ) -> None:
        """Add a flag whose value may be left out, and then is `const`.

        With `nargs="?"` argparse would take a query that follows the flag as its value.
        """
        self.add_argument(flag, choices=choices, help=help, dest=dest)
        self._optional_values[flag] = (const, choices)

    def parse(self, arguments: Sequence[str]) -> argparse.Namespace:
        """Parse the words that follow the command.

        `parse_intermixed_args` takes `search QUERY --json PATH`, but before Python 3.13 it loses a `--`.
        """
        words = list(arguments)
        end = words.index("--") if "--" in words else len(words)
        literals = [_LITERAL + word if word.startswith("-") else word for word in words[end + 1 :]]
        with self._lock:  # argparse changes its actions meanwhile, and a warm process has several threads
            options = self.parse_intermixed_args([*self._with_optional_values(words[:end]), *literals])
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


def _without_mark(value: object) -> object:
    if isinstance(value, list):
        return [_without_mark(each) for each in value]
    return value.removeprefix(_LITERAL) if isinstance(value, str) else value
