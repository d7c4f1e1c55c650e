"""`dowse install`: add dowse to the configuration of coding agents, or remove it."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dowse.errors import DowseError
from dowse.interfaces.cli.command import EXIT_ERROR, EXIT_FOUND, EXIT_NOTHING, CommandParser
from dowse.interfaces.cli.printing import print_error, print_json, print_line, print_message

if TYPE_CHECKING:
    from dowse.install.clients import Client
    from dowse.install.plan import Change, Target


def add_arguments(parser: CommandParser) -> None:
    """Add the flags of `dowse install`."""
    clients = parser.add_argument(
        "clients", nargs="*", metavar="CLIENT", help="claude, codex, cursor, …: see --list"
    )
    clients.completer = _client_names  # type: ignore[attr-defined]
    parser.add_argument(
        "--list", action="store_true", help="list the clients, their files and whether dowse is in them"
    )
    parser.add_argument("--print", action="store_true", help="print what would change, or what to paste")
    parser.add_argument("--uninstall", action="store_true", help="remove the entry")
    parser.add_argument(
        "--project",
        nargs="?",
        const=".",
        metavar="DIR",
        help="write the shared file of a project instead of the user's (default: .)",
    )
    parser.add_argument(
        "--agents-md",
        nargs="?",
        const="AGENTS.md",
        metavar="FILE",
        help="add a short section about dowse to an instruction file (default: AGENTS.md)",
    )
    parser.add_argument("--name", default="dowse", help="name of the entry (default: dowse)")
    parser.add_argument(
        "--command", dest="start", metavar="COMMAND", help="e.g. 'uvx dowse' (default: this one)"
    )
    parser.add_argument(
        "--path",
        action="append",
        dest="repositories",
        metavar="DIR",
        help="repository to serve if the client names none; may be repeated",
    )
    parser.add_argument(
        "--watch", action="store_true", help="let the server update its indexes while files change"
    )
    parser.add_argument("--json", action="store_true", help="with --list: as JSON")


def _client_names(**_: object) -> list[str]:
    """Return the completions of a client's name."""
    from dowse.install.clients import CLIENTS

    return list(CLIENTS)


def run(options: argparse.Namespace) -> int:
    """Write the entries of the named clients; one that fails does not stop the others."""
    if options.list:
        return _list(options)
    if not options.clients and options.agents_md is None:
        if options.print:
            return _print(options)
        raise DowseError("name a client, e.g. `dowse install claude`; `dowse install --list` lists them")
    failed = changed = False
    for name in _names(options):
        try:
            changed |= _install(name, options)
        except DowseError as error:
            failed = True
            print_error(error)
        except OSError as error:
            failed = True
            path = os.fsdecode(error.filename or "")
            print_message(f"{path}: {error.strerror}; check the path and its permissions")
    nothing = options.uninstall and not changed
    return EXIT_ERROR if failed else EXIT_NOTHING if nothing else EXIT_FOUND


def _names(options: argparse.Namespace) -> Iterator[str]:
    """Yield the names of clients, all known, and "" for the instruction file."""
    from dowse.install.clients import CLIENTS

    unknown = [name for name in options.clients if name not in CLIENTS]
    if unknown:
        raise DowseError(
            f"there is no client `{unknown[0]}`; there are {', '.join(CLIENTS)}; "
            "`dowse install --print` prints what to paste into another"
        )
    if options.agents_md in CLIENTS:
        raise DowseError(f"`{options.agents_md}` is a client; write it before --agents-md")
    yield from dict.fromkeys(options.clients)
    if options.agents_md is not None:
        yield ""


def _install(name: str, options: argparse.Namespace) -> bool:
    """Add or remove one entry; return whether it was changed."""
    from dowse.install.plan import apply, plan_add, plan_remove

    target, entry = _target_and_entry(name, options)
    change = plan_remove(target) if options.uninstall else plan_add(target, entry)
    if options.print:
        _print_difference(change)
    else:
        print_line(_summary(change, options, None if change.is_none else apply(change)))
    return not change.is_none


def _print_difference(change: Change) -> None:
    """Print a change as `diff -u` shows it."""
    from difflib import unified_diff

    old, new = ((content or b"").decode().splitlines() for content in (change.before, change.after))
    path = _short(change.target.path)
    for line in unified_diff(old, new, path, path, lineterm=""):
        print_line(line)


def _target_and_entry(name: str, options: argparse.Namespace) -> tuple[Target, dict[str, Any]]:
    """Return the file and key of an entry, and its values."""
    from dowse.install.clients import CLIENTS
    from dowse.install.plan import client_target, section_target

    if not name:
        return section_target(Path(options.agents_md).expanduser()), {}
    project = _project(options)
    command = _server_command(options, shared=project is not None)
    return client_target(CLIENTS[name], project, options.name), CLIENTS[name].entry(command)


def _server_command(options: argparse.Namespace, *, shared: bool) -> list[str]:
    """Return the command that starts the server, by the flags."""
    from dowse.install.clients import server_command

    start, repositories = options.start or "", options.repositories or ()
    return server_command(command=start, repositories=repositories, watch=options.watch, shared=shared)


def _project(options: argparse.Namespace) -> Path | None:
    """Return the project whose file is written, if any."""
    if options.project is None:
        return None
    project = Path(options.project).expanduser()
    if not project.is_dir():
        raise DowseError(f"{project} is no folder; --project takes the root of a project")
    return project


def _summary(change: Change, options: argparse.Namespace, backup: Path | None) -> str:
    """Return what was changed, on one line."""
    target = change.target
    entry = f'{target.title}: "{target.keys[-1]}"'
    if change.is_none:
        return f"{entry} {'is not' if options.uninstall else 'is already'} in {_short(target.path)}"
    kept = f" (backup: {_short(backup)})" if backup else ""
    if change.after is None:
        return f"{entry} removed, and {_short(target.path)} with it{kept}"
    done = "removed from" if options.uninstall else "written to"
    return f"{entry} {done} {_short(target.path)}{kept}"


def _print(options: argparse.Namespace) -> int:
    """Print an entry in the form that most clients have."""
    command, *arguments = _server_command(options, shared=options.project is not None)
    print_json({"mcpServers": {options.name: {"command": command, "args": arguments}}})
    return EXIT_FOUND


def _list(options: argparse.Namespace) -> int:
    from dowse.install.clients import CLIENTS

    project = Path(options.project or ".").expanduser()
    rows = [row for client in CLIENTS.values() for row in _states(client, project, options.name)]
    if options.json:
        print_json(rows)
        return EXIT_FOUND
    width = max(len(row["client"]) for row in rows)
    for row in rows:
        row["file"] = _short(Path(row["file"]))
        print_line("{client:<{width}}  {scope:<7}  {state:<13}  {file}".format(width=width, **row))
    return EXIT_FOUND


def _states(client: Client, project: Path, name: str) -> Iterator[dict[str, str]]:
    """Yield both files of a client, and whether dowse is in them."""
    from dowse.install.plan import client_target, current_entry

    for scope, folder in (("user", None), ("project", project)):
        path = client.file(folder)
        if path is None:
            continue
        try:
            is_there = path.exists() and current_entry(client_target(client, folder, name)) is not None
            state = "installed" if is_there else "not installed" if path.exists() else "no file"
        except (DowseError, OSError):
            state = "damaged"
        fields = {"client": client.name, "title": client.title, "scope": scope, "state": state}
        yield {**fields, "file": str(path)}


def _short(path: Path) -> str:
    """Return a path with `~` for the home folder."""
    home = Path.home()
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)
