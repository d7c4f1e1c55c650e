"""The public API: one class that opens, updates and searches the index of a repository."""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from dowse import deadline
from dowse.config import (
    Clustering,
    Device,
    Diversify,
    Fusion,
    Fuzziness,
    Mode,
    Settings,
    VectorSearch,
    View,
    When,
    cache_folder,
    feedback_file,
    index_command,
    index_folder,
    load_settings,
    read_project_file,
)
from dowse.deadline import time_limit
from dowse.errors import DowseError, IndexDamaged, IndexOutdated
from dowse.index.contents import Contents
from dowse.index.graph import Graph
from dowse.index.internals import Internals
from dowse.index.part import rebuilds, remove_damage
from dowse.index.vectors import Vectors
from dowse.lazy_classes import replace
from dowse.progress import ProgressBar
from dowse.types import Note, SymbolRow

if TYPE_CHECKING:
    from dowse.answer import Answer
    from dowse.commit_search.search import CommitHit
    from dowse.encoders.encoder import Encoder
    from dowse.feedback.store import FeedbackStore
    from dowse.indexing.update import Progress, Report
    from dowse.search.lanes.jobs import LaneDispatcher
    from dowse.search.options import SearchRequest
    from dowse.search.related import Related
    from dowse.search.token_budget import ContextAnswer
    from dowse.source.tree_scanner import ScanResult
    from dowse.storage.protocol import Backend, Floats

# A search starts again when a new generation is committed; after so many attempts the lanes run in this
# process, on its own reader.
_MAX_RESTARTS = 3
# Symbols that are read to find those of some kinds.
_MAX_READ = 100_000
# Modes without meaning: nothing of an encoder is loaded.
_WORD_MODES = ("keyword", "symbol", "regex")

Patterns = str | Sequence[str]


