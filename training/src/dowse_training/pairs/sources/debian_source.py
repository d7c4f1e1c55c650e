"""Source packages of Debian: what binary packages of compiled languages are built from."""

from __future__ import annotations

import lzma
import re
import threading
from pathlib import Path
from typing import NamedTuple

from dowse_training.pairs.model import Package
from dowse_training.pairs.sources.archives import project_folder, unpack
from dowse_training.pairs.sources.protocol import FetchError
from dowse_training.pairs.sources.web import read_url

MIRROR_URL = "https://deb.debian.org/debian"
SUITE = "stable"

_MAX_INDEX_BYTES = 64 << 20

_FIELD = re.compile(r"^(Package|Version|Directory): *(.+)$", re.MULTILINE)
# Either as the authors published it, or of a package that has no authors but Debian's.
_TARBALL = re.compile(r"^ \w+ (\d+) (\S+?(?:\.orig)?\.tar\.(?:gz|xz|bz2))$", re.MULTILINE)


class _Entry(NamedTuple):
    """Where the index says a package is."""

    version: str
    path: str
    size: int


class DebianSource:
    """An archive of source packages; its index is read when the first one is asked for."""

    registry = "debian-src"

    def __init__(self, mirror_url: str = MIRROR_URL, suite: str = SUITE, max_bytes: int = 8 << 20) -> None:
        self._mirror_url = mirror_url.rstrip("/")
        self._suite = suite
        self._max_bytes = max_bytes
        self._lock = threading.Lock()
        self._index: dict[str, _Entry] | None = None

    def fetch(self, name: str, scratch: Path) -> Package:
        """Lay out a package's source as its authors published it; Debian's changes are left out."""
        entry = self._entries().get(name)
        if entry is None:
            raise FetchError("not found")
        if entry.size > self._max_bytes:
            raise FetchError("too large")
        unpack(read_url(f"{self._mirror_url}/{entry.path}", self._max_bytes), scratch)
        return Package(self.registry, name, entry.version, "", project_folder(scratch))

    def _entries(self) -> dict[str, _Entry]:
        """The index, read once."""
        with self._lock:
            if self._index is None:
                url = f"{self._mirror_url}/dists/{self._suite}/main/source/Sources.xz"
                try:
                    text = lzma.decompress(read_url(url, _MAX_INDEX_BYTES)).decode("utf-8", "replace")
                except lzma.LZMAError as error:
                    raise FetchError("index is damaged") from error
                self._index = read_index(text)
            return self._index


def read_index(text: str) -> dict[str, _Entry]:
    """The packages of an index; of one that is listed twice, the last."""
    entries = {}
    for stanza in text.split("\n\n"):
        fields = dict(_FIELD.findall(stanza))
        tarballs = [(int(size), name) for size, name in _TARBALL.findall(stanza) if ".debian." not in name]
        if tarballs and len(fields) == 3:
            originals = [tarball for tarball in tarballs if ".orig." in tarball[1]] or tarballs
            size, name = originals[0]
            entries[fields["Package"]] = _Entry(fields["Version"], f"{fields['Directory']}/{name}", size)
    return entries
