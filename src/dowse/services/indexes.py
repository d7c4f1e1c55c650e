"""The indexes of a server, each under a name, and their status."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from dowse.errors import DowseError
from dowse.index import Index
from dowse.lazy_classes import dataclass, replace
from dowse.query.languages import KINDS
from dowse.security.terminal import escape_surrogates
from dowse.services.errors import NotFound
from dowse.services.events import EventBroker, ProgressEvent
from dowse.services.symbol_names import NameCache
from dowse.version import __version__

# Feedback counts that are read, most chosen first.
_MAX_COUNTS = 2_000


class PastQueries:
    """The queries of one index that have feedback, and how often a hit of theirs was chosen."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._counts: Sequence[tuple[str, int]] = ()

    def cached(self) -> Sequence[tuple[str, int]]:
        """Return what was read last."""
        return self._counts

    def refresh(self) -> None:
        """Read them again, after feedback was recorded or deleted."""
        counts: dict[str, int] = {}
        try:
            for count in self._index.feedback.counts(limit=_MAX_COUNTS):
                counts[count.query] = counts.get(count.query, 0) + count.chosen
        except DowseError:  # then there is nothing to suggest; requests for feedback itself report the error
            counts = {}
        self._counts = [(query, chosen) for query, chosen in counts.items() if chosen]


@dataclass(frozen=True, slots=True)
class ServedIndex:
    """One index, and what the server caches of it."""

    name: str
    index: Index
    names: NameCache
    past_queries: PastQueries

    @classmethod
    def create(cls, name: str, index: Index) -> ServedIndex:
        """Serve an index under a name."""
        return cls(name, index, NameCache(index.backend), PastQueries(index))


class ServedIndexes:
    """Indexes by name, in their order on the command line."""

    def __init__(self, indexes: Iterable[ServedIndex]) -> None:
        self._by_name = {served.name: served for served in indexes}

    @classmethod
    def create(cls, indexes: Sequence[Index]) -> ServedIndexes:
        """Serve some indexes, each under the name of its folder."""
        names: list[str] = []
        for index in indexes:
            names.append(unique_name(_default_name(index), names))
        return cls(ServedIndex.create(name, index) for name, index in zip(names, indexes, strict=True))

    def __iter__(self) -> Iterator[ServedIndex]:
        return iter(self._by_name.values())

    def __len__(self) -> int:
        return len(self._by_name)

    def get(self, name: str) -> ServedIndex:
        """Return the index with a name."""
        served = self._by_name.get(name)
        if served is None:
            known = ", ".join(self._by_name)
            raise NotFound(f"there is no index {name!r} here; there are {known}")
        return served

    def select(self, name: str | None) -> list[ServedIndex]:
        """Return the index with a name, or all without one."""
        return [self.get(name)] if name else list(self)

    def close(self) -> None:
        """Close files, and end the processes of lanes."""
        for served in self:
            served.index.close()


def _default_name(index: Index) -> str:
    """Return the name of the folder, or of a shared index."""
    if index.is_shared:
        return index.settings.backend.partition("?")[0].rpartition("/")[2]
    return escape_surrogates(index.root.name) or "root"


def unique_name(wanted: str, taken: Collection[str]) -> str:
    """Return a name, with a number appended if it is taken."""
    name, number = wanted, 2
    while name in taken:
        name, number = f"{wanted}-{number}", number + 1
    return name


@dataclass(frozen=True, slots=True)
class Language:
    """The number of files in a language."""

    language: str  # "text" if unknown
    files: int


@dataclass(frozen=True, slots=True)
class Changes:
    """Files that differ from the index."""

    new: int = 0
    changed: int = 0
    deleted: int = 0


@dataclass(frozen=True, slots=True)
class BackgroundEmbedding:
    """The progress of the process that embeds after a command has answered."""

    done: int  # symbols, of those that had no vector at its start
    total: int
    seconds_left: float | None  # None if not known yet


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """The status of one index; counts are 0 until it exists."""

    name: str
    root: str
    progress: ProgressEvent
    kinds: tuple[str, ...] = tuple(KINDS)  # symbol kinds that `kind:` accepts
    repo: str = ""
    commit: str = ""
    exists: bool = False
    problem: str = ""  # why it can't be read
    generation: int = 0
    indexed_at: int = 0  # seconds since 1970
    files: int = 0
    symbols: int = 0
    source_bytes: int = 0
    index_bytes: int = 0
    encoder: str = ""
    embedded: int = 0
    embedding: BackgroundEmbedding | None = None  # None if no such process runs
    skipped: int = 0
    problems: int = 0  # files that were read only partly
    languages: tuple[Language, ...] = ()  # most files first
    corpus: bool = False  # of functions, without files that could change
    changes: Changes = Changes()


@dataclass(frozen=True, slots=True)
class Status:
    """The status of a server."""

    dowse: str
    feedback: bool  # whether feedback is recorded and affects rankings
    encoder: str  # of the first index; "" without one
    indexes: tuple[IndexStatus, ...]


# Fields of an index's own status that are the same in that of a server.
_COPIED = (
    *("repo", "commit", "generation", "indexed_at", "files", "symbols", "source_bytes", "index_bytes"),
    *("encoder", "embedded", "skipped", "problems", "corpus"),
)


def index_status(served: ServedIndex, broker: EventBroker) -> IndexStatus:
    """Return the status of one index."""
    index = served.index
    missing = IndexStatus(served.name, escape_surrogates(str(index.root)), broker.latest(served.name))
    try:
        facts = index.status() if index.exists else None
    except DowseError as error:
        return replace(missing, problem=str(error))
    if facts is None:
        return missing
    languages = sorted(facts["languages"].items(), key=lambda each: (-each[1], each[0]))
    return replace(
        missing,
        exists=True,
        embedding=_embedding(facts["embedding"]),
        languages=tuple(Language(name or "text", count) for name, count in languages),
        changes=Changes(**facts["changes"]),
        **{name: facts[name] for name in _COPIED},
    )


def _embedding(facts: Mapping[str, Any] | None) -> BackgroundEmbedding | None:
    return BackgroundEmbedding(facts["done"], facts["total"], facts["seconds_left"]) if facts else None


def server_status(indexes: Sequence[IndexStatus], *, feedback: bool) -> Status:
    """Return the status of a server, given that of its indexes."""
    encoder = next((each.encoder for each in indexes if each.encoder), "")
    return Status(__version__, feedback, encoder, tuple(indexes))
