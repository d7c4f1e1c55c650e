"""The `dowse` command: dispatch to the module of each command, errors and exit codes."""

from __future__ import annotations

import argparse
import contextlib
import functools
import os
import sys
from collections.abc import Callable, Collection, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from dowse.errors import DowseError, UsageError
from dowse.interfaces.cli.command import EXIT_ERROR, EXIT_FOUND, EXIT_INTERRUPTED, CommandParser
from dowse.interfaces.cli.left_work import hand_over
from dowse.interfaces.daemon.client import COMMANDS as DAEMON_COMMANDS
from dowse.interfaces.daemon.client import NO_DAEMON
from dowse.security.terminal import escape_message, first_line, protect_terminals
from dowse.version import __version__

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

# Each command by what people do: its module and a summary. A module has `add_arguments(parser)` and
# `run(options)`, or `main(arguments)` with a parser of its own. It is imported only when its command runs.
_GROUPS = {
    "search": {
        "search": ("search_command", "search; builds the index first if there is none yet"),
        "diff-search": ("search_command", "search what a branch changed, e.g. to review it"),
        "context": ("context_command", "print the lines that matter for a question, within a token budget"),
        "log": ("log_command", "search commits by what they did: meaning, words, author, date, files"),
        "feedback": ("feedback_command", "list, add and remove feedback, which ranks chosen results first"),
    },
    "structure": {
        "symbols": ("symbol_commands", "list symbols by name"),
        "related": ("symbol_commands", "list symbols similar to a symbol, and its cluster"),
        "callers": ("symbol_commands", "list the callers of a symbol"),
        "callees": ("symbol_commands", "list what a symbol calls"),
        "implementers": ("symbol_commands", "list what implements an interface or overrides a method"),
        "subclasses": ("symbol_commands", "list what extends a class"),
        "uses": ("symbol_commands", "list every reference to a symbol: calls, types, decorators, imports"),
        "impact": ("symbol_commands", "list what a change of a symbol would affect, and which tests to run"),
        "path": ("symbol_commands", "show the shortest chain of calls and uses between two symbols"),
    },
    "serve": {
        "serve": ("serve_command", "serve a search page and an API over HTTP"),
        "mcp": ("mcp_command", "serve coding agents: search and the code graph as MCP tools"),
        "lsp": ("lsp_command", "serve editors: search and the call graph as a language server"),
        "watch": ("watch_command", "update indexes while files change, and answer searches, until Ctrl-C"),
        "stop": ("stop_command", "end the resident process, which searches leave"),
    },
    "index": {
        "index": ("index_commands", "build the index, or update it"),
        "status": ("status_command", "show what is indexed and whether it is up to date"),
        "doctor": ("doctor_command", "check the index and the installation"),
        "clear": ("index_commands", "remove the index (the code stays)"),
        "export": ("transfer_commands", "write an index with its vectors to one file"),
        "import": ("transfer_commands", "make an index from such a file, without parsing or encoding"),
    },
    "evaluate": {
        "eval": ("evaluation", "measure search quality, on your own repository or any dataset"),
    },
    "set up": {
        "install": ("install_command", "add dowse to coding agents: Claude Code, Codex, …"),
        "completion": ("completion_command", "print a completion script for a shell"),
    },
}
COMMANDS = {name: command for group in _GROUPS.values() for name, command in group.items()}
_OWN_PARSER = ("feedback", "eval")
# Commands that other programs run: in no list and no help.
_HIDDEN = {"hook": "hook_command"}
# Commands of other distributions: entry points of this group, functions that take the arguments and return
# the exit code. Those that dowse itself publishes are listed here with their distribution.
_PLUGIN_GROUP = "dowse.commands"
_PLUGINS = {
    "train": ("dowse-training", "mine pairs, train an encoder, export it (pip install dowse-training)")
}
EXAMPLES = """\
  dowse search parse cookie header            by meaning and words, in the current folder
  dowse search "parseCookieHeader -test"      an identifier, and an exclusion
  dowse search '/retry_\\w+\\(/ path:src/**'    lines, as `rg -S` finds them
  pytest 2>&1 | dowse search -                a stack trace, from standard input
  dowse callers orders.parse_order --depth 2  callers of a function, and their callers
  dowse impact orders.parse_order             what a change would affect, and which tests to run
  dowse status --files                        which files are indexed, and which are not"""
