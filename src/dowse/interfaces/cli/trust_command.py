"""`dowse trust`: allow a repository's `.dowse.toml` to set what names paths, hosts, models or limits."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from dowse.config import PROJECT_FILE, ProjectFile, read_project_file, trust_file
from dowse.errors import DowseError
from dowse.interfaces.cli.common import say
from dowse.interfaces.cli.main import ERROR, FOUND, NOTHING
from dowse.security.terminal import escape_name


def add_trust(parser: argparse.ArgumentParser) -> None:
    """Add the flags of the command."""
    parser.add_argument("path", nargs="?", default=".", help="repository or folder (default: .)")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--list", action="store_true", help="list the trusted files")
    form.add_argument("--revoke", action="store_true", help="trust this repository's file no longer")


def trust(options: argparse.Namespace) -> int:
    """Show what a project file asks for, and record the user's consent."""
    from dowse.security import trust as store  # not loaded by other commands

    if options.list:
        known = sorted(store.trusted_files(trust_file()))
        sys.stdout.writelines(f"{escape_name(str(path))}\n" for path in known)
        return FOUND if known else NOTHING
    root = Path(options.path).expanduser().resolve()
    if options.revoke:
        was_trusted = store.revoke(trust_file(), root / PROJECT_FILE)
        say(f"{root / PROJECT_FILE} {'is trusted no longer' if was_trusted else 'was not trusted'}")
        return FOUND if was_trusted else NOTHING
    found = read_project_file(root)
    if not found.ignored:
        say(found.note or f"nothing in {found.path} needs your trust")
        return ERROR if found.problem else FOUND
    if not _consents(found):
        say("nothing was changed")
        return NOTHING
    store.trust(trust_file(), found.path, found.content)
    say(f"trusted {found.path} as it is now; a change of it asks again")
    return FOUND


def _consents(found: ProjectFile) -> bool:
    """Show what would count from now on, and ask; without a terminal nobody can have looked."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise DowseError(
            "`dowse trust` asks on a terminal; run it there, or put the settings into your own configuration"
        )
    sys.stdout.write(
        f"{escape_name(str(found.path))} asks for settings that a repository may not choose by itself:\n"
    )
    for key in found.ignored:
        sys.stdout.write(f"  {key} = {escape_name(repr(found.declared[key]))}\n")
    sys.stdout.write("They can read and write other folders, reach other machines or load models.\n")
    return input("Allow them for this content of the file? [y/N] ").strip().lower() in ("y", "yes")
