"""Run a command in a warm process as if it had been started where it was asked for."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dowse.config import index_folder, load_settings
from dowse.index import Index
from dowse.interfaces.cli.environment import Environment, set_environment
from dowse.interfaces.daemon.client import COMMANDS
from dowse.interfaces.daemon.frames import ERRORS, EXIT, LOOKS, OUTPUT
from dowse.security.terminal import escape_for_terminal

# Settings that open files and processes hang on; all others a question may bring its own of.
_SHARED = ("encoder", "view", "device", "isolation")
# Settings that may be paths, which mean something else in another folder.
_PATHS = ("encoder", "reranker")
# How long a question waits for what was saved just before.
_SETTLE_SECONDS = 5.0


class NotMine(BaseException):
    """This process can't answer as one of its own would; not an error of the command, and none it catches."""


@dataclass(frozen=True, slots=True)
class Question:
    """A command line, and where it was typed."""

    folder: str
    terminals: tuple[bool, bool]  # standard output, standard error
    looks: Mapping[str, str]
    arguments: list[str]

    @classmethod
    def of(cls, folder: bytes, terminals: bytes, rest: list[bytes]) -> Question:
        """Return what the parts of a message say."""
        looks = {name: os.fsdecode(each) for name, each in zip(LOOKS, rest, strict=False) if each}
        arguments = [os.fsdecode(each) for each in rest[len(LOOKS) :]]
        return cls(os.fsdecode(folder), (terminals[:1] == b"1", terminals[1:] == b"1"), looks, arguments)


class Warm:
    """One index that is open, and what keeps it true, if something does."""

    def __init__(self, index: Index, settle: Callable[[float, bool], bool] | None = None) -> None:
        self.index = index
        self.settle = settle


def run(question: Question, warm: Warm, accept: Callable[[], None]) -> list[bytes]:
    """Run a command and return the parts of its answer; raises NotMine where another has to.

    Args:
        question: The command.
        warm: The index that it may ask.
        accept: Called once it is clear that it can be answered.
    """
    from dowse.interfaces.cli import main as command_line

    options = _parsed(question, command_line.parse_arguments)
    said = _Said(question.terminals)
    _streams.set(said)
    set_environment(Environment(question.looks, _opener(question, warm, accept), _settler(warm)))
    code = command_line.run(options)
    return [*said.parts(), EXIT + str(code).encode()]


def _parsed(question: Question, parse: Callable[[list[str]], argparse.Namespace]) -> argparse.Namespace:
    """Parse the command line; what is wrong with one is said by a process of its own, with its usage."""
    _streams.set(_Said((False, False)))
    try:
        options = parse(question.arguments)
    except SystemExit:
        raise NotMine from None
    # A batch reads files and standard input; `--no-d` is short for a flag, which the client does not know.
    if options.command not in COMMANDS or options.no_daemon or getattr(options, "batch", None) is not None:
        raise NotMine
    return options


def _opener(question: Question, warm: Warm, accept: Callable[[], None]) -> Callable[..., Index]:
    def open_index(path: str, **flags: object) -> Index:
        index = warm.index
        root = Path(question.folder, Path(path).expanduser()).resolve()
        if root != index.root or not index.exists:
            raise NotMine
        settings = load_settings(root, **flags)
        folder = str(Path(question.folder, index_folder(root, settings)))
        if settings.backend or os.path.normpath(folder) != os.path.normpath(index.backend.address):
            raise NotMine
        differs = any(getattr(settings, name) != getattr(index.settings, name) for name in _SHARED)
        if differs or any(_is_relative(getattr(settings, name)) for name in _PATHS):
            raise NotMine
        accept()
        return index.with_settings(settings)

    return open_index


def _is_relative(name: str) -> bool:
    return (os.sep in name or name.startswith(".")) and not Path(name).is_absolute() and ":" not in name


def _settler(warm: Warm) -> Callable[[Index, bool], bool]:
    def settle(index: Index, meaning: bool) -> bool:
        if warm.settle is None or index.settings.refresh == "never":
            return False
        return warm.settle(_SETTLE_SECONDS, meaning)

    return settle


class _Said:
    """What a command writes, in the order it does."""

    def __init__(self, terminals: tuple[bool, bool]) -> None:
        self._said: list[tuple[bytes, str]] = []
        self.streams = {
            "stdout": _Captured(OUTPUT, terminals[0], self._said),
            "stderr": _Captured(ERRORS, terminals[1], self._said),
        }

    def parts(self) -> list[bytes]:
        """Return it, neighbours of a kind as one."""
        parts: list[tuple[bytes, list[str]]] = []
        for kind, text in self._said:
            if not parts or parts[-1][0] != kind:
                parts.append((kind, []))
            parts[-1][1].append(text)
        # As `protect_terminals` has it where a command writes for itself.
        return [kind + "".join(texts).encode("utf-8", "backslashreplace") for kind, texts in parts]


class _Captured(io.TextIOBase):
    """A stream that only remembers."""

    def __init__(self, kind: bytes, terminal: bool, said: list[tuple[bytes, str]]) -> None:
        self._kind, self._terminal, self._said = kind, terminal, said

    def write(self, text: str) -> int:
        """Remember a text, as a terminal may show it where there is one."""
        self._said.append((self._kind, escape_for_terminal(text) if self._terminal else text))
        return len(text)

    def isatty(self) -> bool:
        """Whether the one who asked sees this on a terminal; no bars are drawn for somebody far away."""
        return self._terminal and self._kind == OUTPUT

    def writable(self) -> bool:
        """Yes."""
        return True


_streams: ContextVar[_Said | None] = ContextVar("streams", default=None)


class _Routed:
    """Stands for a standard stream: a thread that runs a command writes to its own."""

    def __init__(self, name: str) -> None:
        self._name, self.usual = name, getattr(sys, name)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever a stream has
        said = _streams.get()
        return getattr(self.usual if said is None else said.streams[self._name], name)


def route_streams() -> None:
    """Give every thread that runs a command its own standard output and error."""
    for name in ("stdout", "stderr"):
        if not isinstance(getattr(sys, name), _Routed):
            setattr(sys, name, _Routed(name))
