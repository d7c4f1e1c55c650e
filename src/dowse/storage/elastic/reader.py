"""A reader of one generation of an index on a cluster."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from dowse.storage.elastic.bm25 import KeywordReader
from dowse.storage.elastic.cache import GenerationCache
from dowse.storage.elastic.edges import EdgeReader
from dowse.storage.elastic.knn import VectorReader
from dowse.storage.elastic.snapshot import SnapshotSearcher, common_meta


class ElasticReader(KeywordReader, VectorReader, EdgeReader):
    """One generation, with snapshot isolation."""

    def __init__(self, searcher: SnapshotSearcher, cache: GenerationCache) -> None:
        super().__init__(searcher, cache)
        snapshot = searcher.snapshot
        self.generation, self.identity = snapshot.generation, snapshot.identity
        self.is_corpus = snapshot.corpora > 0 and snapshot.trees == 0
        self.is_complete = snapshot.incomplete == 0
        self.cache_folder: Path | None = None
        self.derived: dict[str, Any] = cache.derived

    def skipped(self) -> list[tuple[str, str]]:
        """Return the files that are not indexed, and why."""
        versions = [self._source_version] if self._source_version else self._searcher.source_versions()
        return sorted(
            (str(path), str(reason)) for version in versions for path, reason in version.get("skipped", ())
        )

    def symbol_count(self) -> int:
        """Return the number of symbols, without a request."""
        return int(self._searcher.snapshot.totals["symbols"])

    def counts(self) -> dict[str, int]:
        """Return the number of files, symbols, source bytes and skipped files."""
        totals = self._searcher.snapshot.totals
        return {name: int(totals[name]) for name in ("files", "symbols", "bytes", "skipped")}

    def meta(self) -> dict[str, str]:
        """Return the metadata of this machine's source, or what all sources have in common."""
        return {**self._meta, "generation": str(self.generation)}

    @cached_property
    def _source_version(self) -> Mapping[str, Any]:
        return self._searcher.source_version()

    @cached_property
    def _meta(self) -> dict[str, str]:
        if self._source_version:
            return dict(self._source_version["meta"])
        return common_meta(self._searcher.source_versions())
