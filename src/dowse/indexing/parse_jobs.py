"""The messages between the indexing process and its parser processes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from dowse.lazy_classes import NamedTuple
from dowse.types import DeferredFile, FileRecord, GraphPart

if TYPE_CHECKING:
    from dowse.source.corpus import CorpusFunction

# A file may grow between being listed and being read; what grew by more is read the next time.
GROWTH_BYTES = 1_000_000
# A reply holds the text of a file, its terms and its symbols; `max_file_bytes` is the user's to raise.
MAX_REPLY_BYTES = 1 << 32

# parsed: there are records; unchanged: the content has the known hash; skipped: not worth indexing, or a
# secret; unreadable: the system refused; crashed: no parser process survived it. These three say why.
# linked: there are links. extracted: there is a graph part. grammar: it needs one that is not extracted yet,
# and is named as the reason.
Status = Literal["parsed", "unchanged", "skipped", "unreadable", "crashed", "linked", "extracted", "grammar"]


class ParserSetup(NamedTuple):
    """The first message to a parser process."""

    seconds: float  # of wall time for a job
    # That it may read, with their identity: the right is for a folder, not for a path, and one that takes its
    # place needs another process.
    folders: tuple[tuple[str, tuple[int, int]], ...]


class Job(NamedTuple):
    """One file to read and parse."""

    key: str
    repo: str
    path: str
    role: str
    root: str
    file: str  # the path below the root, as the system names it
    size: int
    mtime_ns: int
    known_hash: str  # the file is unchanged if its content has this hash
    strip_docs: bool
    include_secrets: bool = False
    plain_reason: str = ""  # why it must not be parsed, only split into lines
    short_limits: bool = False  # too much time has gone into slow files
    is_deferred: bool = False  # only what words need; a `GraphJob` follows


class CorpusJob(NamedTuple):
    """Some functions of a corpus to parse, each with its text."""

    key: str
    functions: tuple[CorpusFunction, ...]
    strip_docs: bool
    plain_reason: str = ""
    short_limits: bool = False

    @property
    def size(self) -> int:
        """How much text there is to parse."""
        return sum(len(function.code) for function in self.functions)


class GraphJob(NamedTuple):
    """A stored file of which the graph part is to be made."""

    key: str  # of the run
    address: str  # of the catalog that has its text
    file: DeferredFile
    tree: str  # the name of the root folder


class LinkJob(NamedTuple):
    """Some files of an index to link."""

    key: str  # of the run: what was looked up for one job is kept for the others
    address: str  # where the graph can be read
    file_ids: tuple[int, ...]


class Reply(NamedTuple):
    """The result of a job."""

    key: str
    status: Status
    records: tuple[FileRecord, ...] = ()
    reason: str = ""
    # `FileLinks` as plain tuples, which are sent in a third of the time.
    links: tuple[tuple[int, list[tuple[Any, ...]], list[tuple[Any, ...]], set[int]], ...] = ()
    graph: GraphPart | None = None


AnyJob = Job | CorpusJob | GraphJob | LinkJob
