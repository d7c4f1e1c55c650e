"""Rust packages from a crates index (the sparse protocol of cargo)."""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass
from pathlib import Path

from dowse_training.pairs.model import Package
from dowse_training.pairs.sources.archives import project_folder, unpack
from dowse_training.pairs.sources.protocol import FetchError
from dowse_training.pairs.sources.web import read_url

INDEX_URL = "https://index.crates.io"
DOWNLOAD_URL = "https://static.crates.io/crates"


@dataclass(frozen=True, slots=True)
class Crates:
    """An index of crates and the place they are downloaded from."""

    index_url: str = INDEX_URL
    download_url: str = DOWNLOAD_URL
    max_bytes: int = 8 << 20
    registry: str = "crates"

    def fetch(self, name: str, scratch: Path) -> Package:
        """Lay out the release that was published last and not withdrawn."""
        lines = read_url(f"{self.index_url.rstrip('/')}/{index_path(name)}").decode("utf-8", "replace")
        version = newest_version(lines)
        url = f"{self.download_url.rstrip('/')}/{name}/{name}-{version}.crate"
        unpack(read_url(url, self.max_bytes), scratch)
        folder = project_folder(scratch)
        return Package(self.registry, name, version, _licence(folder), folder)


def index_path(name: str) -> str:
    """Where the index keeps a crate: under the first letters of its name."""
    name = name.lower()
    if len(name) <= 2:
        return f"{len(name)}/{name}"
    return f"3/{name[0]}/{name}" if len(name) == 3 else f"{name[:2]}/{name[2:4]}/{name}"


def newest_version(lines: str) -> str:
    """The version of the last line that is neither withdrawn nor a pre-release."""
    try:
        releases = [json.loads(line) for line in lines.splitlines() if line.strip()]
        offered = [release["vers"] for release in releases if not release.get("yanked")]
    except (ValueError, KeyError, AttributeError, TypeError) as error:
        raise FetchError("answer is not an index entry") from error
    if not offered:
        raise FetchError("no source to download")
    final = [version for version in offered if "-" not in version]
    return str((final or offered)[-1])


def _licence(folder: Path) -> str:
    """What Cargo.toml states."""
    try:
        package = tomllib.loads((folder / "Cargo.toml").read_text("utf-8", "replace")).get("package", {})
    except (OSError, tomllib.TOMLDecodeError):
        return ""
    return str(package.get("license", "")) if isinstance(package, dict) else ""
