"""Finds commits: hybrid of BM25 over messages and changes, and the encoder's view of the message."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from dowse.commit_search.filters import CommitQuery
from dowse.commit_search.store import CommitStore, StoredCommit, remove_commits
from dowse.config import cache_folder
from dowse.damage import CATALOG_ERRORS, READ_ERRORS, translate_errors
from dowse.errors import DowseError, HistoryUnread, IndexDamaged, NoHistory
from dowse.history.messages import list_commits, read_messages
from dowse.history.subjects import clean_subject
from dowse.json_form import json_form
from dowse.parsing.tokenizer import tokenize_query
from dowse.runtime_paths import digest
from dowse.source.git import read_head
from dowse.source.git_process import GitError, GitMissing, open_sandboxed_git
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
_VIEWS = 2
_CHUNK = 512


@json_form(inline=("commit",))
@dataclass(frozen=True, slots=True)
class CommitHit:
    """A commit that was found."""

    commit: StoredCommit
    score: float


@contextmanager
def open_commits(
    root: Path, wait: float | None = None, max_unread: int | None = None
) -> Iterator[CommitStore]:
    """Open the catalog of the repository that a folder is in; commits that are new are read.

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
        with (
            translate_errors(folder, *CATALOG_ERRORS, *READ_ERRORS, what="catalog of commits"),
            _open_store(folder, git_folder, wait, max_unread) as store,
        ):
            yield store
    except IndexDamaged:
        with write_lock(folder, wait, lambda _: None):
            remove_commits(folder)
        raise


@contextmanager
def _open_store(
    folder: Path, git_folder: GitFolder, wait: float | None, max_unread: int | None
) -> Iterator[CommitStore]:
    with write_lock(folder, wait, lambda _: None):
        store = CommitStore(folder, git_folder.prefix)
        try:
            _update(store, git_folder, max_unread)
        except BaseException:
            store.close()
            raise
    try:
        yield store
    finally:
        store.close()


def _update(store: CommitStore, folder: GitFolder, max_unread: int | None) -> None:
    head = read_head(folder.directory, folder.common)
    if not head:
        raise NoHistory("there are no commits here yet; commit something first")
    if store.head == head:
        return
    if Path(folder.common, "shallow").exists():
        raise NoHistory("this is a shallow clone, without history; run `git fetch --unshallow` in it")
    try:
        with open_sandboxed_git(folder.common, head, MAX_FILE_BYTES) as git:
            known, present = {commit.id for commit in store.commits()}, set(list_commits(git))
            is_rewritten = not known <= present  # or another branch: its commits would stay for ever
            unread = len(present if is_rewritten else present - known)
            if max_unread is not None and unread > max_unread:
                raise HistoryUnread(f"{unread:,} commits are not read yet; `dowse log` reads them")
            if is_rewritten:
                store.clear()
            store.add(read_messages(git, store.head), head)
    except GitMissing:
        raise
    except GitError as error:
        raise NoHistory(f"git could not read the history ({error}); `git fsck` may tell more") from error


def embed_commits(
    store: CommitStore,
    encoder: Encoder,
    seconds: float | None = None,
    on_progress: Callable[[int, int], None] = lambda *_: None,
) -> None:
    """Encode the commits that have no vectors, newest first, for so many seconds; each chunk is kept."""
    missing = store.rows_without_vector(encoder.id)
    started = time.monotonic()
    for start in range(0, len(missing), _CHUNK):
        if seconds is not None and time.monotonic() - started > seconds:
            return
        rows = missing[start : start + _CHUNK]
        texts = [text for commit in store.commits(rows) for text in _views(commit)]
        store.put_vectors(encoder.id, rows, _encode(encoder, texts).reshape(len(rows), _VIEWS, -1))
        on_progress(start + len(rows), len(missing))


def _views(commit: StoredCommit) -> tuple[str, str]:
    """Return what the encoder reads of a commit: the cleaned subject, and the message."""
    subject = clean_subject(commit.subject) or commit.subject
    return subject, f"{commit.subject}. {commit.body}"[:_MAX_MESSAGE]


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
    store: CommitStore, query: CommitQuery, encoder: Encoder | None, k: int
) -> list[CommitHit]:
    """Return the best commits that meet the filters; without words the newest."""
    if not query.text and not query.has_filters:
        raise DowseError("say what to look for among the commits, or filter: author:, since:, path:")
    allowed = None
    if query.has_filters or store.prefix:
        allowed = {
            each.row: each
            for each in map(partial(_only_below, store.prefix), store.commits())
            if (each.paths or not store.prefix)
            and query.allows(each.author, each.time, each.paths, each.symbols)
        }
    if allowed is not None and not query.text:
        newest = sorted(allowed.values(), key=lambda each: -each.time)[:k]
        return [CommitHit(each, 0.0) for each in newest]
    scores = _scores(store, query.text, encoder)
    rows = [row for row in scores if allowed is None or row in allowed]
    best = sorted(rows, key=lambda row: (-scores[row], -row))[:k]
    return [
        CommitHit(_only_below(store.prefix, commit), scores[commit.row]) for commit in store.commits(best)
    ]


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
    rows, vectors = store.vectors(encoder.id, _VIEWS, encoder.dimension)
    question = encoder.encode_queries([text])[0]
    cosines = vectors @ question
    scores = dict(zip(rows, (cosines[:, 0] + MESSAGE_WEIGHT * cosines[:, 1]).tolist(), strict=True))
    for row, value in by_words.items():
        scores[row] = scores.get(row, 0.0) + WORDS_WEIGHT * value
    return scores
