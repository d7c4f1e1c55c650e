"""Incremental scans of a tree: single paths are classified as a walk would, with the rules of the last walk.

So a change of one file costs a look at one file.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path

from dowse.errors import SourceError
from dowse.lazy_classes import dataclass, field
from dowse.security.safe_files import open_folder_below
from dowse.source.default_excludes import MARKER_FILES
from dowse.source.walk import (
    DOWSE_IGNORE,
    GIT_IGNORE,
    Folder,
    IgnoreLayers,
    SkippedFile,
    WalkedFile,
    classify_entry,
    root_layers,
    walk_below,
)

# Files that change the rules of a whole folder: after a change of one, a look at one file is not enough.
RULE_FILES = frozenset({GIT_IGNORE, DOWSE_IGNORE, ".git", *MARKER_FILES})

Entry = WalkedFile | SkippedFile


@dataclass(slots=True)
class ScanResult:
    """The entries of a tree, or of a part of it."""

    entries: list[Entry] = field(default_factory=list)
    # The scanned paths, folders with all that is below them; None stands for the whole tree.
    paths: frozenset[str] | None = None
    # Paths with reported changes: for these, equal size and time do not prove equal content.
    changed: frozenset[str] = frozenset()


class TreeScanner:
    """The folders of a tree that are indexed, with their rules and files, from one scan to the next."""

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
        self.folders: dict[str, IgnoreLayers] = {}  # "" for the root, else ending with "/"
        self._files: set[str] = set()

    def scan(self, changed: Iterable[str] = ()) -> ScanResult:
        """Walk the whole tree; `on_folder` is called with each folder right before it is read."""
        if not Path(self._top).is_dir():
            raise SourceError(f"{self._top} is not a folder any more")
        self.folders, self._files = {}, set()
        layers = root_layers(
            self._top, self._exclude, user_ignores=True, include_secrets=self._include_secrets
        )
        start = Folder("", layers, is_requested=True)
        return ScanResult(self._walk(start), changed=frozenset(changed))

    def rescan(self, paths: Iterable[str]) -> ScanResult | None:
        """Classify some files and folders again; None if only a scan of the whole tree can tell."""
        by_folder: dict[str, set[str]] = defaultdict(set)
        for path in paths:
            folder, slash, name = path.rpartition("/")
            if name in RULE_FILES:
                return None
            by_folder[folder + slash].add(name)
        entries: list[Entry] = []
        scanned: set[str] = set()
        walked: tuple[str, ...] = ()
        for folder, names in sorted(by_folder.items()):
            # Skip a folder that is excluded, deleted (its parent tells), or walked with its parent.
            if folder not in self.folders or folder.startswith(walked):
                continue
            for name, verdict in self._classify(folder, sorted(names)):
                current = self._rescan_entry(folder, name, verdict)
                if current is not None:
                    scanned.add(folder + name)
                    entries += current
                if f"{folder}{name}/" in self.folders:
                    walked = (*walked, f"{folder}{name}/")
        return ScanResult(entries, frozenset(scanned), frozenset(entry.path for entry in entries))

    def _rescan_entry(self, folder: str, name: str, verdict: Entry | Folder | None) -> list[Entry] | None:
        """Return what is at a path now; None if neither that nor what was there before is indexed."""
        path = folder + name
        was_known = path in self._files or path + "/" in self.folders
        if path + "/" in self.folders:
            self._forget(path + "/")
        self._files.discard(path)
        if verdict is None:
            return [] if was_known else None
        if isinstance(verdict, Folder):
            return self._walk(verdict)
        if isinstance(verdict, WalkedFile):
            self._files.add(path)
        elif not was_known and not verdict.by_state:
            return None
        return [verdict]

    def _walk(self, start: Folder) -> list[Entry]:
        entries = list(walk_below(self._top, start, self._max_bytes, self._on_folder, self.folders))
        self._files.update(entry.path for entry in entries if isinstance(entry, WalkedFile))
        return entries

    def _classify(self, folder: str, names: Iterable[str]) -> list[tuple[str, Entry | Folder | None]]:
        """Decide about some names in a folder; None stands for one that is not there any more."""
        layers = self.folders[folder]
        try:
            with open_folder_below(self._top, folder.split("/")[:-1]) as opened:
                entries = opened.list_entries()
                return [
                    (name, classify_entry(opened, entry, folder + name, layers, self._max_bytes))
                    if (entry := entries.get(name))
                    else (name, None)
                    for name in names
                ]
        except OSError:
            return [(name, None) for name in names]

    def _forget(self, folder: str) -> None:
        for known in [known for known in self.folders if known.startswith(folder)]:
            del self.folders[known]
        self._files = {path for path in self._files if not path.startswith(folder)}
