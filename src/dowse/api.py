"""The library's face: one class that opens, updates and searches the index of a place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from dowse.config import (
    FUZZINESS,
    MODES,
    Settings,
    cache_folder,
    index_command,
    index_folder,
    load_settings,
)
from dowse.errors import DowseError
from dowse.types import Answer, StoredFile, Symbol, SymbolRow

if TYPE_CHECKING:
    from dowse.backends.local import LocalBackend
    from dowse.encode.encoder import Encoder
    from dowse.index.difference import Difference
    from dowse.index.embed import EmbedReport
    from dowse.index.update import Progress, Report
    from dowse.related import Related

# Trees up to this many files are walked before each search (a few milliseconds per thousand); in
# larger ones only `dowse index` looks for changes.
REFRESH_FILES = 5_000
# More changes than this are left to `dowse index`: a search should not become an indexing run.
REFRESH_CHANGES = 200
# A search by meaning embeds what is new before it answers, for so long; so many take only a moment.
QUICK_SECONDS = 5.0
QUICK_SYMBOLS = 300


class Index:
    """The index of a repository, a folder or a corpus of functions.

    >>> index = Index.open(".")          # doctest: +SKIP
    >>> index.update()                   # doctest: +SKIP
    >>> for hit in index.search("retry with backoff", k=5):  # doctest: +SKIP
    ...     print(hit.symbol.path, hit.symbol.start_line, hit.score)
    """

    def __init__(self, root: Path, settings: Settings, backend: LocalBackend) -> None:
        self.root = root
        self.settings = settings
        self.backend = backend
        self._encoder: Encoder | None = None

    @classmethod
    def open(cls, path: str | Path = ".", **settings: object) -> Index:
        """Name a place; nothing is read or written before the first call.

        Args:
            path: A repository or folder, a BEIR folder, or a `.jsonl[.gz]` file of functions.
            **settings: Any field of `Settings`, e.g. `index_dir="…"`, `strip_docs=True`.
        """
        from dowse.backends.local import LocalBackend

        root = Path(path).expanduser().resolve()
        if not root.exists():
            raise DowseError(f"{path} does not exist")
        loaded = load_settings(root, **settings)
        return cls(root, loaded, LocalBackend(index_folder(root, loaded)))

    def __enter__(self) -> Index:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of open files."""
        self.backend.close()

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
    ) -> Report:
        """Bring the index up to date with the files; only what changed is read again.

        Args:
            rebuild: Throw the old index away first.
            wait: Seconds to wait for another writer; None waits as long as it takes.
            on_progress: Called after every file.
            on_wait: Called once with a message if another writer holds the index.
        """
        from dowse.index.update import update

        if rebuild and self.backend.folder.exists():
            self.backend.clear(wait, on_wait)
        return update(
            self.backend, self.root, self.settings, on_progress=on_progress, on_wait=on_wait, wait=wait
        )

    @property
    def encoder(self) -> Encoder | None:
        """What makes vectors, None if the setting is "none"; its weights are read when first needed."""
        if self._encoder is None and self.settings.encoder != "none":
            from dowse.encode.models import load

            settings = self.settings
            self._encoder = load(settings.encoder, settings.view, settings.device, settings.threads)
        return self._encoder

    def embed(
        self,
        *,
        seconds: float | None = None,
        wait: float | None = None,
        on_progress: Callable[[Progress], None] = lambda _: None,
        on_wait: Callable[[str], None] = lambda _: None,
    ) -> EmbedReport:
        """Give every symbol that has none its vector; can be cut short, and then goes on where it was.

        Args:
            seconds: Stop soon after this long; None goes on to the end.
            wait: Seconds to wait for another process that embeds; None waits as long as it takes.
            on_progress: Called after every few hundred symbols.
            on_wait: Called once with a message if another process is at it.
        """
        from dowse.index.embed import embed
        from dowse.vectors.cache import VectorCache

        encoder = self._wanted_encoder()
        with VectorCache(cache_folder() / "vectors", encoder.id, encoder.dimension) as cache:
            return embed(
                self.backend,
                encoder,
                cache,
                clusters=self.settings.clusters,
                method=self.settings.vectors,
                seconds=seconds,
                wait=wait,
                on_progress=on_progress,
                on_wait=on_wait,
            )

    def unembedded(self) -> int:
        """Return how many symbols still have no vector."""
        encoder = self.encoder
        if encoder is None:
            return 0
        with self.backend.reader() as reader:
            return reader.symbol_count() - reader.embedded(encoder.id)

    def related(self, target: str, k: int = 10) -> Related:
        """Return what is like a symbol, named as `file.py:42`, `name` or `Class.method`."""
        from dowse.naming import resolve
        from dowse.related import related

        _check(k > 0, f"`k` is a number of neighbours, not {k}")
        encoder = self._wanted_encoder()
        target = target.removeprefix(f"{self.root}/")
        with self.backend.reader() as reader:
            return related(reader, encoder.id, resolve(reader, target), k, self.settings.vectors)

    def _wanted_encoder(self) -> Encoder:
        encoder = self.encoder
        if encoder is None:
            raise DowseError("there is no encoder; set `encoder`, e.g. to base")
        return encoder

    def search(
        self,
        query: str,
        k: int | None = None,
        mode: str = "auto",
        *,
        filters: str = "",
        explain: bool = False,
        fuzziness: str | None = None,
        min_score: float = 0.0,
    ) -> Answer:
        """Search the index as it is.

        Args:
            query: Words, identifiers, `"phrases"`, `/regexes/` and filters; see docs/QUERY.md.
            k: How many hits; 0 means all of an exact search.
            mode: auto, keyword, embedding, regex or symbol.
            filters: More of the query language that must hold too, e.g. `lang:go -path:vendor/**`.
            explain: Break the keyword score of every hit into fields and terms.
            fuzziness: auto, 0, 1 or 2; None takes the setting.
            min_score: Leave out hits below this score.
        """
        from dowse.engine import search

        _check(mode in MODES, f"`mode` is one of {', '.join(MODES)}, not {mode!r}")
        _check(k is None or k >= 0, f"`k` is a number of hits or 0 for all, not {k}")
        _check(
            fuzziness in (None, *FUZZINESS),
            f"`fuzziness` is one of {', '.join(FUZZINESS)}, not {fuzziness!r}",
        )
        with self.backend.reader() as reader:
            return search(
                reader,
                query,
                self.settings,
                k=self.settings.top_k if k is None else k,
                mode=mode,
                filters=filters,
                explain=explain,
                fuzziness=fuzziness,
                min_score=min_score,
                encoder=self.encoder if mode == "embedding" else self._known_encoder(),
            )

    def _known_encoder(self) -> Encoder | None:
        """Return the encoder if it is at hand: a search by words must not wait for one, nor fail with one."""
        from dowse.encode.models import is_shipped

        return self.encoder if self._encoder or is_shipped(self.settings.encoder) else None

    def symbols(self, pattern: str = "*", limit: int = 100) -> list[SymbolRow]:
        """Return the symbols whose name or qualified name matches a pattern with `*` and `?`."""
        with self.backend.reader() as reader:
            return reader.lookup(pattern, limit)

    def symbol(self, row: SymbolRow) -> Symbol:
        """Return a symbol with its text."""
        with self.backend.reader() as reader:
            return reader.symbols([row])[0]

    def status(self) -> dict[str, Any]:
        """Return what is indexed, where, and how fresh it is, as plain data."""
        with self.backend.reader() as reader:
            meta, counts = reader.meta(), reader.counts()
            languages, files, corpus = reader.languages(), reader.files(), reader.is_corpus
            embedded = reader.embedded(self.encoder.id) if self.encoder else 0
        changes = self.as_built().changes(exact=True)
        known = {file.path for file in files}
        return {
            "root": str(self.root),
            "repo": meta.get("repo", ""),
            "commit": meta.get("commit", ""),
            "index": str(self.backend.folder),
            "index_bytes": self.backend.size(),
            "generation": int(meta["generation"]),
            "indexed_at": int(meta.get("indexed_at", 0)),
            "files": counts["files"],
            "symbols": counts["symbols"],
            "encoder": self.encoder.id if self.encoder else "",
            "embedded": embedded,
            "finish": index_command(self.settings),
            "source_bytes": counts["bytes"],
            "skipped": counts["skipped"],
            "problems": sum(1 for file in files if file.problem),
            "languages": languages,
            "strip_docs": meta.get("strip_docs") == "1",
            "writer": self.backend.busy(),
            "corpus": corpus,  # then nothing is known of changes
            "changes": {
                "new": sum(job.key not in known for job in changes.jobs),
                "changed": sum(job.key in known for job in changes.jobs),
                "deleted": len(changes.deleted),
            },
        }

    def file_count(self) -> int:
        """Return how many files the index holds."""
        with self.backend.reader() as reader:
            return reader.counts()["files"]

    def files(self) -> list[StoredFile]:
        """Return every file of the index."""
        with self.backend.reader() as reader:
            return reader.files()

    def skipped(self) -> list[tuple[str, str]]:
        """Return what is left out, and why."""
        with self.backend.reader() as reader:
            return reader.skipped()

    def as_built(self) -> Index:
        """Return the same index with the settings it was built with, to keep it as it is."""
        with self.backend.reader() as reader:
            meta = reader.meta()
        exclude = tuple(line for line in meta.get("exclude", "").split("\n") if line)
        settings = replace(self.settings, exclude=exclude, strip_docs=meta.get("strip_docs") == "1")
        return Index(self.root, settings, self.backend)

    def changes(self, *, exact: bool = False) -> Difference:
        """Compare the files with the index without changing it.

        Args:
            exact: Read the files whose time alone is new or can't be trusted, and leave out those whose
                content is the same.
        """
        from dowse.index.difference import Difference, difference, without_same
        from dowse.source.corpus import is_corpus

        if is_corpus(self.root):
            return Difference()  # a corpus is compared by content, which only an update reads
        with self.backend.reader() as reader:
            found = difference(self.root, reader, self.settings)
        return without_same(found) if exact else found


def _check(holds: bool, message: str) -> None:
    if not holds:
        raise DowseError(message)
