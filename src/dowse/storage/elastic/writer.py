"""The writer of one source: documents that changed are sent as they come, and become visible by `commit`."""

from __future__ import annotations

import contextlib
import logging
import time
from base64 import b64decode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from dowse.errors import DowseError
from dowse.storage.compression import unpack
from dowse.storage.elastic.bulk import Action, BulkWriter, create_action, index_action, update_action
from dowse.storage.elastic.client import Client
from dowse.storage.elastic.documents import Document, content_hash, file_documents, trigrams
from dowse.storage.elastic.lease import SourceLease
from dowse.storage.elastic.manifest import Version
from dowse.storage.elastic.mirror import VERSION_FIELDS, Mirror, mirror_path
from dowse.storage.elastic.names import EDGES, FILES, ID_FIELD, VERSIONED, document_id
from dowse.storage.elastic.snapshot import Snapshot, SnapshotSearcher, batches
from dowse.storage.elastic.transactions import Outcome, Transactions, vacuum
from dowse.storage.elastic.vectors import VectorAttacher, WithVectors
from dowse.storage.local.graph_tables import GraphTables
from dowse.storage.protocol import KnownVectors
from dowse.types import DeferredFile, FileFingerprint, FileRecord, GraphPart

_log = logging.getLogger(__name__)

# Documents of files that are read back at once: their texts come with them.
_FILE_BATCH = 50


