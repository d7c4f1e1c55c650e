"""`index.vectors`: encodes symbols, all of them or what a search needs, and learns from commits."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

from dowse import deadline
from dowse.config import cache_folder
from dowse.errors import DowseError, IndexUnavailable
from dowse.index.limits import QUICK_SECONDS, QUICK_SYMBOLS
from dowse.index.part import IndexPart, rebuilds
from dowse.lazy_classes import asdict
from dowse.progress import ProgressBar

if TYPE_CHECKING:
    from dowse.indexing.embed import EmbedReport
    from dowse.indexing.update import Progress
    from dowse.search.options import SearchOptions
    from dowse.vectors.adapter import AdapterFacts
    from dowse.vectors.embedding_progress import EmbeddingProgress

# Hits by words whose files are embedded before others.
_ASKED = 50


class Vectors(IndexPart):
    """The vectors of an index."""

    @rebuilds
    def missing(self) -> int:
        """Return how many symbols still have no vector."""
        encoder = self._index.encoder
        if encoder is None:
            return 0
        with self._index.backend.reader() as reader:
            return reader.symbol_count() - reader.embedded_count(encoder.id)

    @rebuilds
    def progress(self) -> EmbeddingProgress | None:
        """Return how far the process is that embeds in the background; None if none runs."""
        from dowse.vectors.embedding_progress import read_progress

        with self._index.backend.reader() as reader:
            return read_progress(reader.cache_folder)

    @rebuilds
    def embed(
        self,
        *,
        seconds: float | None = None,
        wait: float | None = None,
        on_progress: Callable[[Progress], None] | None = None,
        on_wait: Callable[[str], None] = lambda _: None,
        chunk: int | None = None,
        pause: Callable[[], bool] = lambda: False,
        finish: bool = True,
        asked: Collection[str] = (),
    ) -> EmbedReport:
        """Encode every symbol that has no vector; an interrupted run is continued by the next.

        Args:
            seconds: Stop soon after this long; None encodes all.
            wait: Seconds to wait for another process that embeds; None waits as long as it takes.
            on_progress: Called after every few hundred symbols; None shows a bar in a terminal or notebook.
            on_wait: Called once with a message if another process embeds.
            chunk: Symbols between two commits.
            pause: Called after every chunk; True stops the run there.
            finish: Whether to fit what `related` and large indexes need, once nothing is missing.
            asked: Paths of files that come before all others.
        """
        from dowse.indexing.embed import CHUNK, embed
        from dowse.vectors.cache import VectorCache

        index, encoder = self._index, self._index._require_encoder()
        if wait is None:  # who waits for all takes over from the process in the background
            self._end_background_embedding()
        if seconds is None:
            self.embed_approximately()
        with (
            VectorCache(cache_folder() / "vectors", encoder.id, encoder.dimension) as cache,
            ProgressBar("embedding", "symbols", quiet=on_progress is not None) as bar,
        ):
            show = on_progress or bar.show

            def check(progress: Progress) -> None:
                deadline.check()  # of a caller that may be gone; chunks that are done are kept
                show(progress)

            return embed(
                *(index.backend, encoder, cache),
                method=index.settings.vectors,
                seconds=seconds,
                wait=wait,
                on_progress=check,
                on_wait=on_wait,
                root=None if index.is_shared else index.root,
                chunk=chunk or CHUNK,
                pause=pause,
                finish=finish,
                asked=asked,
            )

    def embed_approximately(self) -> None:
        """Give symbols without a vector an approximate one, where their own take long."""
        from dowse.encoders.registry import load_approximation
        from dowse.indexing.approximate import MIN_SYMBOLS, embed_approximately

        index = self._index
        if index.is_shared or self.missing() < MIN_SYMBOLS:
            return
        encoder = index._require_encoder()
        table = load_approximation(encoder, index.settings.view)
        if table is not None:
            with contextlib.suppress(DowseError):  # another process does it
                embed_approximately(index.backend, encoder, table)

    def is_wanted(self, options: SearchOptions, *, is_first: bool | None = None) -> bool:
        """Whether to embed symbols before a search: if it asks for meaning, or if that is quick.

        Args:
            options: Those of the search.
            is_first: Whether nobody goes on with an index that was just built; None if it has no vector.
        """
        index = self._index
        by_meaning = not options.lanes or "embedding" in options.lanes
        if index.is_shared or options.mode not in ("auto", "hybrid", "embedding") or not by_meaning:
            return False
        missing = self.missing() if index.settings.encoder != "none" else 0
        if not missing or options.mode != "auto" or missing <= QUICK_SYMBOLS:
            return bool(missing)
        return self._is_empty() if is_first is None else is_first

    def _is_empty(self) -> bool:
        encoder = self._index._require_encoder()
        with self._index.backend.reader() as reader:
            return not reader.embedded_count(encoder.id)

    def embed_briefly(self, query: str = "", tell: Callable[[str], None] = lambda _: None) -> float | None:
        """Embed symbols for a few seconds at most; return how many a second, None if that was not possible.

        The files that have the words of the query come first. Another process that embeds is left alone.
        """
        from dowse.search.options import SearchRequest, make_options

        index = self._index
        missing = 0 if index.is_shared else self.missing()
        if not missing or self.progress() is not None:
            return None
        if missing > QUICK_SYMBOLS:
            tell(f"embedding for up to {QUICK_SECONDS:.0f} s before answering")
        try:
            request = SearchRequest(query, make_options(index.settings, k=_ASKED, mode="keyword"))
            asked = {hit.symbol.path for hit in index._answer(request)} if query else ()
            report = self.embed(seconds=QUICK_SECONDS, wait=0.0, asked=asked, on_progress=lambda _: None)
        except (IndexUnavailable, OSError) as error:
            tell(f"searching only what is embedded already ({error})")
            return None
        return (report.encoded + report.reused) / max(report.seconds, 1e-3)

    @rebuilds
    def learn(self, asked: Collection[str] = ()) -> AdapterFacts | None:
        """Learn from the repository's commits where requests for a change lead: `dowse.indexing.learn`.

        Returns what was learnt; None where nothing can be: of a corpus, on a cluster, without a history or an
        encoder, or if the setting `adapter` is off. It may take minutes the first time.

        Args:
            asked: Of an evaluation: the commits that it asks about; they and newer ones are not learnt.
        """
        from dowse.indexing.learn import learn_adapter

        index = self._index
        if index.encoder is None or not index.settings.adapter:
            return None
        return learn_adapter(index.backend, index.root, index.encoder, asked)

    @rebuilds
    def has_new_history(self) -> bool:
        """Whether `learn` would read commits that it has not seen."""
        index = self._index
        if not index.settings.adapter or index.encoder is None:
            return False
        from dowse.indexing.learn import is_outdated

        with index.backend.reader() as reader:
            is_corpus, derived = reader.meta().get("corpus") == "1", reader.cache_folder
        return derived is not None and not is_corpus and is_outdated(derived, index.root, index.encoder.id)

    def _adapter_status(self) -> dict[str, Any] | None:
        """Return what was learnt of the history of this repository; None if nothing was."""
        from dowse.vectors.adapter import AdapterFile, read_facts

        index = self._index
        if index.encoder is None or not index.settings.adapter:
            return None
        with index.backend.reader() as reader:
            derived = reader.cache_folder
        facts = read_facts(AdapterFile(derived, index.encoder.id)) if derived is not None else None
        return {**asdict(facts), "text": facts.text} if facts else None

    def _end_background_embedding(self) -> None:
        from dowse.vectors.embedding_progress import EmbeddingFolder

        with self._index.backend.reader() as reader:
            derived = reader.cache_folder
        if derived is not None:
            EmbeddingFolder(derived).end_process()
