"""`index.internals`: what dowse's own interfaces need of an index beside its API; it may change any time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dowse.config import Settings, index_folder
from dowse.errors import DowseError
from dowse.index.part import IndexPart, rebuilds
from dowse.lazy_classes import replace
from dowse.security.index_permissions import drop_permissions

if TYPE_CHECKING:
    from dowse.index.api import Index
    from dowse.indexing.update import Progress
    from dowse.search.lanes.host import LaneHost
    from dowse.search.lanes.jobs import LaneDispatcher
    from dowse.search.options import SearchOptions

# Of the index of a revision, which never changes and has no history of its own.
REVISION_SETTINGS: dict[str, Any] = {"index_dir": "", "refresh": "never", "adapter": False}


class Internals(IndexPart):
    """The processes of an index, and the same index with other settings or of another revision."""

    @property
    def lanes(self) -> LaneDispatcher:
        """Runs the lanes of a search."""
        index = self._index
        with index._lock:
            if index._lanes is None:
                from dowse.search.lanes.jobs import LaneDispatcher

                index._lanes = LaneDispatcher(
                    index.settings.isolation,
                    lambda: index.encoder,
                    lambda: _make_lane_host(index),
                    in_process=index._lanes_in_process,
                )
            return index._lanes

    def keep_lanes_in_process(self) -> Index:
        """Let `isolation = auto` mean no other processes, where only shipped models run; returns the index.

        For a process that only costs its own answer when native code hangs or crashes, and should start fast.
        """
        from dowse.encoders.model_files import is_shipped

        index = self._index
        index._lanes_in_process = not index.is_shared and is_shipped(index.settings.encoder)
        return index

    def warm(self, lanes: Sequence[str] = ("keyword", "embedding")) -> None:
        """Start what a search with these lanes will need while the caller does something else."""
        has_encoder = self._index.settings.encoder != "none"
        self.lanes.warm([lane for lane in lanes if has_encoder or lane != "embedding"])

    def on_rebuild(self, report: Callable[[str], None]) -> None:
        """Have a function called with a message before a damaged index is built again."""
        self._index._on_rebuild = report

    @rebuilds
    def count_terms(
        self,
        *,
        wait: float | None = None,
        on_progress: Callable[[Progress], None] = lambda _: None,
        on_wait: Callable[[str], None] = lambda _: None,
    ) -> int:
        """Count the terms that the TF-IDF lane needs and that are not counted yet; return how many texts.

        A search with that lane does so by itself. An interrupted run is continued by the next.

        Args:
            wait: Seconds to wait for another process that counts; None waits as long as it takes.
            on_progress: Called after every few thousand symbols.
            on_wait: Called once with a message if another process counts.
        """
        from dowse.indexing.update import Progress
        from dowse.research.tfidf.index import count_terms

        with self._index.backend.reader() as reader:
            return count_terms(
                reader, wait, on_wait, lambda done, total: on_progress(Progress(done, total, "symbols"))
            )

    @rebuilds
    def as_built(self) -> Index:
        """Return the same index with the settings that it was built with."""
        return self._as_built()

    def _as_built(self) -> Index:
        index = self._index
        with index.backend.reader() as reader:
            meta = reader.meta()
        if self._is_in_repository():
            include_secrets, exclude = index.settings.include_secrets, index.settings.exclude
            meta = drop_permissions(meta, include_secrets=include_secrets, exclude=exclude)
        settings = replace(
            index.settings,
            exclude=tuple(line for line in meta.get("exclude", "").split("\n") if line),
            strip_docs=meta.get("strip_docs") == "1",
            include_secrets=meta.get("include_secrets") == "1",
        )
        other = type(index)(index.root, settings, index.backend)
        other._on_rebuild = index._on_rebuild
        return other

    def _is_in_repository(self) -> bool:
        """Whether the index is in the repository itself, whose author may have made it."""
        index = self._index
        return not index.is_shared and Path(index.backend.address).resolve().is_relative_to(index.root)

    def with_settings(self, settings: Settings) -> Index:
        """Return the same index with other settings, on the same open files and processes.

        The settings that those depend on must be equal: `encoder`, `view`, `device` and `isolation`.
        """
        index = self._index
        other = type(index)(index.root, settings, index.backend)
        other._encoder, other._lanes = index.encoder, self.lanes
        other._feedback = index.feedback if index._feedback_file.exists() else None
        return other

    def revision_in(self, query: str, options: SearchOptions) -> str:
        """Return the revision that a query asks for, "" if this index has it."""
        from dowse.query.parser import find_revision

        revision = find_revision(query, plain=options.plain, mode=options.mode)
        if not revision:
            return ""
        from dowse.source.revisions import is_revision

        return "" if is_revision(self._index.root) else revision

    def at_revision(self, revision: str) -> Index:
        """Return the index of another branch, tag or commit of the repository; `update` builds it.

        Its files are read from git's objects; vectors are shared through the cache. A few are kept.
        """
        from dowse.source.revisions import KEPT, export_revision
        from dowse.storage.open import open_backend

        index = self._index
        if index.is_shared:
            raise DowseError("rev: needs an index on this machine, not one on a cluster; leave out --backend")
        root = export_revision(index.root, revision)
        with index._lock:
            other = index._revisions.pop(root, None)
            if other is None:
                settings = replace(index.settings, **REVISION_SETTINGS)
                other = type(index)(root, settings, open_backend(str(index_folder(root, settings)), root))
                other._encoder = index._encoder
                other.internals.keep_lanes_in_process()
            index._revisions[root] = other
            for old in list(index._revisions)[:-KEPT]:
                index._revisions.pop(old).close()
        return other


def _make_lane_host(index: Index) -> LaneHost:
    from dowse.search.lanes.host import LaneHost  # late: a command hardly ever needs it

    return LaneHost(index.backend.address, index.settings)
