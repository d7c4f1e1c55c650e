"""The public API: one class that opens, updates and searches the index of a repository."""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar, cast

from dowse.config import (
    Mode,
    Settings,
    cache_folder,
    feedback_file,
    index_command,
    index_folder,
    load_settings,
    read_project_file,
)
from dowse.deadline import time_limit
from dowse.errors import DowseError, IndexDamaged, IndexMissing, IndexOutdated, IndexUnavailable
from dowse.security.index_permissions import drop_permissions
from dowse.types import Answer, Note, StoredFile, Symbol, SymbolRow

if TYPE_CHECKING:
    from dowse.commit_search.search import CommitHit
    from dowse.encoders.encoder import Encoder
    from dowse.feedback.store import FeedbackStore
    from dowse.graph.model import GraphAnswer
    from dowse.indexing.diff import Difference
    from dowse.indexing.embed import EmbedReport
    from dowse.indexing.update import Progress, Report
    from dowse.search.lanes.host import LaneHost
    from dowse.search.lanes.jobs import LaneDispatcher
    from dowse.search.options import SearchOptions, SearchRequest
    from dowse.search.related import Related
    from dowse.search.token_budget import ContextAnswer
    from dowse.source.tree_scanner import ScanResult
    from dowse.storage.protocol import Backend, Floats
    from dowse.vectors.adapter import AdapterFacts
    from dowse.vectors.embedding_progress import EmbeddingProgress

# Trees up to this many files are walked before each search (a few milliseconds per thousand); in
# larger ones only `dowse index` looks for changes.
REFRESH_FILES = 5_000
# More changes than this are left to `dowse index`: a search should not become an indexing run.
REFRESH_CHANGES = 200
# A search that needs vectors first embeds new symbols for at most this long; so few take only a moment.
QUICK_SECONDS = 5.0
QUICK_SYMBOLS = 300
# A search starts again when a new generation is committed; after so many attempts the lanes run in this
# process, on its own reader.
_MAX_RESTARTS = 3
# Symbols that are read to find those of some kinds.
_MAX_READ = 100_000
# Modes without meaning: nothing of an encoder is loaded.
_WORD_MODES = ("keyword", "symbol", "regex")

Method = TypeVar("Method", bound=Callable[..., Any])

# Of the index of a revision, which never changes and has no history of its own.
REVISION_SETTINGS: dict[str, Any] = {"index_dir": "", "refresh": "never", "adapter": False}


def _rebuilds(method: Method) -> Method:
    """Let a method that finds the index damaged have it built again, and run once more."""

    @functools.wraps(method)
    def run(self: Index, *arguments: Any, **options: Any) -> Any:  # noqa: ANN401 - as the method
        try:
            return method(self, *arguments, **options)
        except (IndexDamaged, IndexMissing):  # missing while another thread builds it again
            self.backend.close()
        with self._rebuilding:
            try:
                return method(self, *arguments, **options)  # another thread or process may have built it
            except IndexDamaged as error:
                self._rebuild_damaged(error)
        return method(self, *arguments, **options)

    return cast("Method", run)


