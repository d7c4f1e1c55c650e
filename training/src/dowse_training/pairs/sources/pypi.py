"""Python packages from an index with the simple API (PEP 503)."""

from __future__ import annotations

import html
import random
import re
from dataclasses import dataclass
from pathlib import Path

from dowse_training.pairs.model import Package
from dowse_training.pairs.sources.archives import project_folder, unpack
from dowse_training.pairs.sources.protocol import FetchError
from dowse_training.pairs.sources.web import read_url

INDEX_URL = "https://pypi.org/simple"

# The list of all projects, in bytes.
_MAX_ROOT_BYTES = 256 << 20

_LINK = re.compile(r'<a\b[^>]*?href="([^"#]+)[^"]*"([^>]*)>\s*([^<]+?)\s*</a>', re.IGNORECASE)
_PROJECT = re.compile(r'<a\b[^>]*?href="[^"]*?([^"/]+)/"', re.IGNORECASE)
_SDIST = (".tar.gz", ".tgz", ".zip", ".tar.bz2", ".tar.xz")
_PURE_WHEEL = "-none-any.whl"
_VERSION = re.compile(r"-(\d[^-]*?)(?:-[^-]+-[^-]+-any\.whl|\.tar\.gz|\.tgz|\.zip|\.tar\.bz2|\.tar\.xz)\Z")
_FINAL = re.compile(r"v?\d+(?:\.\d+)*(?:\.?post\d+)?\Z")
_LICENCE = re.compile(r"^License(?:-Expression)?: *(?!UNKNOWN$)(\S.*)$", re.MULTILINE)
_LICENCE_CLASSIFIER = re.compile(r"^Classifier: License ::(?:.*::)? *(.+)$", re.MULTILINE)

# Some put the whole text into the field.
_MAX_LICENCE = 100


@dataclass(frozen=True, slots=True)
class PyPI:
    """An index of Python packages."""

    index_url: str = INDEX_URL
    max_bytes: int = 8 << 20
    min_releases: int = 1
    registry: str = "pypi"

    def fetch(self, name: str, scratch: Path) -> Package:
        """Lay out the newest release: its pure wheel, which holds no tests, else its source."""
        page = read_url(f"{self.index_url.rstrip('/')}/{normal_name(name)}/").decode("utf-8", "replace")
        version, url = choose_file(page, self.min_releases)
        unpack(read_url(html.unescape(url), self.max_bytes), scratch)
        folder = project_folder(scratch)
        return Package(self.registry, name, version, _licence(folder), folder)

    def sample(self, count: int, seed: int) -> list[str]:
        """A random choice of all projects in the index."""
        root = read_url(self.index_url.rstrip("/") + "/", _MAX_ROOT_BYTES).decode("utf-8", "replace")
        names = sorted(set(_PROJECT.findall(root)))
        return random.Random(seed).sample(names, min(count, len(names)))  # noqa: S311


def normal_name(name: str) -> str:
    """A project's name as indexes spell it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def choose_file(page: str, min_releases: int) -> tuple[str, str]:
    """The version and address of the best file on a project's page: final, newest, pure."""
    releases = _releases(page)
    if len(releases) < min_releases:
        raise FetchError("too few releases" if releases else "no source to download")
    final = [version for version in releases if _FINAL.match(version)]
    if not releases:
        raise FetchError("no source to download")
    version = max(final or releases, key=_version_key)
    return version, min(releases[version])[1]


def _releases(page: str) -> dict[str, list[tuple[int, str]]]:
    """The files of each version that hold source, pure wheels (0) before source archives (1)."""
    releases: dict[str, list[tuple[int, str]]] = {}
    for url, attributes, name in _LINK.findall(page):
        version = _VERSION.search(name)
        if version and "data-yanked" not in attributes and name.endswith((_PURE_WHEEL, *_SDIST)):
            rank = 0 if name.endswith(_PURE_WHEEL) else 1
            releases.setdefault(version[1], []).append((rank, url))
    return releases


def _version_key(version: str) -> list[int]:
    """Order enough to find the newest among final releases."""
    return [int(number) for number in re.findall(r"\d+", version)[:6]]


def _licence(folder: Path) -> str:
    """What the package's metadata states."""
    for path in [*sorted(folder.glob("*.dist-info/METADATA")), folder / "PKG-INFO"]:
        if path.is_file():
            metadata = path.read_text("utf-8", "replace")
            stated = _LICENCE.search(metadata) or _LICENCE_CLASSIFIER.search(metadata)
            return stated[1].strip()[:_MAX_LICENCE] if stated else ""
    return ""
