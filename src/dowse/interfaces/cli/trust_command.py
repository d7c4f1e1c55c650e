"""`dowse trust`: allow a repository's `.dowse.toml` to set paths, hosts, models or limits."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from dowse.config import PROJECT_FILE, ProjectFile, read_project_file, trust_file
from dowse.errors import DowseError
from dowse.interfaces.cli.command import EXIT_ERROR, EXIT_FOUND, EXIT_NOTHING, CommandParser
from dowse.interfaces.cli.printing import print_line, print_message


def add_arguments(parser: CommandParser) -> None:
    """Add the flags of `dowse trust`."""
    parser.add_argument(
        "path", nargs="?", default=".", help="repository, folder or workspace file (default: .)"
    )
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--list", action="store_true", help="list the trusted files")
    group.add_argument("--revoke", action="store_true", help="revoke the trust in this repository's file")


def run(options: argparse.Namespace) -> int:
    """Show the settings of a project file that need consent, and record the user's decision."""
    from dowse.security import trust as store  # not loaded by other commands

    if options.list:
        trusted = sorted(store.trusted_files(trust_file()))
        for path in trusted:
            print_line(str(path))
        return EXIT_FOUND if trusted else EXIT_NOTHING
    root = Path(options.path).expanduser().resolve()
    if root.is_file():
        return _trust_workspace(root, revoke=options.revoke)
    if options.revoke:
        was_trusted = store.revoke(trust_file(), root / PROJECT_FILE)
        print_message(f"{root / PROJECT_FILE} {'is trusted no longer' if was_trusted else 'was not trusted'}")
        return EXIT_FOUND if was_trusted else EXIT_NOTHING
    project_file = read_project_file(root)
    if not project_file.ignored:
        print_message(project_file.note or f"nothing in {project_file.path} needs your trust")
        return EXIT_ERROR if project_file.problem else EXIT_FOUND
    if not _consents(project_file):
        print_message("nothing was changed")
        return EXIT_NOTHING
    store.trust(trust_file(), project_file.path, project_file.content)
    print_message(f"trusted {project_file.path} as it is now; any change of it needs your consent again")
    return EXIT_FOUND


def _trust_workspace(path: Path, *, revoke: bool) -> int:
    """Let a workspace file of a repository name other folders and addresses, or no longer."""
    from dowse.security import trust as store
    from dowse.services.workspace import read_workspace

    if revoke:
        was_trusted = store.revoke(trust_file(), path)
        print_message(f"{path} {'is trusted no longer' if was_trusted else 'was not trusted'}")
        return EXIT_FOUND if was_trusted else EXIT_NOTHING
    workspace = read_workspace(path)
    if not workspace.untrusted:
        print_message(f"nothing in {path} needs your trust")
        return EXIT_FOUND
    _check_terminal()
    print_line(f"{path} names what is outside of its folder:")
    for entry in workspace.untrusted:
        print_line(f"  {entry}")
    print_line("A search with it would index those folders, and connect to those addresses.")
    if input("Allow that for this content of the file? [y/N] ").strip().lower() not in ("y", "yes"):
        print_message("nothing was changed")
        return EXIT_NOTHING
    store.trust(trust_file(), path, workspace.content)
    print_message(f"trusted {path} as it is now; any change of it needs your consent again")
    return EXIT_FOUND


def _check_terminal() -> None:
    """Refuse to ask where nobody can have read the question."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise DowseError(
            "`dowse trust` asks on a terminal; run it there, or put the settings into your own configuration"
        )


def _consents(project_file: ProjectFile) -> bool:
    """Show the settings and ask for consent."""
    _check_terminal()
    print_line(f"{project_file.path} asks for settings that a repository may not choose by itself:")
    for key in project_file.ignored:
        print_line(f"  {key} = {project_file.declared[key]!r}")
    print_line("They can read and write other folders, reach other machines or load models.")
    return input("Allow them for this content of the file? [y/N] ").strip().lower() in ("y", "yes")