_FLAGS_HELP = """\
flags:
  -h, --help    show this help; of a command: dowse COMMAND --help
  --version     show the version"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    protect_terminals()
    return run(parse_arguments(sys.argv[1:] if arguments is None else arguments))


def parse_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    """Parse a command line; help, the version and usage errors end the process."""
    if "_ARGCOMPLETE" in os.environ:
        _complete()
    command = arguments[0] if arguments else ""
    if command in COMMANDS and command not in _OWN_PARSER:
        return _command_parser(command).parse(arguments[1:])
    if command in (*_OWN_PARSER, *_PLUGINS, *_HIDDEN) or (command[:1].isalpha() and _find_plugin(command)):
        return argparse.Namespace(command=command, arguments=list(arguments[1:]))
    parser = build_parser(())
    if command and not command.startswith("-"):
        parser.error(_unknown_command(command, arguments))
    parser.parse_args(arguments or ["--help"])
    parser.error("the first argument must be a command")


def run(options: argparse.Namespace) -> int:
    """Run one command with its options, and return its exit code."""

    def work() -> int:
        code = _execute(options)
        sys.stdout.flush()
        hand_over()
        return code

    return exit_code(work, options.command)


def exit_code(work: Callable[[], int], command: str = "") -> int:
    """Run what a command does and return its exit code: an error is one line, and never "nothing found"."""
    try:
        return work()
    except KeyboardInterrupt:
        _print_error("interrupted; what was finished before is kept")
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # The reader closed the pipe (`| head`): not an error.
        _discard_output()
        return EXIT_FOUND
    except Exception as error:
        if isinstance(error, UsageError) and command in COMMANDS and command not in _OWN_PARSER:
            sys.stderr.write(_command_parser(command).format_usage())
        _print_error(escape_message(error, _message(error)))
        # Python flushes again at exit; output that can't be written would fail with a second message.
        try:
            sys.stdout.flush()
        except (OSError, ValueError):
            with contextlib.suppress(OSError, ValueError):
                _discard_output()
        return EXIT_ERROR


def _print_error(text: str) -> None:
    with contextlib.suppress(OSError, ValueError):  # the exit code says it, too
        print(f"dowse: {text}", file=sys.stderr, flush=True)  # noqa: T201


def load_command(command: str) -> ModuleType:
    """Return the module of a command."""
    return import_module(f"dowse.interfaces.cli.{COMMANDS[command][0]}")


class _WholeParser(argparse.ArgumentParser):
    """The parser of the whole command line."""

    def format_help(self) -> str:
        """Return the help, with the commands by what people do."""
        groups = {**_GROUPS, "evaluate": {**_GROUPS["evaluate"], **_PLUGINS}}
        lines = [self.format_usage(), "Find code by what it does: offline, with reasons.", "", EXAMPLES]
        for title, commands in groups.items():
            lines += ["", f"{title}:", *(f"  {name:<14}{each[1]}" for name, each in commands.items())]
        return "\n".join([*lines, "", _FLAGS_HELP, ""])


def build_parser(commands: Collection[str] = COMMANDS.keys()) -> argparse.ArgumentParser:
    """Return the parser of the whole command line, with the flags of some commands."""
    parser = _WholeParser(prog="dowse")
    parser.add_argument("--version", action="version", version=f"dowse {__version__}")
    subparsers = parser.add_subparsers(
        dest="command", metavar="COMMAND", required=True, parser_class=CommandParser
    )
    for name, (_, summary) in {**COMMANDS, **_PLUGINS}.items():
        subparser = subparsers.add_parser(name, command=name, help=summary, description=_description(summary))
        if name in commands:
            _add_arguments(subparser)
    return parser


@functools.cache  # a warm process parses many command lines
def _command_parser(command: str) -> CommandParser:
    parser = CommandParser(command, prog=f"dowse {command}", description=_description(COMMANDS[command][1]))
    _add_arguments(parser)
    return parser


def _unknown_command(command: str, arguments: Sequence[str]) -> str:
    from difflib import get_close_matches
    from shlex import join

    nearest = get_close_matches(command, [*COMMANDS, *_PLUGINS], 1)
    line = ["dowse", *nearest, *arguments[1:]] if nearest else ["dowse", "search", *arguments]
    return f"there is no command {command}; did you mean `{join(line)}`?"


def _description(summary: str) -> str:
    return summary[0].upper() + summary[1:] + "."


def _add_arguments(parser: CommandParser) -> None:
    if parser.command in _OWN_PARSER:
        return
    load_command(parser.command).add_arguments(parser)
    if parser.command in DAEMON_COMMANDS:
        parser.add_argument(
            NO_DAEMON, action="store_true", help="neither ask a resident process nor leave one"
        )
        parser.hide(NO_DAEMON)


def _complete() -> None:
    """Answer a shell's request for completions, with the flags of the command that is being typed."""
    import argcomplete

    words = os.environ.get("COMP_LINE", "").split()
    argcomplete.autocomplete(build_parser([command for command in COMMANDS if command in words]))


def _execute(options: argparse.Namespace) -> int:
    command = options.command
    if command in _OWN_PARSER:
        return int(load_command(command).main(options.arguments))
    if command in _HIDDEN:
        return int(import_module(f"dowse.interfaces.cli.{_HIDDEN[command]}").main(options.arguments))
    if command in COMMANDS:
        return int(load_command(command).run(options))
    plugin = _find_plugin(command)
    if plugin is None:
        raise DowseError(f"`dowse {command}` is not installed; run `pip install {_PLUGINS[command][0]}`")
    return int(plugin.load()(options.arguments))


def _find_plugin(command: str) -> EntryPoint | None:
    """Return the entry point of a command that another distribution brings."""
    from importlib.metadata import entry_points

    return next(iter(entry_points(group=_PLUGIN_GROUP, name=command)), None)


def _discard_output() -> None:
    """Send the rest of standard output to /dev/null."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _message(error: Exception) -> str:
    """Return an error in one line with its remedy; of a fault of ours the traceback comes before."""
    from dowse.damage import find_remedy
    from dowse.errors import QueryError

    if isinstance(error, (DowseError, QueryError)):
        return str(error)
    remedy = find_remedy(error)
    if isinstance(error, OSError):
        if _is_folder_gone():
            return "the current folder does not exist any more; change to another one"
        file = f"{os.fsdecode(error.filename)}: " if error.filename else ""
        remedy = remedy or "check the path and its permissions, or choose another folder with --index-dir"
        return f"{file}{error.strerror or error}; {remedy}"
    if not remedy:
        import traceback

        traceback.print_exception(error)
        remedy = "this is a fault of dowse: please report it with the lines above"
    text = "there is not enough memory" if isinstance(error, MemoryError) else first_line(error)
    return f"{text}; {remedy}"


def _is_folder_gone() -> bool:
    """Whether somebody has removed the current folder: then no path in it can be resolved."""
    try:
        Path.cwd()
    except OSError:
        return True
    return False


if __name__ == "__main__":
    sys.exit(main())