class ElasticWriter:
    """Writes one source, whose lease the caller holds."""

    def __init__(
        self, client: Client, lease: SourceLease, vectors: KnownVectors | None, start_over: bool = False
    ) -> None:
        """Take over the transaction of a dead writer, if there is one, and bring the mirror up to date."""
        self._client, self.lease, self._start_over = client, lease, start_over
        self._transactions = Transactions(client, lease)
        self._state, self._tx = self._transactions.take_over()
        self._mirror = Mirror.open(mirror_path(self._state["identity"], lease.source), lease.source)
        self._manifest = self._mirror.manifest
        self._attacher = VectorAttacher(client, self._state["encoders"], vectors)
        self._bulk = BulkWriter(client, lease.check)
        self._marked: list[Version] = []  # as deleted, by the dead writer
        self._replaced: set[tuple[str, int]] = set()  # documents that are sent again in this transaction
        self._has_changes = False
        self._stamps: dict[str, tuple[int, int]] = {}
        self._skipped: list[tuple[str, str]] | None = None
        try:
            self._recover()
        except BaseException:
            self._close_mirror()
            raise

    def _recover(self) -> None:
        """Find out what the cluster holds, and what a dead writer has left unfinished."""
        snapshot = Snapshot.from_state(self._state)
        self._last_tx, self._version = snapshot.last_version(self.lease.versions)
        if self._start_over or self._mirror.last_transaction() != self._last_tx:
            self._mirror.empty()
            if self._last_tx:
                searcher = SnapshotSearcher(self._client, snapshot)
                self._mirror.rebuild(searcher, with_files=not self._start_over)
            if not self._start_over:
                # Kept even if nothing is committed: rebuilding takes its time.
                self._mirror.commit_transaction(self._last_tx)
        if self._tx is not None:
            self._refresh()
            self._manifest.add_sent(self._created_by(self._tx), by_this_writer=False)
            self._has_changes = bool(self._manifest.sent_counts())
            self._marked = self._deleted_by(self._tx)

    def _created_by(self, tx: int) -> Iterator[tuple[str, int, bytes]]:
        """Yield kind, number and hash of the documents on the cluster that a transaction has created."""
        for kind, body in self._find_versions("born", tx):
            yield kind, int(body[ID_FIELD[kind]]), bytes.fromhex(body["hash"])

    def _deleted_by(self, tx: int) -> list[Version]:
        """Return the documents on the cluster that a transaction has marked as deleted."""
        versions = self._find_versions("died", tx)
        return [Version(kind, int(body[ID_FIELD[kind]]), int(body["born"])) for kind, body in versions]

    def _find_versions(self, field: str, tx: int) -> Iterator[tuple[str, dict[str, Any]]]:
        for kind in VERSIONED:
            alias, sort = self._client.alias(kind), (ID_FIELD[kind], "born")
            query = self._transaction_query(field, tx)
            for hit in self._client.scan(alias, query, sort, source=VERSION_FIELDS, page=5000):
                yield kind, hit["_source"]

    def _transaction_query(self, field: str, tx: int) -> dict[str, Any]:
        return {"bool": {"filter": [{"term": {"source": self.lease.source}}, {"term": {field: tx}}]}}

    # The last generation

    def fingerprints(self) -> dict[str, FileFingerprint]:
        """Return size, time and content hash of every file of the last generation."""
        return self._mirror.fingerprints()

    def skipped(self) -> list[tuple[str, str]]:
        """Return the files that the last generation skips."""
        return sorted((path, reason) for path, reason in self._version.get("skipped", ()))

    def meta(self) -> dict[str, str]:
        """Return the metadata of the last generation."""
        return {**self._version.get("meta", {}), "generation": str(self._state["generation"])}

    # Changes

    def put(self, record: FileRecord) -> None:
        """Add a file, or replace the one with its key."""
        self._mirror.replace_file(record)
        self._stamps.pop(record.key, None)
        self._send_changes(self._manifest.set_file(record.key, file_documents(self.lease.source, record)))

    def delete(self, key: str) -> None:
        """Remove a file."""
        if self._mirror.delete_file(key) is not None:
            self._has_changes = True
            self._stamps.pop(key, None)
            self._manifest.set_file(key, [])

    def graph(self) -> GraphTables:
        """Return what linking reads and writes."""
        return self._mirror.graph

    def share_graph(self) -> str:
        """Share nothing: the mirror is part of a transaction."""
        return ""

    def deferred_files(self, limit: int) -> list[DeferredFile]:
        """Return nothing: files are sent as a whole."""
        return []

    def complete_file(self, file_id: int, part: GraphPart) -> None:
        """Do nothing: no file is deferred."""

    def touch(self, key: str, size: int, mtime_ns: int) -> None:
        """Note a new size and time of a file whose content is the same."""
        self._mirror.touch_file(key, size, mtime_ns)
        self._stamps[key] = (size, mtime_ns)

    def set_skipped(self, skipped: Iterable[tuple[str, str]]) -> None:
        """Replace the list of skipped files."""
        self._skipped = sorted(dict(skipped).items())

    def flush(self) -> None:
        """Wait until everything put so far is on the cluster; readers see it after `commit`."""
        self._put_ready(self._attacher.flush())
        self._bulk.drain()

    def _send_changes(self, documents: Sequence[Document]) -> None:
        self._has_changes |= bool(documents)
        self._send(documents)

    def _send(self, documents: Sequence[Document]) -> None:
        """Send documents that the cluster lacks."""
        if not documents:
            return
        replaced = self._manifest.replaced(documents)
        if any(replaced.values()):
            self.flush()  # or the older one could arrive later
        self._replaced.update(replaced)
        self._begin()
        self._manifest.add_sent((each.kind, each.number, each.hash) for each in documents)
        self._put_ready(self._attacher.put(documents))

    def _put_ready(self, ready: Sequence[WithVectors]) -> None:
        tx = self._begin() if ready else 0
        for document, vectors in ready:
            body = {**document.body, "hash": document.hash.hex(), "born": tx, **vectors}
            is_new = (document.kind, document.number) not in self._replaced
            write = create_action if is_new else index_action
            alias, id_ = self._client.alias(document.kind), document_id(document.number, tx)
            self._bulk.put([write(alias, id_, body)])

    def _begin(self) -> int:
        if self._tx is None:
            self._tx = self._transactions.begin()
        return self._tx

    # Commit

    def begin_generation(self) -> None:
        """Let the next commit be a new generation although no file changed."""
        self._has_changes = True

    def commit(self, meta: Mapping[str, str]) -> int:
        """Make everything visible at once; changes of stamps and skipped files alone keep the generation."""
        started = time.monotonic()
        tx, is_complete = self._begin(), meta.get("complete", "1") != "0"
        if self._start_over and is_complete:
            self._has_changes |= self._manifest.delete_all_but(self._mirror.file_ids())
        for file, documents in self._mirror.relinked_documents():
            self._send_changes(self._manifest.set_documents(EDGES, file, documents))
        self._send_stamps()
        deleted = self._write_deletions(tx)
        # A file of which only the time is new is replaced too, but none of its symbols.
        self._has_changes |= any(each.kind != FILES for each in deleted)
        self._manifest.apply(tx, deleted)
        version = self._describe(meta)
        self.lease.put_version(self._last_tx, tx, version)
        outcome = Outcome(version, self._has_changes, bool(deleted))
        self._state = self._transactions.commit(tx, outcome, self._version)
        # A mirror that lacks files which the cluster holds must not be valid for the next writer.
        is_partial = self._start_over and not is_complete
        self._mirror.commit_transaction(-1 if is_partial else tx)
        self._start_over = is_partial
        self._last_tx, self._version = tx, version
        self._tx, self._marked, self._has_changes = None, [], False
        self._stamps, self._skipped, self._replaced = {}, None, set()
        with contextlib.suppress(DowseError):  # it is committed; the next commit removes what is left over
            vacuum(self._client, self._state)
        _log.debug(
            "transaction %d of %s: %.3f s to commit", tx, self.lease.source, time.monotonic() - started
        )
        return int(self._state["generation"])

    def _write_deletions(self, tx: int) -> list[Version]:
        """Mark what this transaction deletes, and verify that the cluster holds all of the transaction."""
        self.flush()
        deleted = self._manifest.deleted()
        self._mark(tx, deleted)
        self._remove(tx, self._manifest.obsolete())
        self._bulk.drain()
        self._refresh()
        self._verify(tx, deleted)
        return deleted

    def _describe(self, meta: Mapping[str, str]) -> dict[str, Any]:
        """Return the new version of the source."""
        skipped = self.skipped() if self._skipped is None else self._skipped
        counts = {**self._manifest.totals(), "skipped": len(skipped)}
        merged = {**self._version.get("meta", {}), **meta}
        return {"meta": merged, "counts": counts, "skipped": [list(each) for each in skipped]}

    def _send_stamps(self) -> None:
        """Send files of which only size and time changed; whole, because a version is a new document."""
        for batch in batches(self._stamps, _FILE_BATCH):
            self.flush()
            versions = {key: self._manifest.file_version(key) for key in batch}
            ids = {
                document_id(number, self._begin() if born is None else born): key
                for key, (number, born) in versions.items()
            }
            for stored in self._client.mget(self._client.alias(FILES), list(ids)):
                size, mtime_ns = self._stamps[ids[stored["_id"]]]
                body = {**stored["_source"], "size": size, "mtime_ns": mtime_ns}
                body = {name: value for name, value in body.items() if name not in ("born", "died", "hash")}
                file, digest = int(body["file"]), content_hash(body)
                document = Document(FILES, file, file, _with_trigrams(body), digest)
                self._send(self._manifest.set_documents(FILES, file, [document]))

    def _mark(self, tx: int, deleted: Sequence[Version]) -> None:
        """Mark documents as deleted by this transaction; remove marks of a dead writer that do not apply."""
        before, after = set(self._marked), set(deleted)
        self._set_died([each for each in deleted if each not in before], tx)
        self._set_died([each for each in self._marked if each not in after], None)

    def _set_died(self, versions: Sequence[Version], died: int | None) -> None:
        for each in versions:
            if each.kind != FILES:
                id_ = document_id(each.number, each.born)
                self._bulk.put([update_action(self._client.alias(each.kind), id_, {"died": died})])
        files = (document_id(each.number, each.born) for each in versions if each.kind == FILES)
        for batch in batches(files, _FILE_BATCH):
            for stored in self._client.mget(self._client.alias(FILES), batch):
                # Whole: an update of one field would lose the trigrams, which are not stored in `_source`.
                body = {**_with_trigrams(stored["_source"]), "died": died}
                self._bulk.put([index_action(self._client.alias(FILES), stored["_id"], body)])

    def _remove(self, tx: int, documents: Sequence[tuple[str, int]]) -> None:
        """Remove documents that this transaction has created."""
        self._manifest.remove_sent(documents)
        self._bulk.put(
            Action("delete", self._client.alias(kind), document_id(number, tx)) for kind, number in documents
        )

    def _verify(self, tx: int, deleted: Sequence[Version]) -> None:
        """Raise if the cluster does not hold exactly what was sent."""
        sent = self._manifest.sent_counts()
        searches, expected = [], []
        for kind in VERSIONED:
            expected += [sent.get(kind, 0), sum(each.kind == kind for each in deleted)]
            for field in ("born", "died"):
                body = {"size": 0, "track_total_hits": True, "query": self._transaction_query(field, tx)}
                searches.append((self._client.alias(kind), body))
        actual = [answer["hits"]["total"]["value"] for answer in self._client.msearch(searches)]
        if actual != expected:
            self.lease.confirm()
            raise DowseError(
                f"{self._client.address} holds {sum(actual)} of {sum(expected)} changed documents of "
                f"{self.lease.source}; nothing was committed, run the same again"
            )

    def _refresh(self) -> None:
        self._client.refresh(self._client.alias(kind) for kind in VERSIONED)

    def delete_source(self) -> None:
        """Delete the whole source at once."""
        tx = self._begin()
        self._manifest.delete_all_but(())
        self._write_deletions(tx)
        # Before the commit, so that a writer after a crash right there knows that the source is deleted.
        self.lease.put_version(self._last_tx, tx, {})
        self._transactions.commit(tx, None, self._version)
        self.lease.drop_versions()
        self._tx = None

    def close(self, rollback: bool) -> None:
        """End; what was not committed is rolled back, or left for the next writer to resume."""
        try:
            self._bulk.close()
            if rollback and self._tx is not None:
                self._rollback(self._tx)
        finally:
            self._close_mirror()

    def _close_mirror(self) -> None:
        self._mirror.rollback()
        self._mirror.close()

    def _rollback(self, tx: int) -> None:
        with BulkWriter(self._client, self.lease.check) as self._bulk:
            self._refresh()
            created = {(kind, number) for kind, number, _ in self._created_by(tx)}
            self._remove(tx, sorted({*created, *self._manifest.sent()}))
            self._marked = self._deleted_by(tx)
            self._mark(tx, [])
            self._bulk.drain()
            self.lease.drop_version(tx)
            self._transactions.abandon(tx)


def _with_trigrams(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the document of a file with its trigrams, which the cluster does not give back."""
    text = unpack(b64decode(body["data"]["text"])).decode("utf-8", "replace")
    return {**body, "trigrams": trigrams(text)}
