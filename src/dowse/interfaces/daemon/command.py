"""Runs a command inside the daemon as if it had been started by the client."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from pathlib import Path
from typing import Any, Protocol

from dowse.config import Settings, index_folder, load_settings
from dowse.index import Index
from dowse.interfaces.cli.common import Environment, environment
from dowse.interfaces.daemon.client import COMMANDS
from dowse.interfaces.daemon.frames import DISPLAY_VARIABLES, ERRORS, EXIT, OUTPUT
from dowse.lazy_classes import NamedTuple
from dowse.security.terminal import escape_for_terminal
from dowse.source.git_address import is_address

# Settings that may be paths, which mean something else in another folder.
_PATH_SETTINGS = ("encoder", "reranker")


class Declined(BaseException):
    """The daemon can't run a command as a process of its own would; no error that the command may catch."""


class CommandRequest(NamedTuple):
    """A command line, and the environment that it was typed in."""

    folder: str
    terminals: tuple[bool, bool]  # standard output, standard error
    display: Mapping[str, str]
    arguments: list[str]

    @classmethod
    def from_fields(cls, fields: list[bytes]) -> CommandRequest:
        """Return the request that the fields of a message describe."""
        folder, terminals, *fields = fields
        display = {
            name: os.fsdecode(each) for name, each in zip(DISPLAY_VARIABLES, fields, strict=False) if each
        }
        arguments = [os.fsdecode(each) for each in fields[len(DISPLAY_VARIABLES) :]]
        return cls(os.fsdecode(folder), (terminals[:1] == b"1", terminals[1:] == b"1"), display, arguments)


class IndexSource(Protocol):
    """Where commands get their index from, and who maintains it."""

    def open(self, root: Path, folder: str, settings: Settings) -> Index:
        """Return the index in a folder, with settings that it shares with others; raises Declined."""

    def finish(self, index: Index) -> None:
        """Have the rest of an index embedded in the background."""


def run_command(request: CommandRequest, source: IndexSource, accept: Callable[[], None]) -> list[bytes]:
    """Run a command and return the parts of the response; raises Declined where it can't be run here.

    Args:
        request: The command.
        source: The indexes that it may use.
        accept: Called once it is clear that the command can be run.
    """
    from dowse.interfaces.cli import main as command_line

    options = _parse(request, command_line.parse_arguments)
    output = CapturedOutput(request.terminals)
    _current_output.set(output)
    open_index = _index_opener(request, source, accept)
    environment.set(
        Environment(
            request.display,
            open_index,
            request.folder,
            is_daemon=True,
            finish=source.finish,
        )
    )
    code = command_line.run(options)
    return [*output.parts(), EXIT + str(code).encode()]


def _parse(request: CommandRequest, parse: Callable[[list[str]], argparse.Namespace]) -> argparse.Namespace:
    """Parse the command line; an error in it is reported by a process of its own, with its usage."""
    _current_output.set(CapturedOutput((False, False)))
    try:
        options = parse(request.arguments)
    except SystemExit:
        raise Declined from None
    # `--no-d` is short for a flag, which the client does not know.
    if options.command not in COMMANDS or options.no_daemon:
        raise Declined
    if is_address(getattr(options, "repo", "") or getattr(options, "path", "")):
        raise Declined  # git may ask for a password
    if getattr(options, "workspace", None):
        raise Declined  # it opens more indexes than are kept here
    if options.command in ("search", "diff-search") and (options.words or ["-"])[0] == "-":
        raise Declined  # the query is on the client's standard input
    return options


def _index_opener(
    request: CommandRequest, source: IndexSource, accept: Callable[[], None]
) -> Callable[..., Index]:
    def open_index(path: str, **flags: object) -> Index:
        root = Path(request.folder, Path(path).expanduser()).resolve()
        settings = load_settings(root, **flags)
        if settings.backend or any(_is_relative(getattr(settings, name)) for name in _PATH_SETTINGS):
            raise Declined
        folder = os.path.normpath(Path(request.folder, index_folder(root, settings)))
        index = source.open(root, folder, settings)
        accept()
        return index.internals.with_settings(settings)

    return open_index


def _is_relative(name: str) -> bool:
    return (os.sep in name or name.startswith(".")) and not Path(name).is_absolute() and ":" not in name


class CapturedOutput:
    """The output of a command, in the order in which it was written."""

    def __init__(self, terminals: tuple[bool, bool]) -> None:
        self._writes: list[tuple[bytes, str]] = []
        self.streams = {
            "stdout": _CapturedStream(OUTPUT, terminals[0], self._writes),
            "stderr": _CapturedStream(ERRORS, terminals[1], self._writes),
        }

    def parts(self) -> list[bytes]:
        """Return the parts of a response; consecutive writes to one stream are one part."""
        parts: list[tuple[bytes, list[str]]] = []
        for kind, text in self._writes:
            if not parts or parts[-1][0] != kind:
                parts.append((kind, []))
            parts[-1][1].append(text)
        # As `protect_terminals` encodes where a command writes for itself.
        return [kind + "".join(texts).encode("utf-8", "backslashreplace") for kind, texts in parts]


class _CapturedStream(io.TextIOBase):
    """A text stream that records what is written."""

    def __init__(self, kind: bytes, terminal: bool, writes: list[tuple[bytes, str]]) -> None:
        self._kind, self._terminal, self._writes = kind, terminal, writes

    def write(self, text: str) -> int:
        """Record a text, escaped where the client shows it on a terminal."""
        self._writes.append((self._kind, escape_for_terminal(text) if self._terminal else text))
        return len(text)

    def isatty(self) -> bool:
        """Whether the client shows standard output on a terminal; on stderr, no progress bars are drawn."""
        return self._terminal and self._kind == OUTPUT

    def writable(self) -> bool:
        """Return True."""
        return True


_current_output: ContextVar[CapturedOutput | None] = ContextVar("output", default=None)


class _RoutedStream:
    """Stands for a standard stream: a thread that runs a command writes to its own."""

    def __init__(self, name: str) -> None:
        self._name, self.usual = name, getattr(sys, name)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever a stream has
        output = _current_output.get()
        return getattr(self.usual if output is None else output.streams[self._name], name)


def route_streams() -> None:
    """Give every thread that runs a command its own standard output and error."""
    for name in ("stdout", "stderr"):
        if not isinstance(getattr(sys, name), _RoutedStream):
            setattr(sys, name, _RoutedStream(name))
