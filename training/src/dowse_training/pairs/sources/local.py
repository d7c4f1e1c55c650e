"""Repositories and folders on this machine."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from dowse.source.git import head_commit, repo_identity
from dowse_training.pairs.model import Package
from dowse_training.pairs.sources.protocol import FetchError

_LICENCE_FILES = ("LICENSE*", "LICENCE*", "COPYING*")


@dataclass(frozen=True, slots=True)
class Local:
    """Folders, read where they lie; the name of the package is that of the repository or folder."""

    registry: str = "local"

    def fetch(self, name: str, scratch: Path) -> Package:
        """Point at a folder; nothing is copied."""
        folder = Path(name).expanduser().resolve()
        if not folder.is_dir():
            raise FetchError("no such folder")
        return Package(self.registry, repo_identity(folder), head_commit(folder), _licence(folder), folder)


def _licence(folder: Path) -> str:
    """The first line of a licence file, which most often is its name."""
    for pattern in _LICENCE_FILES:
        for path in sorted(folder.glob(pattern)):
            if path.is_file():
                lines = path.read_text("utf-8", "replace").split("\n")
                return next((line.strip()[:100] for line in lines if line.strip()), "")
    return ""
