"""A generation of one source in the making: what changed is sent as it comes, and seen when all is there."""

from __future__ import annotations

import contextlib
import logging
import time
from base64 import b64decode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dowse.errors import DowseError
from dowse.storage.elastic.carrying import Carrier
from dowse.storage.elastic.client import Client
from dowse.storage.elastic.documents import (
    EDGES,
    FILE,
    Document,
    digest,
    file_documents,
    trigrams,
    versioned,
)
from dowse.storage.elastic.ledger import Version
from dowse.storage.elastic.loading import load_mirror, marked_by, refresh, sent_by
from dowse.storage.elastic.lock import SourceLock
from dowse.storage.elastic.mirror import Mirror
from dowse.storage.elastic.names import VERSIONED, Names, document_id
from dowse.storage.elastic.sender import Action, Sender, index_action, update_action
from dowse.storage.elastic.state import snapshot_of
from dowse.storage.elastic.transactions import Outcome, State, Transactions, last_version
from dowse.storage.elastic.vacuum import vacuum
from dowse.storage.local.compression import unpack
from dowse.storage.local.graph_tables import GraphTables
from dowse.types import FileFingerprint, FileRecord

_log = logging.getLogger(__name__)

# Documents of files that are read back at once: their texts come with them.
_FILES_AT_ONCE = 50


@dataclass(frozen=True, slots=True)
class Parts:
    """What a writer works with."""

    client: Client
    names: Names
    lock: SourceLock
    transactions: Transactions
    mirror: Mirror
    carrier: Carrier


