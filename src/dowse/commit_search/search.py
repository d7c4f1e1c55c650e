"""Finds commits: hybrid of BM25 over messages and changes, and the encoder's view of the message."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from dowse.commit_search.filters import CommitQuery
from dowse.commit_search.store import VIEWS, CommitStore, StoredCommit, View, remove_commits
from dowse.config import cache_folder
from dowse.damage import CATALOG_ERRORS, READ_ERRORS, translate_errors
from dowse.errors import DowseError, HistoryUnread, IndexDamaged, NoHistory
from dowse.history.commits import changed_symbols
from dowse.history.line_history import commits_of_symbol, commits_with_changed_name
from dowse.history.log import open_blobs, read_commits
from dowse.history.messages import list_commits, read_messages
from dowse.history.subjects import clean_subject
from dowse.json_form import json_form
from dowse.lazy_classes import dataclass, replace
from dowse.parsing.tokenizer import tokenize_query
from dowse.runtime_paths import digest
from dowse.source.git import read_head
from dowse.source.git_process import GitError, GitMissing, SandboxedGit, open_sandboxed_git
from dowse.source.revisions import GitFolder, find_git_folder
from dowse.source.walk import MAX_FILE_BYTES
from dowse.vectors.cache import VectorCache
from dowse.write_lock import write_lock

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray

    from dowse.encoders.encoder import Encoder

# Of the whole message beside the subject, and of words, as a share of the best match by words. Chosen on
# commits asked for without the words of their messages.
MESSAGE_WEIGHT, WORDS_WEIGHT = 0.5, 0.3
# A message is encoded up to here: the encoder reads no more.
_MAX_MESSAGE = 600
# Commits whose messages are encoded: the best ones by subject and words.
_CANDIDATES = 200
_CHUNK = 512
# Commits that one git process reads, and how many processes do: each batch is kept, whatever ends the next.
_BATCH, _READERS = 200, min(4, os.cpu_count() or 1)
# Of so many commits of an answer the changed definitions are found, in so many files of each.
_MAX_LISTED, _MAX_LISTED_FILES = 20, 20


@json_form(inline=("commit",))
@dataclass(frozen=True, slots=True)
class CommitHit:
    """A commit that was found."""

    commit: StoredCommit
    score: float


@contextmanager
def open_commits(
    root: Path,
    wait: float | None = None,
    max_unread: int | None = None,
    on_progress: Callable[[int, int], None] = lambda *_: None,
) -> Iterator[CommitStore]:
    """Open the catalog of the repository that a folder is in; commits that are new are read, newest first.

    Raises:
        IndexLocked: Another process still reads them after `wait` seconds.
        HistoryUnread: More than `max_unread` are new; none is read.
        NoHistory: There are none.
        IndexDamaged: The catalog was damaged and is removed: the next call reads all commits again.
    """
    try:
        git_folder = find_git_folder(root)
    except DowseError as error:
        raise NoHistory(f"{root} is in no git repository; only these have commits") from error
    folder = cache_folder() / "histories" / digest(git_folder.common)
    try:
        with translate_errors(folder, *CATALOG_ERRORS, *READ_ERRORS, what="catalog of commits"):
            with write_lock(folder, wait, lambda _: None):
                store = CommitStore(folder, git_folder.prefix)
                try:
                    _update(store, git_folder, max_unread, on_progress)
                except BaseException:
                    store.close()
                    raise
            try:
                yield store
            finally:
                store.close()
    except IndexDamaged:
        with write_lock(folder, wait, lambda _: None):
            remove_commits(folder)
        raise


def _update(
    store: CommitStore,
    folder: GitFolder,
    max_unread: int | None,
    on_progress: Callable[[int, int], None],
) -> None:
    head = read_head(folder.directory, folder.common)
    if not head:
        raise NoHistory("there are no commits here yet; commit something first")
    if store.head == head:
        return
    if Path(folder.common, "shallow").exists():
        raise NoHistory("this is a shallow clone, without history; run `git fetch --unshallow` in it")
    with _open_git(folder) as git:
        known, present = store.ids(), list(list_commits(git))
        is_rewritten = not known <= set(present)  # or another branch: its commits would stay for ever
        unread = present if is_rewritten else [each for each in present if each not in known]
        if max_unread is not None and len(unread) > max_unread:
            raise HistoryUnread(f"{len(unread):,} commits are not read yet; `dowse log` reads them")
        if is_rewritten:
            store.clear()
        _read(store, git, unread, on_progress)
        store.set_head(head)


def _read(
    store: CommitStore, git: SandboxedGit, unread: Sequence[str], on_progress: Callable[[int, int], None]
) -> None:
    """Add commits to the catalog; they are read in parallel, and each batch is kept."""
    batches = [unread[start : start + _BATCH] for start in range(0, len(unread), _BATCH)]
    done = 0
    with ThreadPoolExecutor(_READERS) as pool:
        for start in range(0, len(batches), _READERS):  # so few are in memory at once
            for messages in pool.map(partial(read_messages, git), batches[start : start + _READERS]):
                store.add(messages)
                done += len(messages)
                on_progress(done, len(unread))


@contextmanager
def _open_git(folder: GitFolder) -> Iterator[SandboxedGit]:
    head = read_head(folder.directory, folder.common)
    try:
        with open_sandboxed_git(folder.common, head, MAX_FILE_BYTES) as git:
            yield git
    except GitMissing:
        raise
    except GitError as error:
        raise NoHistory(f"git could not read the history ({error}); `git fsck` may tell more") from error


def embed_commits(
    store: CommitStore,
    encoder: Encoder,
    text: str,
    seconds: float | None = None,
    on_progress: Callable[[int, int], None] = lambda *_: None,
) -> None:
    """Encode the subjects that have no vectors, newest first, and the messages of the best commits.

    A message takes six times as long as a subject, so that of other commits it is not encoded.

    Args:
        store: The catalog.
        encoder: The encoder.
        text: The question.
        seconds: Stop encoding subjects soon after so long; each chunk is kept.
        on_progress: Called after each chunk.
    """
    missing = store.rows_without_vector(encoder.id, "subject")
    started = time.monotonic()
    for start in range(0, len(missing), _CHUNK):
        if seconds is not None and time.monotonic() - started > seconds:
            break
        rows = missing[start : start + _CHUNK]
        subjects = [clean_subject(each.subject) or each.subject for each in store.commits(rows)]
        store.put_vectors(encoder.id, "subject", rows, _encode(encoder, subjects))
        on_progress(start + len(rows), len(missing))
    scores = _scores(store, text, encoder)
    best = sorted(scores, key=lambda row: -scores[row])[:_CANDIDATES]
    new = set(store.rows_without_vector(encoder.id, "message"))
    commits = [each for each in store.commits(best) if each.row in new]
    if commits:
        messages = [f"{each.subject}. {each.body}"[:_MAX_MESSAGE] for each in commits]
        store.put_vectors(encoder.id, "message", [each.row for each in commits], _encode(encoder, messages))


def _encode(encoder: Encoder, texts: Sequence[str]) -> NDArray[np.float32]:
    """Return the vectors of texts as queries, from the cache where it has them."""
    import numpy as np

    keys = [hashlib.blake2b(f"query\0{text}".encode(), digest_size=16).digest() for text in texts]
    with VectorCache(cache_folder() / "vectors", encoder.id, encoder.dimension) as cache:
        known = cache.get_many(list(dict.fromkeys(keys)))
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if new:
            made = encoder.encode_queries(list(new.values()))
            cache.put_many(list(new), made)
            known |= dict(zip(new, made, strict=True))
    return np.stack([known[key] for key in keys])


def search_commits(
    store: CommitStore, root: Path, query: CommitQuery, encoder: Encoder | None, k: int
) -> list[CommitHit]:
    """Return the best commits that meet the filters, with what they changed; without words the newest."""
    if not query.text and not query.has_filters:
        raise DowseError("say what to look for among the commits, or filter: author:, since:, path:")
    allowed = None
    if query.has_filters or store.prefix:
        changed = _commits_of_symbols(store, root, query) if query.symbols else None
        allowed = {
            each.row: each
            for each in map(partial(_only_below, store.prefix), store.commits())
            if (each.paths or not store.prefix)
            and (changed is None or each.id in changed)
            and query.allows(each.author, each.time, each.paths)
        }
    if allowed is not None and not query.text:
        newest = sorted(allowed.values(), key=lambda each: -each.time)[:k]
        return _with_symbols([CommitHit(each, 0.0) for each in newest], root, store.prefix)
    scores = _scores(store, query.text, encoder)
    rows = [row for row in scores if allowed is None or row in allowed]
    best = sorted(rows, key=lambda row: (-scores[row], -row))[:k]
    hits = [CommitHit(_only_below(store.prefix, each), scores[each.row]) for each in store.commits(best)]
    return _with_symbols(hits, root, store.prefix)


def _commits_of_symbols(store: CommitStore, root: Path, query: CommitQuery) -> set[str]:
    """Return the ids of the commits that changed one of the symbols of a query.

    Of a name that HEAD does not define, commits that changed a line that may define it.
    """
    found: set[str] = set()
    with _open_git(find_git_folder(root)) as git:
        for name in query.symbols:
            ids = commits_of_symbol(
                git, name, lambda path: path.startswith(store.prefix) and query.has_path(path)
            )
            if ids is None:
                rows = store.search_words(tokenize_query(name))
                word = name.replace("::", ".").rpartition(".")[2]
                ids = commits_with_changed_name(git, word, [each.id for each in store.commits(list(rows))])
            found |= ids
    return found


def _with_symbols(hits: list[CommitHit], root: Path, prefix: str) -> list[CommitHit]:
    """Add the definitions that commits changed to the first hits."""
    listed = hits[:_MAX_LISTED]
    if not listed:
        return hits
    with _open_git(find_git_folder(root)) as git, open_blobs(git) as blobs:
        for number, commit in enumerate(read_commits(git, [hit.commit.id for hit in listed])):
            symbols: dict[str, None] = {}
            changes = [each for each in commit.changes if each.blob and each.path.startswith(prefix)]
            for change in changes[:_MAX_LISTED_FILES]:
                data = blobs.read(change.blob) if change.hunks else None
                names = changed_symbols(data, change.path, change.hunks) if data else []
                symbols |= dict.fromkeys(names)
            hit = listed[number]
            listed[number] = replace(hit, commit=hit.commit._replace(symbols=tuple(symbols)))
    return [*listed, *hits[_MAX_LISTED:]]


def _only_below(prefix: str, commit: StoredCommit) -> StoredCommit:
    """Return a commit without the paths outside of a folder."""
    if not prefix:
        return commit
    return commit._replace(paths=[path for path in commit.paths if path.startswith(prefix)])


def _scores(store: CommitStore, text: str, encoder: Encoder | None) -> dict[int, float]:
    """Return the score of each commit: cosines of subject and message, and BM25."""
    words = store.search_words(tokenize_query(text))
    highest = max(words.values(), default=0.0) or 1.0
    by_words = {row: value / highest for row, value in words.items()}
    if encoder is None:
        return by_words
    question = encoder.encode_queries([text])[0]
    cosines: dict[View, dict[int, float]] = {}
    for view in VIEWS:
        rows, vectors = store.vectors(encoder.id, view, encoder.dimension)
        cosines[view] = dict(zip(rows, (vectors @ question).tolist(), strict=True))
    scores = {
        row: cosine + MESSAGE_WEIGHT * cosines["message"].get(row, cosine)
        for row, cosine in cosines["subject"].items()
    }
    for row, value in by_words.items():
        scores[row] = scores.get(row, 0.0) + WORDS_WEIGHT * value
    return scores
