"""`dowse install`: tell coding agents about dowse, and take it back."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dowse.errors import DowseError
from dowse.security.terminal import escape_name

if TYPE_CHECKING:
    from dowse.install.clients import Client
    from dowse.install.plan import Change, Target


def add_install(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    clients = parser.add_argument(
        "clients", nargs="*", metavar="CLIENT", help="claude, codex, cursor, …: see --list"
    )
    clients.completer = _names  # type: ignore[attr-defined]
    parser.add_argument(
        "--list", action="store_true", help="list the clients, their files and what is in them"
    )
    parser.add_argument("--dry-run", action="store_true", help="show what would change, and change nothing")
    parser.add_argument("--uninstall", action="store_true", help="take the entry out again")
    parser.add_argument(
        "--project",
        nargs="?",
        const=".",
        metavar="DIR",
        help="write the file of a project, for all who work on it, not the user's (default: .)",
    )
    parser.add_argument(
        "--agents-md",
        nargs="?",
        const="AGENTS.md",
        metavar="FILE",
        help="put a short section about dowse into a file of instructions (default: AGENTS.md)",
    )
    parser.add_argument("--name", default="dowse", help="what the entry is called (default: dowse)")
    parser.add_argument(
        "--command", dest="start", metavar="COMMAND", help="e.g. 'uvx dowse' (default: this one)"
    )
    parser.add_argument(
        "--path",
        action="append",
        dest="repositories",
        metavar="DIR",
        help="repository to answer for, where the client names none; may be repeated",
    )
    parser.add_argument("--watch", action="store_true", help="let the server keep its indexes true")
    parser.add_argument("--json", action="store_true", help="with --list: as JSON")


def _names(**_: object) -> list[str]:
    """Return what a shell may complete a client to."""
    from dowse.install.clients import CLIENTS

    return list(CLIENTS)


def install(options: argparse.Namespace) -> int:
    """Write the entries that were asked for; one that fails does not keep the others."""
    from dowse.interfaces.cli.common import say, say_error
    from dowse.interfaces.cli.main import ERROR, FOUND, NOTHING

    if options.list:
        return _list(options)
    if not options.clients and options.agents_md is None:
        raise DowseError("name a client, e.g. `dowse install claude`; `dowse install --list` lists them")
    failed = changed = False
    for name in _chosen(options):
        try:
            changed |= _install(name, options)
        except DowseError as error:
            failed = True
            say_error(error)
        except OSError as error:
            failed = True
            place = os.fsdecode(error.filename or "")
            say(f"{place}: {error.strerror}; check the place and its permissions")
    if failed:
        return ERROR
    return NOTHING if options.uninstall and not changed else FOUND


def _chosen(options: argparse.Namespace) -> Iterator[str]:
    """Give the names of clients, all known, and "" for the file of instructions."""
    from dowse.install.clients import CLIENTS

    unknown = [name for name in options.clients if name not in CLIENTS]
    if unknown:
        raise DowseError(f"there is no client `{unknown[0]}`; there are {', '.join(CLIENTS)}")
    if options.agents_md in CLIENTS:
        raise DowseError(f"`{options.agents_md}` is a client; write it before --agents-md")
    yield from dict.fromkeys(options.clients)
    if options.agents_md is not None:
        yield ""


def _install(name: str, options: argparse.Namespace) -> bool:
    """Add or remove one entry; return whether it was, or would be, changed."""
    from dowse.install.plan import add, plan_add, plan_remove, remove

    target, entry = _wanted(name, options)
    change = plan_remove(target) if options.uninstall else plan_add(target, entry)
    if options.dry_run:
        from dowse.install.diff import unified

        text = unified(change) if not change.is_none else _sentence(change, options, None)
        sys.stdout.write(text)  # a patch stays exact; on a terminal `protect_terminals` filters it
    elif change.is_none:
        sys.stdout.write(_sentence(change, options, None))
    else:
        backup = remove(change) if options.uninstall else add(change)
        sys.stdout.write(_sentence(change, options, backup))
    return not change.is_none


def _wanted(name: str, options: argparse.Namespace) -> tuple[Target, dict[str, Any]]:
    """Return an entry's place, and what it must say."""
    from dowse.install.clients import CLIENTS
    from dowse.install.command import server_command
    from dowse.install.plan import client_target, section_target

    if not name:
        return section_target(Path(options.agents_md).expanduser()), {}
    client = CLIENTS[name]
    project = _project(client, options)
    command = server_command(
        command=options.start or "",
        repositories=options.repositories or (),
        watch=options.watch,
        shared=project is not None,
    )
    return client_target(client, project, options.name), client.entry(command)


def _project(client: Client, options: argparse.Namespace) -> Path | None:
    """Return the project that is meant, if one is; some clients have no other file."""
    if options.project is None:
        return None if client.user() else Path()
    project = Path(options.project).expanduser()
    if not project.is_dir():
        raise DowseError(f"{project} is no folder; --project takes the root of a project")
    return project


def _sentence(change: Change, options: argparse.Namespace, backup: Path | None) -> str:
    """Say what was done, on one line."""
    return escape_name(_unescaped_sentence(change, options, backup)) + "\n"


def _unescaped_sentence(change: Change, options: argparse.Namespace, backup: Path | None) -> str:
    target = change.target
    where = f'{target.title}: "{target.keys[-1]}"'
    if change.is_none:
        return f"{where} {'is not' if options.uninstall else 'is already'} in {_short(target.path)}"
    kept = f" (backup: {_short(backup)})" if backup else ""
    if change.after is None:
        return f"{where} removed, and {_short(target.path)} with it{kept}"
    done = "removed from" if options.uninstall else "written to"
    return f"{where} {done} {_short(target.path)}{kept}"


def _list(options: argparse.Namespace) -> int:
    from dowse.formats.text import print_json
    from dowse.install.clients import CLIENTS
    from dowse.interfaces.cli.main import FOUND

    project = Path(options.project or ".").expanduser()
    rows = [row for client in CLIENTS.values() for row in _states(client, project, options.name)]
    if options.json:
        print_json(rows)
        return FOUND
    width = max(len(row["client"]) for row in rows)
    for row in rows:
        head = f"{row['client']:<{width}}  {row['scope']:<7}  {row['state']:<13}"
        sys.stdout.write(escape_name(f"{head}  {_short(Path(row['file']))}") + "\n")
    return FOUND


def _states(client: Client, project: Path, name: str) -> Iterator[dict[str, str]]:
    """Give both files of a client, and whether dowse is in them."""
    for scope, place in (("user", None), ("project", project)):
        path = client.file(place)
        if path is not None:
            state = _state(client, place, name) if path.exists() else "no file"
            yield {
                "client": client.name,
                "title": client.title,
                "scope": scope,
                "state": state,
                "file": str(path),
            }


def _state(client: Client, place: Path | None, name: str) -> str:
    from dowse.install.plan import client_target, current

    try:
        return "not installed" if current(client_target(client, place, name)) is None else "installed"
    except (DowseError, OSError):
        return "damaged"


def _short(path: Path) -> str:
    """Return a path as people write it."""
    home = Path.home()
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)