class Index:
    """The index of a repository, a folder or a corpus of functions.

    >>> index = Index.open(".")          # doctest: +SKIP
    >>> index.update()                   # doctest: +SKIP
    >>> for hit in index.search("retry with backoff", k=5):  # doctest: +SKIP
    ...     print(hit.symbol.path, hit.symbol.start_line, hit.score)
    """

    def __init__(self, root: Path, settings: Settings, backend: Backend) -> None:
        self.root = root
        self.settings = settings
        self.backend = backend
        self._encoder: Encoder | None = None
        self._lanes: LaneDispatcher | None = None
        self._lanes_in_process = False
        self._feedback: FeedbackStore | None = None
        self._feedback_file = feedback_file(Path(settings.backend) if settings.backend else root)
        self._lock = threading.Lock()
        self._rebuilding = threading.RLock()  # threads that find the same damage build once
        self._rebuilt = ""  # what the next answer says about damage
        self.on_rebuild: Callable[[str], None] = lambda _: (
            None
        )  # called before a damaged index is built again
        self._revisions: dict[Path, Index] = {}  # by folder, the one used last is the last

    @classmethod
    def open(cls, path: str | Path = ".", **settings: object) -> Index:
        """Open the index of a repository; nothing is read or written before the first call.

        Args:
            path: A repository or folder, a BEIR folder, or a `.jsonl[.gz]` file of functions.
            **settings: Any field of `Settings`, e.g. `index_dir="…"`, `strip_docs=True`, or
                `backend="elastic://host:9200/NAME"` for an index that many repositories share.
        """
        from dowse.storage.open import open_backend

        root = Path(path).expanduser().resolve()
        if not root.exists():
            raise DowseError(f"{path} does not exist")
        loaded = load_settings(root, **settings)
        return cls(root, loaded, open_backend(loaded.backend or str(index_folder(root, loaded)), root))

    def __enter__(self) -> Index:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close open files, and end the processes of lanes."""
        for other in self._revisions.values():
            other.close()
        if self._lanes is not None:
            self._lanes.close()
        if self._feedback is not None:
            self._feedback.close()
        self.backend.close()

    @property
    def is_shared(self) -> bool:
        """Whether the index holds many repositories: then only `update` looks at the files of this one."""
        return bool(self.settings.backend)

    @property
    def exists(self) -> bool:
        """Whether there is an index to search."""
        return self.backend.has_generation()

    def update(
        self,
        *,
        rebuild: bool = False,
        wait: float | None = None,
        on_progress: Callable[[Progress], None] = lambda _: None,
        on_wait: Callable[[str], None] = lambda _: None,
        seen: ScanResult | None = None,
        defer_graph: bool = False,
    ) -> Report:
        """Update the index incrementally: only files that changed are read again.

        Args:
            rebuild: Delete the old index first.
            wait: Seconds to wait for another writer; None waits as long as it takes.
            on_progress: Called after every file.
            on_wait: Called once with a message if another writer holds the index.
            seen: The result of an earlier walk of the tree, or of a part of it; None walks it.
            defer_graph: Whether `link` is to build the call graph, where that takes long.
        """
        from dowse.indexing.update import update

        if not self.is_shared and not self.backend.exists():
            from dowse.disk_use import remove_unused

            remove_unused()
        if rebuild:
            self.lanes.close()
            self.backend.start_over(wait, on_wait)
        try:
            with self._known_vectors():
                return update(
                    *(self.backend, self.root, self.settings),
                    on_progress=on_progress,
                    on_wait=on_wait,
                    wait=wait,
                    seen=seen,
                    defer_graph=defer_graph,
                )
        except (IndexOutdated, IndexDamaged) as error:
            if rebuild or self.is_shared:
                raise
            if isinstance(error, IndexDamaged):
                self._remove_damage(error)
            return self.update(
                rebuild=True,
                wait=wait,
                on_progress=on_progress,
                on_wait=on_wait,
                defer_graph=defer_graph,
            )

    def _rebuild_damaged(self, error: IndexDamaged) -> None:
        """Build a damaged index again; of damaged vectors only those go, and are made again in time."""
        if self.is_shared:
            raise error
        index = self
        with contextlib.suppress(DowseError):  # of a damaged catalog nobody may know how it was built
            index = self._as_built()
        self._remove_damage(error)
        if self.exists:
            self._rebuilt = "vectors were damaged and are made again"
            return
        index.update(rebuild=True)
        self._rebuilt = "the index was damaged and has been built again"

    def _remove_damage(self, error: IndexDamaged) -> None:
        reason = str(error).partition("; run ")[0]
        self.lanes.close()
        try:
            self.backend.remove_damage()
        except (IndexUnavailable, OSError) as failure:
            text = f"{reason} and can't be built again there; name another folder with --index-dir"
            raise IndexDamaged(text) from failure
        self.on_rebuild(f"{reason}; building it again")

    @_rebuilds
    def link(self, wait: float | None = None) -> None:
        """Build the call graph, if `update` has left that for later.

        Args:
            wait: Seconds to wait for another writer; None waits as long as it takes.
        """
        if self.is_linked:
            return
        from dowse.indexing.update import link_deferred

        link_deferred(self.backend, self.settings, wait)

    @property
    @_rebuilds
    def is_linked(self) -> bool:
        """Whether the call graph is built, which comes after the words."""
        with self.backend.reader() as reader:
            return reader.is_linked

    @contextlib.contextmanager
    def _known_vectors(self) -> Iterator[None]:
        """Send cached vectors along with symbols, where the index is on a cluster."""
        encoder = self._available_encoder() if self.is_shared else None
        if encoder is None:
            yield
            return
        from dowse.storage.protocol import KnownVectors
        from dowse.vectors.cache import VectorCache

        with VectorCache(cache_folder() / "vectors", encoder.id, encoder.dimension) as cache:
            self.backend.set_known_vectors(KnownVectors(encoder.id, encoder.dimension, cache.get_many))
            try:
                yield
            finally:
                self.backend.set_known_vectors(None)

    @property
    def encoder(self) -> Encoder | None:
        """The encoder, None if the setting is "none"; its weights are read when first needed."""
        with self._lock:  # threads that search at once share one
            if self._encoder is None and self.settings.encoder != "none":
                from dowse.encoders.registry import load_encoder

                settings = self.settings
                self._encoder = load_encoder(
                    settings.encoder, settings.view, settings.device, settings.threads
                )
            return self._encoder

    @_rebuilds
    def embed(
        self,
        *,
        seconds: float | None = None,
        wait: float | None = None,
        on_progress: Callable[[Progress], None] = lambda _: None,
        on_wait: Callable[[str], None] = lambda _: None,
        **options: Any,  # noqa: ANN401 - as `dowse.indexing.embed.embed` takes them
    ) -> EmbedReport:
        """Encode every symbol that has no vector; an interrupted run is continued by the next.

        Args:
            seconds: Stop soon after this long; None encodes all.
            wait: Seconds to wait for another process that embeds; None waits as long as it takes.
            on_progress: Called after every few hundred symbols.
            on_wait: Called once with a message if another process embeds.
            **options: `chunk`, `pause`, `finish` and `asked` of `dowse.indexing.embed.embed`.
        """
        from dowse.indexing.embed import embed
        from dowse.vectors.cache import VectorCache

        encoder = self._require_encoder()
        if wait is None:  # who waits for all takes over from the process in the background
            self._end_background_embedding()
        if seconds is None:
            self.embed_approximately()
        with VectorCache(cache_folder() / "vectors", encoder.id, encoder.dimension) as cache:
            return embed(
                self.backend,
                encoder,
                cache,
                method=self.settings.vectors,
                seconds=seconds,
                wait=wait,
                on_progress=on_progress,
                on_wait=on_wait,
                root=None if self.is_shared else self.root,
                **options,
            )

    def embed_approximately(self) -> None:
        """Give symbols without a vector an approximate one, where their own take long."""
        from dowse.encoders.registry import load_approximation
        from dowse.indexing.approximate import MIN_SYMBOLS, embed_approximately

        if self.is_shared or self.unembedded() < MIN_SYMBOLS:
            return
        encoder = self._require_encoder()
        table = load_approximation(encoder, self.settings.view)
        if table is not None:
            with contextlib.suppress(DowseError):  # another process does it
                embed_approximately(self.backend, encoder, table)

    @_rebuilds
    def learn(self, asked: Collection[str] = ()) -> AdapterFacts | None:
        """Learn from the repository's commits where requests for a change lead: `dowse.indexing.learn`.

        Returns what was learnt; None where nothing can be: of a corpus, on a cluster, without a history or an
        encoder, or if the setting `adapter` is off. It may take minutes the first time.

        Args:
            asked: Of an evaluation: the commits that it asks about; they and newer ones are not learnt.
        """
        from dowse.indexing.learn import learn_adapter

        if self.encoder is None or not self.settings.adapter:
            return None
        return learn_adapter(self.backend, self.root, self.encoder, asked)

    @_rebuilds
    def has_new_history(self) -> bool:
        """Whether `learn` would read commits that it has not seen."""
        if not self.settings.adapter or self.encoder is None:
            return False
        from dowse.indexing.learn import is_outdated

        with self.backend.reader() as reader:
            is_corpus, derived = reader.meta().get("corpus") == "1", reader.cache_folder
        return derived is not None and not is_corpus and is_outdated(derived, self.root, self.encoder.id)

    def _adapter_status(self) -> dict[str, Any] | None:
        """Return what was learnt of the history of this repository; None if nothing was."""
        from dowse.vectors.adapter import AdapterFile, read_facts

        if self.encoder is None or not self.settings.adapter:
            return None
        with self.backend.reader() as reader:
            derived = reader.cache_folder
        facts = read_facts(AdapterFile(derived, self.encoder.id)) if derived is not None else None
        return {**asdict(facts), "text": facts.text} if facts else None

    @_rebuilds
    def unembedded(self) -> int:
        """Return how many symbols still have no vector."""
        encoder = self.encoder
        if encoder is None:
            return 0
        with self.backend.reader() as reader:
            return reader.symbol_count() - reader.embedded_count(encoder.id)

    @_rebuilds
    def embedding_progress(self) -> EmbeddingProgress | None:
        """Return how far the process is that embeds in the background; None if none runs."""
        from dowse.vectors.embedding_progress import read_progress

        with self.backend.reader() as reader:
            return read_progress(reader.cache_folder)

    def _end_background_embedding(self) -> None:
        from dowse.vectors.embedding_progress import EmbeddingFolder

        with self.backend.reader() as reader:
            derived = reader.cache_folder
        if derived is not None:
            EmbeddingFolder(derived).end_process()

    @_rebuilds
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

        with self.backend.reader() as reader:
            return count_terms(reader, wait, on_wait, lambda *done: on_progress(Progress(*done)))

    def log(
        self,
        query: str,
        k: int = 10,
        *,
        seconds: float | None = None,
        wait: float | None = None,
        max_unread: int | None = None,
        on_progress: Callable[[Progress], None] = lambda _: None,
        on_read: Callable[[Progress], None] = lambda _: None,
    ) -> list[CommitHit]:
        """Return the commits that a question is about, by meaning and words.

        Of a folder in a repository only those that changed it. Commits that are new since the last call are
        read and encoded first.

        Args:
            query: Words, and the filters `author:`, `since:`, `path:` and `symbol:`.
            k: How many.
            seconds: Stop encoding soon after this long; the next call goes on. None encodes all.
            wait: Seconds to wait for another process that reads commits; None waits as long as it takes.
            max_unread: Raise HistoryUnread if more commits than this are new. None reads all.
            on_progress: Called after every few hundred commits that are encoded.
            on_read: The same for commits that are read.
        """
        from dowse.commit_search.filters import parse_commit_query
        from dowse.commit_search.search import embed_commits, open_commits, search_commits
        from dowse.indexing.update import Progress

        parsed = parse_commit_query(query)
        encoder = self.encoder if parsed.text else None

        def find() -> list[CommitHit]:
            reading = open_commits(self.root, wait, max_unread, lambda *done: on_read(Progress(*done)))
            with reading as store:
                if encoder is not None:
                    report = lambda *done: on_progress(Progress(*done))  # noqa: E731
                    embed_commits(store, encoder, parsed.text, seconds, report)
                return search_commits(store, self.root, parsed, encoder, k)

        try:
            return find()
        except IndexDamaged as error:
            self.on_rebuild(f"{str(error).partition('; run ')[0]}; reading the commits again")
            return find()

    @_rebuilds
    def related(self, target: str, k: int = 10) -> Related:
        """Return the symbols similar to one, named as `file.py:42`, `name` or `Class.method`."""
        from dowse.search.related import related
        from dowse.symbol_lookup import resolve

        if k <= 0:
            raise DowseError(f"`k` is a number of neighbours, not {k}")
        encoder = self._require_encoder()
        target = target.removeprefix(f"{self.root}/")
        with self.backend.reader() as reader:
            return related(reader, encoder.id, resolve(reader, target), k, self.settings.vectors)

    def _require_encoder(self) -> Encoder:
        encoder = self.encoder
        if encoder is None:
            raise DowseError("there is no encoder; set `encoder`, e.g. to base")
        return encoder

    def search(
        self,
        query: str,
        k: int | None = None,
        mode: Mode | None = None,
        **options: Any,  # noqa: ANN401 - the fields of SearchOptions
    ) -> Answer:
        """Search the index as it is.

        Args:
            query: Words, identifiers, `"phrases"`, `/regexes/`, filters, or a question about structure
                such as "what calls X"; see docs/QUERY.md.
            k: How many hits; 0 means all hits of an exact search.
            mode: auto, hybrid, keyword, tfidf, embedding, graph, regex or symbol.
            **options: Any other field of `dowse.search.options.SearchOptions`, e.g. `rerank=True`; None
                takes the setting.
        """
        from dowse.search.options import SearchRequest, make_options

        request = SearchRequest(query, make_options(self.settings, k=k, mode=mode, **options))
        revision = self.revision_in(query, request.options)
        if not revision:
            return self._noting_damage(self._answer(request))
        from dowse.source.git import head_commit

        other = self.at_revision(revision)
        if not other.exists:
            other.update()
        answer = other._noting_damage(other._answer(request))
        note = Note("other", f"searched {revision}, commit {head_commit(other.root)[:12]}")
        return replace(answer, notes=(note, *answer.notes))

    @_rebuilds
    def context(self, text: str, tokens: int = 8_000) -> ContextAnswer:
        """Return the lines that matter for a question or an issue text, within a budget, merged by file.

        Args:
            text: The question, taken as words; a stack trace or a message in it is read as one.
            tokens: What the answer may cost, as `dowse.token_estimate` counts.
        """
        from dowse.search.token_budget import CANDIDATES, select_context

        answer = self.search(text, CANDIDATES, feedback=False)
        with time_limit(self.settings.query_seconds), self.backend.reader() as reader:
            return select_context(reader, answer, tokens)

    def revision_in(self, query: str, options: SearchOptions) -> str:
        """Return the revision that a query asks for, "" if this index has it."""
        from dowse.query.parser import find_revision

        revision = find_revision(query, plain=options.plain, mode=options.mode)
        if not revision:
            return ""
        from dowse.source.revisions import is_revision

        return "" if is_revision(self.root) else revision

    def at_revision(self, revision: str) -> Index:
        """Return the index of another branch, tag or commit of the repository; `update` builds it.

        Its files are read from git's objects; vectors are shared through the cache. A few are kept.
        """
        from dowse.source.revisions import KEPT, export_revision
        from dowse.storage.open import open_backend

        if self.is_shared:
            raise DowseError("rev: needs an index on this machine, not one on a cluster; leave out --backend")
        root = export_revision(self.root, revision)
        with self._lock:
            index = self._revisions.pop(root, None)
            if index is None:
                settings = replace(self.settings, **REVISION_SETTINGS)
                index = Index(root, settings, open_backend(str(index_folder(root, settings)), root))
                index._encoder = self._encoder
                index.keep_lanes_in_process()
            self._revisions[root] = index
            for old in list(self._revisions)[:-KEPT]:
                self._revisions.pop(old).close()
        return index

    def _noting_damage(self, answer: Answer) -> Answer:
        """Return an answer with a note if the index was damaged since the last one."""
        text, self._rebuilt = self._rebuilt, ""
        return replace(answer, notes=(*answer.notes, Note("other", text))) if text else answer

    @_rebuilds
    def _answer(self, request: SearchRequest) -> Answer:
        """Answer from one generation, and from the next one if that is committed meanwhile."""
        from dowse.search.pipeline import search
        from dowse.search.retrieval import StaleGeneration

        options = request.options
        needed = options.mode in ("embedding", "hybrid") or "embedding" in options.lanes
        unused = options.mode in _WORD_MODES and not options.lanes and not options.diversify
        encoder = self.encoder if needed else None if unused else self._available_encoder()
        # Most repositories have no feedback: then nothing of it is loaded.
        feedback = self.feedback if options.feedback and self._feedback_file.exists() else None
        in_process, notes = self._count_terms_for(request)
        # Counts that are not on disk are in the memory of this process, so the lane has to run here.
        attempts = (None,) if in_process else (*[self.lanes] * _MAX_RESTARTS, None)
        with time_limit(self.settings.query_seconds):
            for lanes in attempts:
                with contextlib.suppress(StaleGeneration), self.backend.reader() as reader:
                    answer = search(
                        *(reader, request, self.settings),
                        lanes=lanes,
                        encoder=encoder,
                        feedback=feedback,
                        keep_vectors=functools.partial(self._keep_vectors, encoder),
                    )
                    return replace(answer, notes=(*answer.notes, *notes)) if notes else answer
        raise DowseError("the index changes faster than it can be searched; try again")  # pragma: no cover

    def _keep_vectors(self, encoder: Encoder | None, keys: Sequence[bytes], vectors: Floats) -> None:
        """Store vectors that a search made: in the cache, and in the index unless another process embeds."""
        from dowse.vectors.cache import VectorCache

        if encoder is None:
            return
        with VectorCache(cache_folder() / "vectors", encoder.id, encoder.dimension, wait=0.0) as cache:
            cache.put_many(keys, vectors)
        with (
            contextlib.suppress(DowseError, OSError),
            self.backend.vector_writer(encoder.id, encoder.dimension, wait=0.0) as writer,
        ):
            writer.put(keys, vectors)

    def _count_terms_for(self, request: SearchRequest) -> tuple[bool, list[Note]]:
        """Count terms before the TF-IDF lane runs, which has a deadline.

        Returns whether the counts are in the memory of this process alone, and a note where they can't be
        written.
        """
        if request.options.mode != "tfidf" and "tfidf" not in request.options.lanes:
            return False, []
        try:
            self.count_terms()
        except OSError as error:
            text = f"counts of terms can't be kept ({error}); each start counts them again"
            return True, [Note("other", text)]
        return self.is_shared, []

    @property
    def feedback(self) -> FeedbackStore:
        """The feedback on earlier answers; no file is made before the first record."""
        with self._lock:
            if self._feedback is None:
                from dowse.feedback.store import FeedbackStore

                self._feedback = FeedbackStore(self._feedback_file)
            return self._feedback

    @property
    def lanes(self) -> LaneDispatcher:
        """Runs the lanes of a search."""
        with self._lock:
            if self._lanes is None:
                from dowse.search.lanes.jobs import LaneDispatcher

                self._lanes = LaneDispatcher(
                    self.settings.isolation,
                    lambda: self.encoder,
                    self._make_lane_host,
                    in_process=self._lanes_in_process,
                )
            return self._lanes

    def _make_lane_host(self) -> LaneHost:
        from dowse.search.lanes.host import LaneHost  # late: a command hardly ever needs it

        return LaneHost(self.backend.address, self.settings)

    def keep_lanes_in_process(self) -> Index:
        """Let `isolation = auto` mean no other processes, where none but shipped models run; returns self.

        For a process that only costs its own answer when native code hangs or crashes, and should start fast.
        """
        from dowse.encoders.model_files import is_shipped

        self._lanes_in_process = not self.is_shared and is_shipped(self.settings.encoder)
        return self

    def warm(self, lanes: Sequence[str] = ("keyword", "embedding")) -> None:
        """Start what a search with these lanes will need while the caller does something else."""
        has_encoder = self.settings.encoder != "none"
        self.lanes.warm([lane for lane in lanes if has_encoder or lane != "embedding"])

    def _available_encoder(self) -> Encoder | None:
        """Return the encoder if it is loaded or shipped: a keyword search must not wait for one."""
        from dowse.encoders.model_files import is_shipped

        return self.encoder if self._encoder or is_shipped(self.settings.encoder) else None

    def callers(self, symbol: str, depth: int | None = None, k: int | None = None) -> GraphAnswer:
        """Return who calls a symbol, named as `pkg.Class.method`, `Class.method`, `name` or `file.py:42`.

        Args:
            symbol: Its name; one that several symbols have raises `AmbiguousName` with the candidates.
            depth: Hops to follow; None takes the default of the relation, here 1.
            k: How many to return, nearest first; 0 returns all, None 50 (of `impact` 200).
        """
        return self._graph("callers", symbol, depth, k)

    def callees(self, symbol: str, depth: int | None = None, k: int | None = None) -> GraphAnswer:
        """Return what a symbol calls; for a class, what its methods call."""
        return self._graph("callees", symbol, depth, k)

    def uses(self, symbol: str, depth: int | None = None, k: int | None = None) -> GraphAnswer:
        """Return what refers to a symbol in any way: calls, types, decorators, subclasses, imports."""
        return self._graph("uses", symbol, depth, k)

    def implementers(self, symbol: str, depth: int | None = None, k: int | None = None) -> GraphAnswer:
        """Return what implements an interface, or the methods that implement or override a method."""
        return self._graph("implementers", symbol, depth, k)

    def subclasses(self, symbol: str, depth: int | None = None, k: int | None = None) -> GraphAnswer:
        """Return the classes that extend a class, and those that extend them."""
        return self._graph("subclasses", symbol, depth, k)

    def impact(self, symbol: str, depth: int | None = None, k: int | None = None) -> GraphAnswer:
        """Return what a change of a symbol would touch; `tests` of the answer are those to run."""
        return self._graph("impact", symbol, depth, k)

    @_rebuilds
    def path(self, start: str, end: str, depth: int | None = None) -> GraphAnswer:
        """Return the shortest chain of calls and uses from one symbol to another."""
        from dowse.graph.queries import find_path

        start, end = (name.removeprefix(f"{self.root}/") for name in (start, end))
        with self.backend.reader() as reader:
            return find_path(reader, start, end, depth)

    @_rebuilds
    def _graph(self, relation: str, symbol: str, depth: int | None, k: int | None) -> GraphAnswer:
        from dowse.graph.queries import query_relation

        with time_limit(self.settings.query_seconds), self.backend.reader() as reader:
            return query_relation(reader, relation, symbol.removeprefix(f"{self.root}/"), depth, k)

    @_rebuilds
    def symbols(self, pattern: str = "*", limit: int = 100, kinds: Collection[str] = ()) -> list[SymbolRow]:
        """Return the symbols and names whose name or qualified name matches a pattern with `*` and `?`.

        Args:
            pattern: The pattern, or a name as the graph commands take it: `server.main`, `src/server.c:main`.
            limit: How many, shortest first; of one name, symbols come first.
            kinds: Only these; none for all.
        """
        from dowse.symbol_lookup import symbols_named

        with self.backend.reader() as reader:
            rows = reader.lookup(pattern, _MAX_READ if kinds else limit, with_names=True)
            rows = rows or symbols_named(reader, pattern.strip("*"), limit)
        return [row for row in rows if not kinds or row.kind in kinds][:limit]

    def symbol(self, row: SymbolRow) -> Symbol:
        """Return a symbol with its text."""
        with self.backend.reader() as reader:
            return reader.symbols([row])[0]

    def lines(self, symbol: Symbol) -> dict[int, str]:
        """Return the lines of the file that holds a symbol, by number; of a corpus, those of the symbol."""
        with self.backend.reader() as reader:
            files = () if reader.is_corpus else reader.files_with_suffix(symbol.path)
            same = [file for file in files if (file.repo, file.path) == (symbol.repo, symbol.path)]
            if not same:
                return dict(symbol.numbered_lines)
            text = reader.text(same[0].file_id)
        lines = text.decode("utf-8", "replace").split("\n")
        return {number: line.rstrip("\r") for number, line in enumerate(lines, 1)}

    def status(self) -> dict[str, Any]:
        """Return what is indexed, where, and how fresh it is, as plain data."""
        with self.backend.reader() as reader:
            meta, counts = reader.meta(), reader.counts()
            languages, known, corpus = reader.languages(), reader.fingerprints(), reader.is_corpus
            problems = len(reader.files_with_problems())
            embedded = reader.embedded_count(self.encoder.id) if self.encoder else 0
        changes = self.as_built().changes(exact=True)
        embedding = self.embedding_progress()
        return {
            "root": str(self.root),
            "repo": meta.get("repo", ""),
            "commit": meta.get("commit", ""),
            "index": self.backend.address,
            "index_bytes": self.backend.size(),
            "generation": int(meta["generation"]),
            "indexed_at": int(meta.get("indexed_at", 0)),
            "files": counts["files"],
            "symbols": counts["symbols"],
            "encoder": self.encoder.id if self.encoder else "",
            "embedded": embedded,
            # The process that embeds in the background, None if none runs.
            "embedding": embedding and {**embedding._asdict(), "seconds_left": embedding.seconds_left},
            "adapter": self._adapter_status(),
            "finish": index_command(self.settings),
            "source_bytes": counts["bytes"],
            "skipped": counts["skipped"],
            "problems": problems,
            "languages": languages,
            "strip_docs": meta.get("strip_docs") == "1",
            "writer": self.backend.writer_process(),
            "corpus": corpus,  # then nothing is known of changes
            "changes": {
                "new": sum(job.key not in known for job in changes.jobs),
                "changed": sum(job.key in known for job in changes.jobs),
                "deleted": len(changes.deleted),
            },
            "cluster": self.backend.health(),
            "ignored_settings": list(read_project_file(self.root).ignored),
        }

    @_rebuilds
    def file_count(self) -> int:
        """Return how many files the index holds."""
        with self.backend.reader() as reader:
            return reader.counts()["files"]

    def files(self) -> list[StoredFile]:
        """Return every file of the index."""
        with self.backend.reader() as reader:
            return reader.files()

    def files_with_problems(self) -> list[StoredFile]:
        """Return the files that have a problem, such as no syntax tree."""
        with self.backend.reader() as reader:
            return reader.files_with_problems()

    def skipped(self) -> list[tuple[str, str]]:
        """Return the files that are left out, and why."""
        with self.backend.reader() as reader:
            return reader.skipped()

    @_rebuilds
    def as_built(self) -> Index:
        """Return the same index with the settings that it was built with."""
        return self._as_built()

    def _as_built(self) -> Index:
        with self.backend.reader() as reader:
            meta = reader.meta()
        if self._is_in_repository():
            meta = drop_permissions(
                meta, include_secrets=self.settings.include_secrets, exclude=self.settings.exclude
            )
        exclude = tuple(line for line in meta.get("exclude", "").split("\n") if line)
        settings = replace(
            self.settings,
            exclude=exclude,
            strip_docs=meta.get("strip_docs") == "1",
            include_secrets=meta.get("include_secrets") == "1",
        )
        other = Index(self.root, settings, self.backend)
        other.on_rebuild = self.on_rebuild
        return other

    def _is_in_repository(self) -> bool:
        """Whether the index is in the repository itself, whose author may have made it."""
        return not self.is_shared and Path(self.backend.address).resolve().is_relative_to(self.root)

    def with_settings(self, settings: Settings) -> Index:
        """Return the same index with other settings, on the same open files and processes.

        The settings that those depend on must be equal: `encoder`, `view`, `device` and `isolation`.
        """
        other = Index(self.root, settings, self.backend)
        other._encoder, other._lanes = self.encoder, self.lanes
        other._feedback = self.feedback if self._feedback_file.exists() else None
        return other

    @_rebuilds
    def changes(self, *, exact: bool = False) -> Difference:
        """Compare the files with the index without changing it.

        Args:
            exact: Read the files whose time alone is new or can't be trusted, and leave out those whose
                content is the same.
        """
        from dowse.indexing.diff import Difference, difference, drop_unchanged
        from dowse.source.corpus import is_corpus

        if is_corpus(self.root):
            return Difference()  # a corpus is compared by content, which only an update reads
        with self.backend.reader() as reader:
            if self.is_shared and "root" not in reader.meta():
                return Difference()  # this folder is not in the shared index
            changes = difference(self.root, reader, self.settings)
        return drop_unchanged(changes) if exact else changes
