"""Git addresses in the place of a PATH: the copy in the cache folder, cloned on first use."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from dowse.errors import DowseError
from dowse.formats.text import format_age
from dowse.interfaces.cli.printing import print_message
from dowse.source.git_address import GitAddress, is_address, parse_git_address

if TYPE_CHECKING:
    from dowse.source.clones import Clone


def local_path(word: str, *, fresh: bool = False, history: bool = False) -> str:
    """Return a path as it is; of a git address, the folder of its copy.

    Args:
        word: A path or an address, from the user alone: it decides which machine is connected to.
        fresh: Whether to fetch what is new; else a copy stays as it is, and a message says how old it is.
        history: Whether all commits are needed.
    """
    if not is_address(word):
        return word
    from dowse.source.clones import fetch_clone, find_clone, has_history

    address = parse_git_address(word)
    clone = find_clone(address)
    if clone is None:
        print_message(f"cloning {address.shown}")
    elif not fresh and (not history or has_history(clone)):
        print_message(f"{_describe(clone)}; --fresh fetches it again")
        return str(clone.root)
    try:
        started = time.monotonic()
        clone = fetch_clone(address, history=history, may_ask=sys.stdin.isatty(), on_wait=print_message)
        print_message(f"{_describe(clone)} in {time.monotonic() - started:.1f} s")
    except DowseError as error:
        if clone is None or (history and not has_history(clone)):
            raise
        print_message(f"{error}; using what there is: {_describe(clone)}")
    return str(clone.root)


def address_of(word: str) -> GitAddress | None:
    """Return the address that a word is, None for a path."""
    return parse_git_address(word) if is_address(word) else None


def _describe(clone: Clone) -> str:
    return f"{clone.address} at {clone.commit[:12]}, fetched {format_age(clone.fetched_at)}"
