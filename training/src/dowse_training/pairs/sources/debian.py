"""Packages of a Debian system, which are plain source for most languages that are not compiled."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from dowse_training.pairs.model import Package
from dowse_training.pairs.sources.protocol import FetchError

_LICENCE = re.compile(r"^License: *(\S.*)$", re.MULTILINE)
_TIMEOUT_SECONDS = 300


@dataclass(frozen=True, slots=True)
class Debian:
    """The package lists this system's apt knows; needs apt-get and dpkg-deb."""

    registry: str = "debian"

    def fetch(self, name: str, scratch: Path) -> Package:
        """Download a binary package with apt and lay its files out, without installing anything."""
        if not re.fullmatch(r"[a-z0-9][a-z0-9+.-]+", name):
            raise FetchError("not a package name")
        _run(["apt-get", "download", "-qq", name], scratch)
        archives = list(scratch.glob("*.deb"))
        if not archives:
            raise FetchError("not found")
        folder = scratch / "files"
        _run(["dpkg-deb", "-x", str(archives[0]), str(folder)], scratch)
        version = _run(["dpkg-deb", "-f", str(archives[0]), "Version"], scratch).strip()
        return Package(self.registry, name, version, _licence(folder, name), folder)


def _run(command: list[str], folder: Path) -> str:
    """What a command prints; its failure is that of the package."""
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=_TIMEOUT_SECONDS, check=True
        )
    except FileNotFoundError as error:
        raise FetchError(f"{command[0]} is not installed") from error
    except subprocess.TimeoutExpired as error:
        raise FetchError(f"{command[0]} took too long") from error
    except subprocess.CalledProcessError as error:
        raise FetchError(f"{command[0]} failed") from error
    return done.stdout


def _licence(folder: Path, name: str) -> str:
    """The licences that the machine-readable copyright file names."""
    path = folder / "usr/share/doc" / name / "copyright"
    if not path.is_file():
        return ""
    stated = _LICENCE.findall(path.read_text("utf-8", "replace"))
    return ", ".join(dict.fromkeys(licence.strip() for licence in stated))[:100]
