"""Transactions on a cluster: begun, taken over and committed by changes of one document, `state`.

Documents are changed by optimistic concurrency control (compare and swap): a change is written only if nobody
else has changed the document since it was read. So all writers see the same order of transactions, and a
commit is atomic.
"""

from __future__ import annotations

import copy
import random
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from dowse.errors import DowseError, IndexMissing
from dowse.storage.elastic.client import WRITE_SECONDS, Client
from dowse.storage.elastic.names import META, STATE_ID
from dowse.storage.elastic.snapshot import FORMAT, check_format

State = dict[str, Any]
# Returns the new document for the current one (None: there is none); None leaves it as it is.
Change = Callable[[State | None], State | None]

# Readers in use may still need what was deleted so many seconds ago.
GRACE_SECONDS = 600.0
# Versions of a source's description that are kept: readers of the last one may be in use.
_VERSIONS = 2
_COUNTS = ("files", "symbols", "bytes", "skipped")
# Writers that commit at once conflict; each round has one winner.
_MAX_ATTEMPTS = 200
_FIRST_PAUSE, _LONGEST_PAUSE = 0.005, 0.5


class LostTransaction(DowseError):
    """Another writer has taken over."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a transaction makes of a source."""

    version: Mapping[str, Any]  # meta, counts, skipped
    has_changes: bool  # of content: then the generation is incremented
    has_deletions: bool  # whether it marked documents as deleted, to be vacuumed later


class MetaDocuments:
    """Documents of the meta index, changed by compare and swap."""

    def __init__(self, client: Client, timeout: float = WRITE_SECONDS) -> None:
        self._client, self._index, self._timeout = client, client.alias(META), timeout
        # As they were last read or written here: usually nobody else has changed them since.
        self._known: dict[str, dict[str, Any]] = {}

    def update(
        self, id_: str, change: Change, *, source: str = "", refresh: bool = False, fresh: bool = True
    ) -> State | None:
        """Change a document, retried until there is no conflict; return it.

        Args:
            id_: The document.
            change: The change; it may be applied more than once.
            source: The source it belongs to, if any.
            refresh: Whether searches must find the change at once.
            fresh: Whether to read the document first; else the last known version is tried.
        """
        pause = _FIRST_PAUSE
        for attempt in range(_MAX_ATTEMPTS):
            found = None if fresh or attempt else self._known.get(id_)
            found = found or self._client.get(self._index, id_)
            if found:
                self._known[id_] = found
            before = found["_source"]["data"] if found else None
            after = change(copy.deepcopy(before))
            if after is None:
                return before
            document = {"kind": id_.partition(":")[0], "slot": source, "data": after}
            if self._compare_and_swap(id_, found, document, refresh):
                return after
            time.sleep(pause * random.uniform(0.5, 1.5))  # noqa: S311
            pause = min(2 * pause, _LONGEST_PAUSE)
        raise DowseError(f"too many writers commit to {self._client.address} at once; run the same again")

    def last_known(self, id_: str) -> State | None:
        """Return a document as it was last read or written here."""
        known = self._known.get(id_)
        return copy.deepcopy(known["_source"]["data"]) if known else None

    def _compare_and_swap(
        self, id_: str, found: dict[str, Any] | None, document: dict[str, Any], refresh: bool
    ) -> bool:
        """Write a document unless it was changed since it was found; return whether it was written."""
        import elasticsearch

        guard: dict[str, Any] = {"op_type": "create"}
        if found:
            guard = {"if_seq_no": found["_seq_no"], "if_primary_term": found["_primary_term"]}

        def send(es: elasticsearch.Elasticsearch) -> dict[str, Any] | None:
            try:
                # Only through its alias: an index that was removed must not be created by a write.
                answer = es.index(
                    index=self._index, id=id_, document=document, refresh=refresh, require_alias=True, **guard
                )
            except elasticsearch.ConflictError:
                return None
            return dict(answer.body)

        written = self._client.call(send, timeout=self._timeout)
        if written is None:
            self._known.pop(id_, None)
            return False
        self._known[id_] = {**written, "_source": document}
        return True