class Index:
    """The index of a repository, a folder or a corpus of functions.

    >>> index = Index.open(".")          # doctest: +SKIP
    >>> index.update()                   # doctest: +SKIP
    >>> for hit in index.search("retry with backoff", k=5):  # doctest: +SKIP
    ...     print(hit.symbol.path, hit.symbol.start_line, hit.score)

    Structure is asked about in `graph`; `contents` lists files; `vectors` has the steps of embedding.
    `backend` and `internals` are for dowse's own interfaces.
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
        self._on_rebuild: Callable[[str], None] = lambda _: None
        self._revisions: dict[Path, Index] = {}  # by folder, the one used last is the last

    @classmethod
    def open(
        cls,
        path: str | Path = ".",
        *,
        index_dir: str | Path | None = None,
        backend: str | None = None,
        encoder: str | Path | None = None,
        exclude: Patterns | None = None,
        include_secrets: bool | None = None,
        max_file_bytes: int | None = None,
        strip_docs: bool | None = None,
        processes: int | None = None,
        view: View | None = None,
        vectors: VectorSearch | None = None,
        device: Device | None = None,
        threads: int | None = None,
        resident_minutes: float | None = None,
        adapter: bool | None = None,
        refresh: When | None = None,
        top_k: int | None = None,
        fuzziness: Fuzziness | None = None,
        fusion: Fusion | None = None,
        expand: bool | None = None,
        rerank: bool | None = None,
        reranker: str | Path | None = None,
        feedback: bool | None = None,
        diversify: Diversify | None = None,
        clustering: Clustering | None = None,
        lane_seconds: float | None = None,
        exact_seconds: float | None = None,
        query_seconds: float | None = None,
        isolation: When | None = None,
    ) -> Index:
        """Open the index of a repository; nothing is read or written before the first call.

        `path` is a repository or folder, a BEIR folder, or a `.jsonl[.gz]` file of functions. All else are
        settings (docs/SETTINGS.md); None takes that of the environment, the files, or the default.
        """
        # First of all, so that it holds the arguments alone.
        settings = {name: value for name, value in locals().items() if name not in ("cls", "path")}
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
        embed: bool = True,
        rebuild: bool = False,
        wait: float | None = None,
        on_progress: Callable[[Progress], None] | None = None,
        on_wait: Callable[[str], None] = lambda _: None,
        seen: ScanResult | None = None,
        defer_graph: bool = False,
        question: str = "",
    ) -> Report:
        """Update words, call graph and vectors: only files that changed are read again.

        Args:
            embed: Whether to encode symbols that have no vector; else a search encodes what it needs most.
            rebuild: Delete the old index first.
            wait: Seconds to wait for another writer; None waits as long as it takes.
            on_progress: Called after every file, then after every few hundred symbols (`Progress.unit`);
                None shows a bar in a terminal or a notebook.
            on_wait: Called once with a message if another writer holds the index.
            seen: The result of an earlier walk of the tree, or of a part of it; None walks it.
            defer_graph: Whether `graph.link` is to build the call graph, where that takes long.
            question: With `defer_graph`: read of a large new tree only what this is likely about. Answers
                then have the note `incomplete-index`, until another update reads the rest.
        """
        with ProgressBar(quiet=on_progress is not None) as bar:
            show = on_progress or bar.show

            def check(progress: Progress) -> None:
                deadline.check()  # of a caller that may be gone
                show(progress)

            report = self._update_words(rebuild, wait, check, on_wait, seen, defer_graph, question)
        if not embed or self.settings.encoder == "none":
            return report
        embedded = self.vectors.embed(wait=wait, on_progress=on_progress, on_wait=on_wait)
        return replace(report, embedding=embedded)

    def _update_words(
        self,
        rebuild: bool = False,
        wait: float | None = None,
        on_progress: Callable[[Progress], None] = lambda _: None,
        on_wait: Callable[[str], None] = lambda _: None,
        seen: ScanResult | None = None,
        defer_graph: bool = False,
        question: str = "",
    ) -> Report:
        """Update words and call graph, whoever waits for it."""
        from dowse.indexing.update import update

        if not self.is_shared and not self.backend.exists():
            from dowse.disk_use import remove_unused

            remove_unused()
        if rebuild:
            self.internals.lanes.close()
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
                    question=question,
                )
        except (IndexOutdated, IndexDamaged) as error:
            if rebuild or self.is_shared:
                raise
            rebuild = not isinstance(error, IndexDamaged) or remove_damage(self, error)
            return self._update_words(rebuild, wait, on_progress, on_wait, None, defer_graph, question)

    @property
    def graph(self) -> Graph:
        """Callers, callees, uses, implementers, subclasses, impact, paths."""
        return Graph(self)

    @property
    def contents(self) -> Contents:
        """Files and symbols, and how they differ from the tree."""
        return Contents(self)

    @property
    def vectors(self) -> Vectors:
        """The steps of embedding: `update` does them all."""
        return Vectors(self)

    @property
    def internals(self) -> Internals:
        """What dowse's own interfaces need beside; it may change any time."""
        return Internals(self)

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
            reading = open_commits(
                self.root, wait, max_unread, lambda done, total: on_read(Progress(done, total, "commits"))
            )
            with reading as store:
                if encoder is not None:
                    report = lambda done, total: on_progress(Progress(done, total, "commits"))  # noqa: E731
                    embed_commits(store, encoder, parsed.text, seconds, report)
                return search_commits(store, self.root, parsed, encoder, k)

        try:
            return find()
        except IndexDamaged as error:
            self._on_rebuild(f"{str(error).partition('; run ')[0]}; reading the commits again")
            return find()

    @rebuilds
    def related(self, target: str, k: int = 10) -> Related:
        """Return the symbols similar to one, named as `file.py:42`, `name` or `Class.method`."""
        from dowse.search.related import related
        from dowse.symbol_lookup import resolve

        if k <= 0:
            raise DowseError(f"`k` is a number of neighbours, not {k}")
        encoder = self._require_encoder()
        self.vectors.embed_briefly()
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
        *,
        embed: bool = True,
        lang: Patterns | None = None,
        path: Patterns | None = None,
        exclude: Patterns | None = None,
        kind: Patterns | None = None,
        filters: str | None = None,
        within: str | None = None,
        rows: Sequence[int] | None = None,
        plain: bool | None = None,
        explain: bool | None = None,
        min_score: float | None = None,
        rerank: bool | None = None,
        expand: bool | None = None,
        feedback: bool | None = None,
        fuzziness: Fuzziness | None = None,
        lanes: Patterns | None = None,
        fusion: Fusion | None = None,
        diversify: Diversify | None = None,
        clustering: Clustering | None = None,
        page_size: int | None = None,
    ) -> Answer:
        """Search the index; None takes a setting, or the default.

        Args:
            query: Words, identifiers, `"phrases"`, `/regexes/`, filters, or a question about structure
                such as "what calls X"; see docs/QUERY.md.
            k: How many hits; 0 means all hits of an exact search.
            mode: Which lanes answer; auto lets the planner choose.
            embed: Whether to embed first what is not yet: a few hundred symbols, in an index without any
                vector what takes five seconds. Else only the best candidates by words are encoded.
            lang: Only these languages.
            path: Only paths like these globs.
            exclude: No paths like these globs.
            kind: Only these kinds of symbols: function, method, class, …
            filters: More of the query language that must hold too, e.g. `lang:go -test`.
            within: Only this file, or what is below this folder.
            rows: Only these rows of the index.
            plain: Take the query as words: no filters, quotes or regexes.
            explain: Name every contribution to the scores, and the plan.
            min_score: Leave out weaker hits.
            rerank: Rerank the best hits with a cross-encoder.
            expand: Expand the query with terms of the best hits.
            feedback: Rank what was chosen for this query before higher.
            fuzziness: Edit distance within which words still match.
            lanes: These lanes instead of the planner's.
            fusion: How the rankings of lanes are fused.
            diversify: Keep similar hits apart.
            clustering: What clusters of hits go by.
            page_size: Hits that a reader sees together: `diversify="sample"` shares out so many.
        """
        # First of all, so that it holds the arguments alone.
        options = {name: value for name, value in locals().items() if name not in ("self", "query", "embed")}
        from dowse.search.options import SearchRequest, make_options

        request = SearchRequest(query, make_options(self.settings, **options))
        revision = self.internals.revision_in(query, request.options)
        if not revision:
            if embed and self._needs_vectors(request):
                self.vectors.embed_briefly(query)
            return self._noting_damage(self._answer(request))
        from dowse.source.git import head_commit

        other = self.internals.at_revision(revision)
        if not other.exists:
            other._update_words()
        answer = other._noting_damage(other._answer(request))
        note = Note("other", f"searched {revision}, commit {head_commit(other.root)[:12]}")
        return replace(answer, notes=(note, *answer.notes))

    def _needs_vectors(self, request: SearchRequest) -> bool:
        """Whether to embed something before a search: an encoder that is to be fetched is not waited for."""
        from dowse.search.forecast import likely_lanes

        is_ready = request.options.mode != "auto" or self._available_encoder() is not None
        return is_ready and "embedding" in likely_lanes(request) and self.vectors.is_wanted(request.options)

    @rebuilds
    def context(
        self, text: str, tokens: int = 8_000, *, within: str = "", embed: bool = True
    ) -> ContextAnswer:
        """Return the lines that matter for a question or an issue text, within a budget, merged by file.

        Args:
            text: The question, taken as words; a stack trace or a message in it is read as one.
            tokens: What the answer may cost, as `dowse.token_estimate` counts.
            within: Only this file, or what is below this folder.
            embed: Whether to embed first what is not yet, as `search` does.
        """
        from dowse.query.parser import has_conditions
        from dowse.search.token_budget import CANDIDATES, select_context

        plain = has_conditions(text)  # quotes in an issue, or `path:`, ask for nothing
        answer = self.search(text, CANDIDATES, plain=plain, embed=embed, within=within, feedback=False)
        with time_limit(self.settings.query_seconds), self.backend.reader() as reader:
            return select_context(reader, answer, tokens, within)

    def _noting_damage(self, answer: Answer) -> Answer:
        """Return an answer with a note if the index was damaged since the last one."""
        text, self._rebuilt = self._rebuilt, ""
        return replace(answer, notes=(*answer.notes, Note("other", text))) if text else answer

    @rebuilds
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
        attempts = (None,) if in_process else (*[self.internals.lanes] * _MAX_RESTARTS, None)
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
            self.internals.count_terms()
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

    def _available_encoder(self) -> Encoder | None:
        """Return the encoder if it is loaded or shipped: a keyword search must not wait for one."""
        from dowse.encoders.model_files import is_shipped

        return self.encoder if self._encoder or is_shipped(self.settings.encoder) else None

    @rebuilds
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

    def status(self) -> dict[str, Any]:
        """Return what is indexed, where, and how fresh it is, as plain data."""
        with self.backend.reader() as reader:
            meta, counts = reader.meta(), reader.counts()
            languages, known, corpus = reader.languages(), reader.fingerprints(), reader.is_corpus
            problems = len(reader.files_with_problems())
            embedded = reader.embedded_count(self.encoder.id) if self.encoder else 0
        changes = self.internals.as_built().contents.changes(exact=True)
        embedding = self.vectors.progress()
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
            "adapter": self.vectors._adapter_status(),
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