class ElasticWriter:
    """Writes one source; whoever makes one holds the source's lock."""

    def __init__(self, parts: Parts, state: State, left: int | None, start_over: bool = False) -> None:
        """Begin with the state of the index, and the transaction that a dead writer has left, if one did."""
        self._client, self._names, self._lock = parts.client, parts.names, parts.lock
        self._transactions, self._mirror, self._carrier = parts.transactions, parts.mirror, parts.carrier
        self._ledger = self._mirror.ledger
        self._sender = Sender(self._client, self._lock.check)
        self._state, self._start_over = state, start_over
        self._tx = left
        self._marked: list[Version] = []
        self._has_changes = False
        self._stamps: dict[str, tuple[int, int]] = {}
        self._skipped: list[tuple[str, str]] | None = None
        self._prepare()

    def _prepare(self) -> None:
        """Find out what the cluster has, and what a dead writer has left half done."""
        slot = self._lock.slot
        self._done, self._version = last_version(self._state, self._lock.versions)
        if self._start_over or self._mirror.noted() != self._done:
            self._mirror.empty()
            if self._done:
                snapshot = snapshot_of(self._state)
                load_mirror(self._mirror, self._client, self._names, snapshot, not self._start_over)
            if not self._start_over:
                self._mirror.note(self._done)  # also if nothing comes of this: it took its time
                self._mirror.begin()
        if self._tx is not None:
            refresh(self._client, self._names)
            left = sent_by(self._client, self._names, slot, self._tx)
            self._ledger.note_sent(left, here=False)
            self._has_changes = bool(self._ledger.sent_counts())
            self._marked = marked_by(self._client, self._names, slot, self._tx)

    # What the last generation says

    def fingerprints(self) -> dict[str, FileFingerprint]:
        """Return what the last generation knows of every file."""
        return self._mirror.fingerprints()

    def skipped(self) -> list[tuple[str, str]]:
        """Return what the last generation leaves out."""
        return sorted((path, reason) for path, reason in self._version.get("skipped", ()))

    def meta(self) -> dict[str, str]:
        """Return the description of the last generation."""
        return {**self._version.get("meta", {}), "generation": str(self._state["generation"])}

    # What changes

    def put(self, record: FileRecord) -> None:
        """Add a file, or replace the one with its key."""
        self._mirror.keep(record)
        self._stamps.pop(record.key, None)
        lacking = self._ledger.want_file(record.key, file_documents(self._lock.slot, record))
        self._has_changes |= bool(lacking)
        self._send(lacking)

    def delete(self, key: str) -> None:
        """Remove a file."""
        if self._mirror.forget(key) is not None:
            self._has_changes = True
            self._stamps.pop(key, None)
            self._ledger.want_file(key, [])

    def graph(self) -> GraphTables:
        """Return what linking reads and writes."""
        return self._mirror.graph

    def touch(self, key: str, size: int, mtime_ns: int) -> None:
        """Note a new size and time of a file whose content is the same."""
        self._mirror.touch_file(key, size, mtime_ns)
        self._stamps[key] = (size, mtime_ns)

    def set_skipped(self, skipped: Iterable[tuple[str, str]]) -> None:
        """Replace the list of what is left out."""
        self._skipped = sorted(dict(skipped).items())

    def _send(self, documents: Sequence[Document]) -> None:
        """Send documents that the cluster lacks."""
        if not documents:
            return
        if any(self._ledger.was_sent(document) for document in documents):
            self._drain()  # or the older one could arrive later
        tx = self._begun()
        self._ledger.note_sent((each.kind, each.number, each.hash) for each in documents)
        self._carrier.put(documents, lambda ready: self._sender.put(self._actions(ready, tx)))

    def _actions(self, ready: Iterable[tuple[Document, Mapping[str, str]]], tx: int) -> Iterable[Action]:
        for document, vectors in ready:
            body = versioned(document, tx, vectors.items())
            yield index_action(self._names.alias(document.kind), document_id(document.number, tx), body)

    def _begun(self) -> int:
        if self._tx is None:
            self._tx = self._transactions.begin(self._lock.slot, self._lock.owner)
        return self._tx

    # The end

    def commit(self, meta: Mapping[str, str]) -> int:
        """Make everything visible at once; notes alone (touch, skipped) keep the generation."""
        started = time.monotonic()
        tx, is_complete = self._begun(), meta.get("complete", "1") != "0"
        if self._start_over and is_complete:
            self._has_changes |= self._ledger.want_only(self._mirror.file_numbers())
        self._send_links()
        self._send_stamps()
        self._drain()
        dying = self._ledger.dying()
        # A file whose times alone are new dies too, but nothing of what is in it.
        self._has_changes |= any(each.kind != FILE for each in dying)
        self._mark(tx, dying)
        self._remove(tx, self._ledger.needless())
        self._sender.drain()
        refresh(self._client, self._names)
        self._check(tx, dying)
        self._ledger.settle(tx, dying)
        version = self._described(meta)
        self._lock.put_version(self._done, tx, version)
        outcome = Outcome(version, self._has_changes, bool(dying))
        self._state = self._commit(tx, outcome)
        self._forget_transaction(tx, version, is_complete)
        with contextlib.suppress(DowseError):  # it is committed; the next commit removes what is left over
            vacuum(self._client, self._names, self._state)
        _log.debug("transaction %d of %s: %.3f s to commit", tx, self._lock.slot, time.monotonic() - started)
        return int(self._state["generation"])

    def _commit(self, tx: int, outcome: Outcome | None) -> State:
        slot, owner = self._lock.slot, self._lock.owner
        return self._transactions.commit(slot, owner, tx, outcome, self._version, self._lock.confirm)

    def _forget_transaction(self, tx: int, version: Mapping[str, Any], is_complete: bool) -> None:
        # A mirror that lacks files which the cluster has must not be trusted by the next writer.
        self._mirror.note(-1 if self._start_over and not is_complete else tx)
        self._mirror.begin()
        self._start_over = self._start_over and not is_complete
        self._done, self._version = tx, dict(version)
        self._tx, self._marked, self._has_changes = None, [], False
        self._stamps, self._skipped = {}, None

    def _described(self, meta: Mapping[str, str]) -> dict[str, Any]:
        skipped = self.skipped() if self._skipped is None else self._skipped
        counts = {**self._ledger.tallies(), "skipped": len(skipped)}
        known = {**self._version.get("meta", {}), **meta}
        return {"meta": known, "counts": counts, "skipped": [list(each) for each in skipped]}

    def _send_links(self) -> None:
        for file, documents in self._mirror.linked_documents():
            lacking = self._ledger.want(EDGES, file, documents)
            self._has_changes |= bool(lacking)
            self._send(lacking)

    def _send_stamps(self) -> None:
        """Send files whose size and time alone changed: whole, for a document is all or nothing."""
        keys = list(self._stamps)
        for start in range(0, len(keys), _FILES_AT_ONCE):
            self._drain()
            places = {key: self._ledger.place_of(key) for key in keys[start : start + _FILES_AT_ONCE]}
            ids = {
                document_id(number, self._begun() if born is None else born): key
                for key, (number, born) in places.items()
            }
            for found in self._client.mget(self._names.alias(FILE), list(ids)):
                size, mtime_ns = self._stamps[ids[found["_id"]]]
                body = _content({**found["_source"], "size": size, "mtime_ns": mtime_ns})
                document = Document(FILE, int(body["file"]), int(body["file"]), _whole(body), digest(body))
                self._send(self._ledger.want(FILE, document.file, [document]))

    def _drain(self) -> None:
        self._carrier.flush(lambda ready: self._sender.put(self._actions(ready, self._begun())))
        self._sender.drain()

    def _mark(self, tx: int, dying: Sequence[Version]) -> None:
        """Mark what is gone once this is done; take back marks that a dead writer left and nobody wants."""
        before, after = set(self._marked), set(dying)
        self._change_died([each for each in dying if each not in before], tx)
        self._change_died([each for each in self._marked if each not in after], None)

    def _change_died(self, versions: Sequence[Version], died: int | None) -> None:
        for each in versions:
            if each.kind != FILE:
                id_ = document_id(each.number, each.born)
                self._sender.put([update_action(self._names.alias(each.kind), id_, {"died": died})])
        files = [document_id(each.number, each.born) for each in versions if each.kind == FILE]
        for start in range(0, len(files), _FILES_AT_ONCE):
            for found in self._client.mget(self._names.alias(FILE), files[start : start + _FILES_AT_ONCE]):
                # Whole: what a document does not give back, its trigrams, a change of one field would lose.
                body = {**_whole(found["_source"]), "died": died}
                self._sender.put([index_action(self._names.alias(FILE), found["_id"], body)])

    def _remove(self, tx: int, documents: Sequence[tuple[str, int]]) -> None:
        self._ledger.forget_sent(documents)
        self._sender.put(
            Action("delete", self._names.alias(kind), document_id(number, tx)) for kind, number in documents
        )

    def _check(self, tx: int, dying: Sequence[Version]) -> None:
        """Raise if the cluster has not exactly what was sent."""
        brought = self._ledger.sent_counts()
        source = {"term": {"source": self._lock.slot}}
        searches = [
            (
                self._names.alias(kind),
                {"size": 0, "track_total_hits": True, "query": {"bool": {"filter": [source, clause]}}},
            )
            for kind in VERSIONED
            for clause in ({"term": {"born": tx}}, {"term": {"died": tx}})
        ]
        found = [answer["hits"]["total"]["value"] for answer in self._client.msearch(searches)]
        wanted = [
            count
            for kind in VERSIONED
            for count in (brought.get(kind, 0), sum(each.kind == kind for each in dying))
        ]
        if found != wanted:
            self._lock.confirm()
            raise DowseError(
                f"{self._client.address} has {sum(found)} of {sum(wanted)} changed documents of "
                f"{self._lock.slot}; nothing was made visible, run the same again"
            )

    def remove_source(self) -> None:
        """Make the whole source invisible at once."""
        tx = self._begun()
        self._ledger.want_only(())
        self._drain()
        dying = self._ledger.dying()
        self._mark(tx, dying)
        self._remove(tx, self._ledger.needless())
        self._sender.drain()
        refresh(self._client, self._names)
        self._check(tx, dying)
        # Before it is done, so that whoever comes after a crash right there knows that nothing is left of it.
        self._lock.put_version(self._done, tx, {})
        self._commit(tx, None)
        self._lock.forget_versions()
        self._tx = None

    def close(self, undo: bool) -> None:
        """End; what was not committed is taken back, or left for the next writer to go on with."""
        try:
            self._sender.close()
            if undo and self._tx is not None:
                self._undo(self._tx)
        finally:
            self._mirror.rollback()
            self._mirror.close()

    def _undo(self, tx: int) -> None:
        self._sender = Sender(self._client, self._lock.check)
        try:
            refresh(self._client, self._names)
            sent = [
                (kind, number) for kind, number, _ in sent_by(self._client, self._names, self._lock.slot, tx)
            ]
            self._remove(tx, sorted({*sent, *self._ledger.all_sent()}))
            self._marked = marked_by(self._client, self._names, self._lock.slot, tx)
            self._mark(tx, [])
            self._sender.drain()
            self._lock.drop_version(tx)
            self._transactions.abandon(self._lock.slot, self._lock.owner, tx)
        finally:
            self._sender.close()


def _content(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a document says, without what tells its versions apart."""
    return {name: value for name, value in body.items() if name not in ("born", "died", "hash", "trigrams")}


def _whole(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the document of a file with what the cluster does not give back."""
    text = unpack(b64decode(body["data"]["text"])).decode("utf-8", "replace")
    return {**body, "trigrams": trigrams(text)}
