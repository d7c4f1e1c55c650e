"""What is known of a tree between two walks: which folders are read, by which rules, and what is in them.

It judges single paths as a walk would, so that a change of one file costs a look at one file.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from dowse.errors import SourceError
from dowse.source.default_excludes import MARKER_FILES
from dowse.source.walk import (
    DOWSE_IGNORE,
    GIT_IGNORE,
    Folder,
    Layers,
    SkippedFile,
    WalkedFile,
    judge,
    outer_layers,
    walk_below,
)

# What stands for the rules of a whole folder: with these, a look at one file says nothing.
RULE_FILES = frozenset({GIT_IGNORE, DOWSE_IGNORE, ".git", *MARKER_FILES})

Entry = WalkedFile | SkippedFile


@dataclass(slots=True)
class ScanResult:
    """What was found in a part of a tree, or in the whole of it."""

    entries: list[Entry] = field(default_factory=list)
    # What was looked at, folders with all that is below them; None stands for the whole tree.
    paths: frozenset[str] | None = None
    # What is said to have changed: there, size and time alone prove nothing.
    suspects: frozenset[str] = frozenset()


class TreeScanner:
    """The folders of a tree that are worth reading."""

    def __init__(
        self,
        root: Path,
        exclude: Iterable[str] = (),
        max_file_bytes: int = 1_000_000,
        on_folder: Callable[[str], None] = lambda _: None,
        *,
        include_secrets: bool = False,
    ) -> None:
        self._top = os.path.realpath(root)
        self._exclude, self._max_bytes = tuple(exclude), max_file_bytes
        self._include_secrets = include_secrets
        self._on_folder = on_folder
        self.folders: dict[str, Layers] = {}  # "" for the root, else ending with "/"
        self._files: set[str] = set()

    def scan(self, suspects: Iterable[str] = ()) -> ScanResult:
        """Walk the whole tree; `on_folder` hears of each folder right before it is read."""
        if not Path(self._top).is_dir():
            raise SourceError(f"{self._top} is not a folder any more")
        self.folders, self._files = {}, set()
        layers = outer_layers(
            self._top, self._exclude, user_ignores=True, include_secrets=self._include_secrets
        )
        start = Folder("", layers, asked_for=True)
        return ScanResult(self._walk(start), suspects=frozenset(suspects))

    def look(self, paths: Iterable[str]) -> ScanResult | None:
        """Look at some files and folders again; None if that can't tell, and a scan has to."""
        by_folder: dict[str, set[str]] = defaultdict(set)
        for path in paths:
            folder, slash, name = path.rpartition("/")
            if name in RULE_FILES:
                return None
            by_folder[folder + slash].add(name)
        entries: list[Entry] = []
        looked: set[str] = set()
        walked: tuple[str, ...] = ()
        for folder, names in sorted(by_folder.items()):
            # One that is left out; gone, which the look at its parent tells; or walked with its parent.
            if folder not in self.folders or folder.startswith(walked):
                continue
            listing = self._listing(folder)
            for name in sorted(names):
                found = self._look(folder + name, listing.get(name))
                if found is not None:
                    looked.add(folder + name)
                    entries += found
                if f"{folder}{name}/" in self.folders:
                    walked = (*walked, f"{folder}{name}/")
        return ScanResult(entries, frozenset(looked), frozenset(entry.path for entry in entries))

    def _look(self, path: str, entry: os.DirEntry[str] | None) -> list[Entry] | None:
        """Return what is at a path now; None if neither that nor what was there before matters."""
        was_known = path in self._files or path + "/" in self.folders
        if path + "/" in self.folders:
            self._forget(path + "/")
        self._files.discard(path)
        if entry is None:
            return [] if was_known else None
        found = judge(entry, path, self.folders[_folder_of(path)], True, self._max_bytes)
        if isinstance(found, Folder):
            return self._walk(found)
        if isinstance(found, WalkedFile):
            self._files.add(path)
        elif not was_known and _never_wanted(found):
            return None
        return [found]

    def _walk(self, start: Folder) -> list[Entry]:
        found = list(walk_below(self._top, start, True, self._max_bytes, self._on_folder, self.folders))
        self._files.update(entry.path for entry in found if isinstance(entry, WalkedFile))
        return found

    def _listing(self, folder: str) -> dict[str, os.DirEntry[str]]:
        try:
            with os.scandir(os.path.join(self._top, folder)) as listing:
                return {entry.name: entry for entry in listing}
        except OSError:
            return {}

    def _forget(self, folder: str) -> None:
        for known in [known for known in self.folders if known.startswith(folder)]:
            del self.folders[known]
        self._files = {path for path in self._files if not path.startswith(folder)}


def _folder_of(path: str) -> str:
    folder, slash, _ = path.rpartition("/")
    return folder + slash


def _never_wanted(skipped: SkippedFile) -> bool:
    """Whether rules or names leave a file out: then it does not matter what becomes of it."""
    return not skipped.reason.startswith(("larger", "unreadable", "symlink", "not a regular"))