class Transactions:
    """The transactions of one index."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._documents = MetaDocuments(client)

    def create_state(self) -> None:
        """Write the first state of an index, if there is none."""
        first = {
            **{"format": FORMAT, "identity": uuid.uuid4().hex, "sequence": 0, "active": []},
            **{"generation": 0, "totals": dict.fromkeys(_COUNTS, 0), "corpora": 0, "trees": 0},
            **{"incomplete": 0, "encoders": {}, "recent": []},
        }
        self._documents.update(STATE_ID, lambda found: first if found is None else None)

    def begin(self, source: str, owner: str) -> int:
        """Return the number of a new transaction of a source."""

        def change(state: State) -> State | None:
            # Begun before, and the response was lost.
            if _active_entry(state, source, owner):
                return None
            state["sequence"] += 1
            state["active"].append({"tx": state["sequence"], "source": source, "owner": owner})
            return state

        entry = _active_entry(self._update(change, fresh=False), source, owner)
        return int(entry["tx"]) if entry else self.begin(source, owner)

    def take_over(self, source: str, owner: str) -> tuple[State, int | None]:
        """Take over the transaction that a dead writer of this source has left; None if there is none.

        From then on that writer is fenced off: should it be alive after all, it can't commit.
        """

        def change(state: State) -> State | None:
            left = [each for each in state["active"] if each["source"] == source]
            if not left or left[0]["owner"] == owner:
                return None
            left[0]["owner"] = owner
            return state

        state = self._update(change)
        entry = _active_entry(state, source, owner)
        return state, int(entry["tx"]) if entry else None

    def commit(
        self,
        source: str,
        owner: str,
        tx: int,
        outcome: Outcome | None,
        before: Mapping[str, Any],
        confirm: Callable[[], None],
    ) -> State:
        """Make a transaction visible; return the state after it.

        Args:
            source: The source it belongs to.
            owner: The holder of the source's lease.
            tx: The transaction.
            outcome: The new version of the source; None if it is deleted.
            before: The version that this one replaces, empty if there was none.
            confirm: Raises if somebody else holds the source's lease.
        """

        def change(state: State) -> State | None:
            entry = _active_entry(state, source, owner)
            if not entry or entry["tx"] != tx:
                if tx <= state["sequence"] and not any(each["tx"] == tx for each in state["active"]):
                    confirm()  # or another writer has taken it over and committed or rolled it back
                    return None  # it is committed: the response to the last attempt was lost
                raise LostTransaction(f"another dowse is writing {source} now; run the same again")
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

    def abandon(self, source: str, owner: str, tx: int) -> None:
        """Remove a transaction that is rolled back: its documents are deleted."""

        def change(state: State) -> State | None:
            entry = _active_entry(state, source, owner)
            if not entry or entry["tx"] != tx:
                return None
            state["active"].remove(entry)
            return state

        self._update(change)

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


def last_version(state: State, versions: Mapping[str, Any]) -> tuple[int, dict[str, Any]]:
    """Return the last committed transaction of a source and its version; 0 if there is none."""
    active = {each["tx"] for each in state["active"]}
    done = [int(tx) for tx in versions if int(tx) not in active and int(tx) <= state["sequence"]]
    return (max(done), versions[str(max(done))]) if done else (0, {})


def with_version(
    versions: Mapping[str, Any], done: int, tx: int, version: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the versions of a source with one that is about to be committed."""
    kept = sorted((int(each) for each in versions if int(each) <= done), reverse=True)[:_VERSIONS]
    return {**{str(each): versions[str(each)] for each in kept}, str(tx): dict(version)}


def _active_entry(state: State, source: str, owner: str) -> dict[str, Any] | None:
    """Return the active transaction of a source, if `owner` owns it."""
    entries: list[dict[str, Any]] = state["active"]
    return next((each for each in entries if (each["source"], each["owner"]) == (source, owner)), None)


def _add_counts(state: State, version: Mapping[str, Any], sign: int) -> None:
    """Add the counts of a version of a source to the totals, or subtract them."""
    if not version:
        return
    for name in _COUNTS:
        state["totals"][name] = state["totals"].get(name, 0) + sign * int(version["counts"].get(name, 0))
    meta = version.get("meta", {})
    state["corpora" if meta.get("corpus") == "1" else "trees"] += sign
    state["incomplete"] += sign * int(meta.get("complete", "1") != "1")
