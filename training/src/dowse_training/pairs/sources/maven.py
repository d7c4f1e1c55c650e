"""Java (and Kotlin, Scala) libraries from a Maven repository: the jars that hold their source."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from dowse_training.pairs.model import Package
from dowse_training.pairs.sources.archives import project_folder, unpack
from dowse_training.pairs.sources.protocol import FetchError
from dowse_training.pairs.sources.web import read_url

REPOSITORY_URL = "https://repo1.maven.org/maven2"

# Two fields of two documents; an XML parser would be one more thing that hostile input can trip.
_RELEASE = re.compile(r"<release>\s*([\w.+-]+)\s*</release>")
_VERSION = re.compile(r"<version>\s*([\w.+-]+)\s*</version>")
_LICENCE = re.compile(r"<license>\s*(?:<(?!name)[^>]*>[^<]*</[^>]*>\s*)*<name>\s*([^<]{1,100}?)\s*</name>")


@dataclass(frozen=True, slots=True)
class Maven:
    """A repository of jars; packages are named `group:artifact` or `group:artifact:version`."""

    repository_url: str = REPOSITORY_URL
    max_bytes: int = 8 << 20
    registry: str = "maven"

    def fetch(self, name: str, scratch: Path) -> Package:
        """Lay out the source jar of the given version, or of the latest release."""
        group, _, rest = name.partition(":")
        artifact, _, version = rest.partition(":")
        if not artifact:
            raise FetchError("name is not group:artifact")
        base = f"{self.repository_url.rstrip('/')}/{group.replace('.', '/')}/{artifact}"
        version = version or _latest(base)
        stem = f"{base}/{version}/{artifact}-{version}"
        unpack(read_url(f"{stem}-sources.jar", self.max_bytes), scratch)
        return Package(
            self.registry, f"{group}:{artifact}", version, _licence(f"{stem}.pom"), project_folder(scratch)
        )


def _latest(base: str) -> str:
    """The version that the repository calls the release."""
    metadata = read_url(f"{base}/maven-metadata.xml").decode("utf-8", "replace")
    found = _RELEASE.search(metadata)
    versions = [found[1]] if found else _VERSION.findall(metadata)
    if not versions:
        raise FetchError("no source to download")
    return str(versions[-1])


def _licence(url: str) -> str:
    """The first licence that the project description names; parents are not asked."""
    try:
        stated = _LICENCE.search(read_url(url).decode("utf-8", "replace"))
    except FetchError:
        return ""
    return stated[1] if stated else ""
