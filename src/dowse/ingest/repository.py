"""The unit of work: index one repository, folder or corpus, with its vectors."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, cast

from dowse.config import cache_folder
from dowse.errors import DowseError
from dowse.index import Index
from dowse.indexing.embed import embed
from dowse.indexing.update import Report, update
from dowse.ingest.encoding import (
    BATCH,
    DistributedEncoder,
    EncoderSpec,
    EncodingBackend,
    OnCount,
    VectorProvider,
)
from dowse.lazy_classes import NamedTuple, dataclass, field, replace
from dowse.source.corpus import is_corpus
from dowse.source.git import repo_identity
from dowse.storage.elastic.address import API_KEY, PASSWORD
from dowse.storage.open import is_cluster
from dowse.vectors.cache import VectorCache

if TYPE_CHECKING:
    from dowse.ingest.encoding import Dispatch
    from dowse.storage.elastic.backend import ElasticBackend
    from dowse.storage.protocol import Backend

# Folders of one machine: every worker has its own.
_LOCAL_VARIABLES = frozenset(["DOWSE_CACHE_DIR", "DOWSE_DATA_DIR", "DOWSE_CONFIG", "DOWSE_INDEX_DIR"])
# Arguments of tasks are stored in Ray's memory, and a cluster may write them to disk. Workers inherit secrets
# from the process that starts Ray, or read files that `…_FILE` names.
_SECRETS = frozenset([API_KEY, PASSWORD])
_PREFIX = "DOWSE_"
# Symbols that are encoded between two commits where many workers encode.
DISPATCH_CHUNK = 8 * BATCH

Status = Literal["done", "unchanged", "failed"]
DONE: Status = "done"
UNCHANGED: Status = "unchanged"
FAILED: Status = "failed"


@dataclass(frozen=True, slots=True)
class IngestOptions:
    """How every repository is indexed."""

    flags: Mapping[str, Any]  # settings given on the command line
    embed: bool = True
    rebuild: bool = False
    wait: float | None = None
    # Settings of the scheduler's process, without credentials. They travel with the options: Ray writes the
    # environment that it sets up for workers (`runtime_env`) to its logs.
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)


class Counts(NamedTuple):
    """Files and symbols that were put so far."""

    files: int = 0
    symbols: int = 0


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of indexing one repository."""

    path: str
    status: Status
    problem: str = ""
    repo: str = ""
    added: int = 0
    changed: int = 0
    deleted: int = 0
    files: int = 0  # that were read
    symbols: int = 0
    encoded: int = 0
    seconds: float = 0.0


def worker_environment() -> dict[str, str]:
    """Return the environment variables of this process that workers need."""
    return {
        name: value
        for name, value in os.environ.items()
        if name.startswith(_PREFIX) and name not in _LOCAL_VARIABLES | _SECRETS and value
    }


def index_repository(
    path: str,
    options: IngestOptions,
    *,
    dispatch: Dispatch | None = None,
    on_count: OnCount = lambda _, __: None,
) -> Outcome:
    """Bring one repository up to date; errors are part of the outcome, because others follow.

    Args:
        path: The repository.
        options: How to index it.
        dispatch: Encodes on other workers.
        on_count: Called with the number of files and symbols that were put.
    """
    started = time.monotonic()
    try:
        outcome = _index(path, options, dispatch, on_count)
    except DowseError as error:
        outcome = Outcome(path, FAILED, str(error))
    except Exception as error:  # whatever it is, it concerns this repository alone
        outcome = Outcome(path, FAILED, f"{type(error).__name__}: {error}".partition("\n")[0])
    return replace(outcome, seconds=round(time.monotonic() - started, 3))


def _index(path: str, options: IngestOptions, dispatch: Dispatch | None, on_count: OnCount) -> Outcome:
    with Index.open(path, **options.flags) as index:
        repo, settings = repo_identity(index.root), index.settings
        encoder = None
        if options.embed and settings.encoder != "none":
            encoder = DistributedEncoder(EncoderSpec.from_settings(settings), dispatch)
        if not options.rebuild and _is_unchanged(index, encoder):
            return Outcome(path, UNCHANGED, repo=repo)
        if options.rebuild:
            index.backend.start_over(options.wait)
        counts = Counts()

        def count(files: int, symbols: int) -> None:
            nonlocal counts
            counts = Counts(files, symbols)
            on_count(files, symbols)

        report, encoded = _update(index, options, encoder, count)
        status = DONE if report.wrote or encoded else UNCHANGED
        changes = (report.added, report.changed, report.deleted)
        return Outcome(path, status, "", repo, *changes, *counts, encoded=encoded)


def _update(
    index: Index, options: IngestOptions, encoder: DistributedEncoder | None, on_count: OnCount
) -> tuple[Report, int]:
    """Index what changed; vectors are sent along to a cluster, and added to a folder afterwards."""

    def run(vectors: VectorProvider | None = None) -> Report:
        # `update` uses only the writing side of a backend.
        backend = cast("Backend", EncodingBackend(index.backend, on_count, vectors))
        return update(backend, index.root, settings, wait=options.wait)

    settings = index.settings
    if encoder is None:
        return run(), 0
    with VectorCache(cache_folder() / "vectors", encoder.id, encoder.dimension) as cache:
        if is_cluster(settings.backend):
            vectors = VectorProvider(encoder, cache, cast("ElasticBackend", index.backend))
            return run(vectors), vectors.encoded
        report = run()
        embedded = embed(
            *(index.backend, encoder, cache),
            method=settings.vectors,
            wait=options.wait,
            chunk=DISPATCH_CHUNK,
        )
        return report, embedded.encoded


def _is_unchanged(index: Index, encoder: DistributedEncoder | None) -> bool:
    """Whether the index of a tree is up to date: sizes and times are compared, nothing is parsed."""
    if not index.exists or is_corpus(index.root):  # a corpus is compared by `update`
        return False
    with index.backend.reader() as reader:
        meta = reader.meta()
        if "root" not in meta or meta.get("complete") != "1":
            return False
        if encoder is not None and reader.embedded_count(encoder.id) < reader.counts()["symbols"]:
            return False
    return not index.contents.changes(exact=True).count
