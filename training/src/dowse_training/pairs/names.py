"""By which names a package may be known: its own, and those of the folders its source lies in."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from dowse_training.pairs.model import Package

# Folders that only carry projects: what lies in them is looked at instead.
_CARRIERS = frozenset(
    """usr lib lib64 share src source sources python python3 dist-packages site-packages include gocode cargo
    registry nodejs javascript php ruby vendor_ruby perl5 java main packages pkg crates libs modules
    github.com gitlab.com gopkg.in golang.org com org net io""".split()
)

_HOSTS = frozenset({"github.com", "gitlab.com"})

# Deep enough for usr/share/gocode/src/github.com/owner/name.
_MAX_DEPTH = 7


def known_names(package: Package) -> set[str]:
    """The package's name, and the names of the top-level folders of its source."""
    return {package.name, package.folder.name, *_top_folders(package.folder)}


def _top_folders(folder: Path) -> Iterator[str]:
    """The folders right inside, and below those that carry others the one that is the project's own."""
    for path in _folders(folder):
        yield path.name
        if path.name.lower() in _CARRIERS:
            yield from _carried(path, _MAX_DEPTH)


def _carried(folder: Path, depth: int) -> Iterator[str]:
    """The lone folder in a carrier (`src/thing`); of several (`src/gui`, `src/util`) none is the project."""
    inside = _folders(folder)
    for path in inside:
        if len(inside) == 1:
            yield path.name
        hosted = folder.name in _HOSTS
        if depth and (hosted or path.name.lower() in _CARRIERS):
            yield from _carried(path, depth - 1)


def _folders(folder: Path) -> list[Path]:
    """The folders right inside, but for those that hold a package's metadata."""
    found = (path for path in folder.iterdir() if path.is_dir() and not path.is_symlink())
    return [path for path in found if not path.name.endswith((".egg-info", ".dist-info"))]
