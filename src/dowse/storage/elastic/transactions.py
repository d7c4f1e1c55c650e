"""Transactions on a cluster: begun, taken over and committed by changes of one document, `state`.

A commit is atomic, because it is one change of that document. The owner of a transaction is the fencing
token: after another writer has taken it over, the first one can't commit. `vacuum` removes what is deleted.
"""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Callable, Mapping
from typing import Any

from dowse.errors import IndexMissing
from dowse.lazy_classes import dataclass
from dowse.storage.elastic.bulk import Action, BulkWriter
from dowse.storage.elastic.client import Client
from dowse.storage.elastic.lease import LeaseLost, SourceLease
from dowse.storage.elastic.meta_documents import MetaDocuments, State
from dowse.storage.elastic.names import ID_FIELD, STATE_ID, VERSIONED
from dowse.storage.elastic.snapshot import FORMAT, check_format

_log = logging.getLogger(__name__)

# Readers in use may still need what was deleted so many seconds ago.
GRACE_SECONDS = 600.0
# Documents that are vacuumed after one commit; more is left for the next ones, because somebody is waiting.
_MAX_VACUUMED = 50_000
_COUNTS = ("files", "symbols", "names", "bytes", "skipped")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a transaction makes of a source."""

    version: Mapping[str, Any]  # meta, counts, skipped
    has_changes: bool  # of content: then the generation is incremented
    has_deletions: bool  # whether it marked documents as deleted, to be vacuumed later


class IndexState:
    """The state document of an index."""

    def __init__(self, client: Client) -> None:
        self._client, self._documents = client, MetaDocuments(client)

    def create(self) -> None:
        """Write the first state, if there is none."""
        first = {
            **{"format": FORMAT, "identity": uuid.uuid4().hex, "sequence": 0, "active": []},
            **{"generation": 0, "totals": dict.fromkeys(_COUNTS, 0), "corpora": 0, "trees": 0},
            **{"incomplete": 0, "encoders": {}, "recent": []},
        }
        self._documents.update(STATE_ID, lambda state: first if state is None else None)

    def put_encoder(self, encoder: str, description: Mapping[str, Any]) -> None:
        """Write what is known of the vectors of an encoder: field, dimension, clusters."""

        def change(state: State) -> State | None:
            known = state["encoders"].get(encoder, {})
            if {**known, **description} == known:
                return None
            state["encoders"][encoder] = {**known, **description}
            return state

        self._update(change)

    def _update(self, change: Callable[[State], State | None], fresh: bool = True) -> State:
        """Change the state; raises if the index was removed or is of another format."""

        def checked(state: State | None) -> State | None:
            if state is None:
                raise IndexMissing(
                    f"the index on {self._client.address} was removed meanwhile; run `dowse index` again"
                )
            check_format(state.get("format"), self._client)
            return change(state)

        state = self._documents.update(STATE_ID, checked, fresh=fresh)
        assert state is not None  # noqa: S101 - `checked` raises
        return state


class Transactions(IndexState):
    """The transactions of one source, whose lease the caller holds."""

    def __init__(self, client: Client, lease: SourceLease) -> None:
        super().__init__(client)
        self._lease = lease

    def begin(self) -> int:
        """Return the number of a new transaction."""

        def change(state: State) -> State | None:
            # Begun before, and the response was lost.
            if self._entry(state):
                return None
            state["sequence"] += 1
            entry = {"tx": state["sequence"], "source": self._lease.source, "owner": self._lease.owner}
            state["active"].append(entry)
            return state

        entry = self._entry(self._update(change, fresh=False))
        return int(entry["tx"]) if entry else self.begin()

    def take_over(self) -> tuple[State, int | None]:
        """Take over the transaction that a dead writer has left; None if there is none.

        From then on that writer is fenced off: should it be alive after all, it can't commit.
        """

        def change(state: State) -> State | None:
            left = [each for each in state["active"] if each["source"] == self._lease.source]
            if not left or left[0]["owner"] == self._lease.owner:
                return None
            left[0]["owner"] = self._lease.owner
            return state

        state = self._update(change)
        entry = self._entry(state)
        return state, int(entry["tx"]) if entry else None

    def commit(self, tx: int, outcome: Outcome | None, before: Mapping[str, Any]) -> State:
        """Make a transaction visible; return the state after it.

        Args:
            tx: The transaction.
            outcome: The new version of the source; None if it is deleted.
            before: The version that this one replaces, empty if there was none.
        """

        def change(state: State) -> State | None:
            entry = self._entry(state)
            if not entry or entry["tx"] != tx:
                if tx <= state["sequence"] and not any(each["tx"] == tx for each in state["active"]):
                    # Or another writer has taken it over and committed or rolled it back.
                    self._lease.confirm()
                    return None  # it is committed: the response to the last attempt was lost
                raise LeaseLost(f"another dowse is writing {self._lease.source} now; run the same again")
            state["active"].remove(entry)
            _add_counts(state, before, -1)
            _add_counts(state, outcome.version if outcome else {}, +1)
            now = time.time()
            state["recent"] = [each for each in state["recent"] if now - each[1] < GRACE_SECONDS]
            if outcome is None or outcome.has_deletions:
                state["recent"].append([tx, now])
            if outcome is None or outcome.has_changes or not state["generation"]:
                state["generation"] += 1
            return state

        return self._update(change, fresh=False)

    def abandon(self, tx: int) -> None:
        """Remove a transaction that is rolled back: its documents are deleted."""

        def change(state: State) -> State | None:
            entry = self._entry(state)
            if not entry or entry["tx"] != tx:
                return None
            state["active"].remove(entry)
            return state

        self._update(change)

    def _entry(self, state: State) -> dict[str, Any] | None:
        """Return the active transaction of the source, if it is ours."""
        own, entries = (self._lease.source, self._lease.owner), state["active"]
        return next((each for each in entries if (each["source"], each["owner"]) == own), None)


def _add_counts(state: State, version: Mapping[str, Any], sign: int) -> None:
    """Add the counts of a version of a source to the totals, or subtract them."""
    if not version:
        return
    for name in _COUNTS:
        state["totals"][name] = state["totals"].get(name, 0) + sign * int(version["counts"].get(name, 0))
    meta = version.get("meta", {})
    state["corpora" if meta.get("corpus") == "1" else "trees"] += sign
    state["incomplete"] += sign * int(meta.get("complete", "1") != "1")


def vacuum(client: Client, state: State) -> None:
    """Remove documents that were deleted longer ago than any reader holds a snapshot."""
    query, removed = _removable(state), 0
    indices = ",".join(client.alias(kind) for kind in VERSIONED)
    body = {"query": query, "size": 0, "track_total_hits": 1}
    if not client.search(indices, body)["hits"]["total"]["value"]:
        return
    with BulkWriter(client) as bulk:
        for kind in VERSIONED:
            sort = (ID_FIELD[kind], "born")
            for hit in client.scan(client.alias(kind), query, sort, source=False, page=5000):
                bulk.put([Action("delete", client.alias(kind), hit["_id"])])
                removed += 1
                if removed >= _MAX_VACUUMED:
                    break
        bulk.drain()
    _log.debug("vacuum: %d documents removed", removed)


def _removable(state: State) -> dict[str, Any]:
    """Return the query for documents that no reader can see any more."""
    kept = [each["tx"] for each in state["active"]]
    kept += [tx for tx, at in state["recent"] if time.time() - at < GRACE_SECONDS]
    clause: dict[str, Any] = {"filter": [{"range": {"died": {"lte": state["sequence"]}}}]}
    if kept:
        clause["must_not"] = [{"terms": {"died": kept}}]
    return {"bool": clause}
