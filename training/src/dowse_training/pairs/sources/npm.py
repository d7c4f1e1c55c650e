"""JavaScript and TypeScript packages from an npm registry."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from dowse_training.pairs.model import Package
from dowse_training.pairs.sources.archives import project_folder, unpack
from dowse_training.pairs.sources.protocol import FetchError
from dowse_training.pairs.sources.web import read_json, read_url

REGISTRY_URL = "https://registry.npmjs.org"


@dataclass(frozen=True, slots=True)
class Npm:
    """A registry of npm packages."""

    registry_url: str = REGISTRY_URL
    max_bytes: int = 8 << 20
    registry: str = "npm"

    def fetch(self, name: str, scratch: Path) -> Package:
        """Lay out the release that is tagged as the latest."""
        release = read_json(f"{self.registry_url.rstrip('/')}/{quote(name, safe='@')}/latest")
        try:
            version, url = str(release["version"]), str(release["dist"]["tarball"])
        except (KeyError, TypeError) as error:
            raise FetchError("no source to download") from error
        unpack(read_url(url, self.max_bytes), scratch)
        stated = release.get("license")
        licence = stated.get("type", "") if isinstance(stated, dict) else stated
        return Package(self.registry, name, version, str(licence or ""), project_folder(scratch))
