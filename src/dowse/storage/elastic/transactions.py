"""Transactions on a cluster: given out, taken over and made visible by changes of one document.

That document, `state`, is changed only as long as nobody else has changed it since it was read. So whoever
wins, all see the same order of things.
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
from dowse.storage.elastic.names import STATE_ID, Names
from dowse.storage.elastic.state import FORMAT, check_format

State = dict[str, Any]
# A change that returns None leaves the document as it is.
Change = Callable[[State | None], State | None]

# Readers at work may still need what was removed so many seconds ago.
GRACE = 600.0
# Versions of a source's description that are kept: readers of the last one may be at work.
_VERSIONS = 2
_COUNTS = ("files", "symbols", "bytes", "skipped")
# Writers that commit at once get into each other's way; each try has one winner.
_TRIES = 200
_FIRST_PAUSE, _LONGEST_PAUSE = 0.005, 0.5


class LostTransaction(DowseError):
    """Another writer has taken over."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a transaction makes of a source."""

    version: Mapping[str, Any]  # meta, counts, skipped
    has_changes: bool  # of content: then the generation grows
    removes: bool  # whether it marked documents that are to be removed for good later


class Documents:
    """Documents of the meta index, each changed only if nobody else has changed it since it was read."""

    def __init__(self, client: Client, names: Names, seconds: float = WRITE_SECONDS) -> None:
        self._client, self._index, self._seconds = client, names.alias("meta"), seconds
        # As they were when this one last read or wrote them: mostly nobody else has come in between.
        self._known: dict[str, dict[str, Any]] = {}

    def change(
        self, id_: str, change: Change, *, slot: str = "", refresh: bool = False, fresh: bool = True
    ) -> State | None:
        """Change a document, again and again until nobody came in between; return it.

        Args:
            id_: Which.
            change: Returns what it shall be, given what it is, None if there is none.
            slot: The source it belongs to, if any.
            refresh: Whether searches must find the change at once.
            fresh: Whether it matters what it is this moment; else what was read before is tried first.
        """
        pause = _FIRST_PAUSE
        for attempt in range(_TRIES):
            found = None if fresh or attempt else self._known.get(id_)
            found = found or self._client.get(self._index, id_)
            if found:
                self._known[id_] = found
            before = found["_source"]["data"] if found else None
            after = change(copy.deepcopy(before))
            if after is None:
                return before
            document = {"kind": id_.partition(":")[0], "slot": slot, "data": after}
            if self._write(id_, found, document, refresh):
                return after
            time.sleep(pause * random.uniform(0.5, 1.5))  # noqa: S311
            pause = min(2 * pause, _LONGEST_PAUSE)
        raise DowseError(f"too many are writing to {self._client.address} at once; run the same again")

    def read(self, id_: str) -> State | None:
        """Return what a document was when it was last read or written here."""
        known = self._known.get(id_)
        return copy.deepcopy(known["_source"]["data"]) if known else None

    def _write(self, id_: str, found: dict[str, Any] | None, document: dict[str, Any], refresh: bool) -> bool:
        """Write a document unless somebody else did since it was found; return whether it was written."""
        import elasticsearch

        guard: dict[str, Any] = {"op_type": "create"}
        if found:
            guard = {"if_seq_no": found["_seq_no"], "if_primary_term": found["_primary_term"]}

        def send(es: elasticsearch.Elasticsearch) -> dict[str, Any] | None:
            try:
                # Only behind its alias: an index that was removed must not come back by itself.
                answer = es.index(
                    index=self._index, id=id_, document=document, refresh=refresh, require_alias=True, **guard
                )
            except elasticsearch.ConflictError:
                return None
            return dict(answer.body)

        written = self._client.call(send, seconds=self._seconds)
        if written is None:
            self._known.pop(id_, None)
            return False
        self._known[id_] = {**written, "_source": document}
        return True


class Transactions:
    """The transactions of one index."""

    def __init__(self, client: Client, names: Names) -> None:
        self._client, self._names = client, names
        self._documents = Documents(client, names)

    def start_index(self) -> State:
        """Write down that there is an index, if nobody has; return its state."""
        made = {
            **{"format": FORMAT, "identity": uuid.uuid4().hex, "sequence": 0, "active": []},
            **{"generation": 0, "totals": dict.fromkeys(_COUNTS, 0), "corpora": 0, "trees": 0},
            **{"incomplete": 0, "encoders": {}, "recent": []},
        }
        state = self._change(lambda found: made if found is None else None)
        return made if state is None else state

    def begin(self, source: str, owner: str) -> int:
        """Return the number of a new transaction of a source."""

        def change(state: State | None) -> State | None:
            state = _there(state, self._client)
            # An answer that got lost: it was given out before.
            if _entry(state, source, owner):
                return None
            state["sequence"] += 1
            state["active"].append({"tx": state["sequence"], "source": source, "owner": owner})
            return state

        entry = _entry(_there(self._change(change, fresh=False), self._client), source, owner)
        return int(entry["tx"]) if entry else self.begin(source, owner)

    def take_over(self, source: str, owner: str) -> tuple[State, int | None]:
        """Make the transaction that a dead writer of this source has left ours; None if there is none.

        From then on that writer, should it be alive after all, can't make anything visible.
        """

        def change(state: State | None) -> State | None:
            state = _there(state, self._client)
            left = [each for each in state["active"] if each["source"] == source]
            if not left or left[0]["owner"] == owner:
                return None
            left[0]["owner"] = owner
            return state

        state = _there(self._change(change), self._client)
        entry = _entry(state, source, owner)
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
            owner: Who holds the source's lock.
            tx: The transaction.
            outcome: What the source is now; None if it is gone.
            before: The version of the source that this one replaces, nothing if there was none.
            confirm: Raises if somebody else holds the source's lock.
        """

        def change(state: State | None) -> State | None:
            state = _there(state, self._client)
            entry = _entry(state, source, owner)
            if not entry or entry["tx"] != tx:
                if tx <= state["sequence"] and not any(each["tx"] == tx for each in state["active"]):
                    confirm()  # or another writer has taken it over and done it, or given it up
                    return None  # it is done: the answer to the last try got lost
                raise LostTransaction(f"another dowse is writing {source} now; run the same again")
            state["active"].remove(entry)
            _count(state, before, -1)
            _count(state, outcome.version if outcome else {}, +1)
            now = time.time()
            state["recent"] = [each for each in state["recent"] if now - each[1] < GRACE]
            if outcome is None or outcome.removes:
                state["recent"].append([tx, now])
            if outcome is None or outcome.has_changes or not state["generation"]:
                state["generation"] += 1
            return state

        return _there(self._change(change, fresh=False), self._client)

    def abandon(self, source: str, owner: str, tx: int) -> None:
        """Give a transaction back whose documents are gone."""

        def change(state: State | None) -> State | None:
            entry = _entry(state or {"active": []}, source, owner)
            if state is None or not entry or entry["tx"] != tx:
                return None
            state["active"].remove(entry)
            return state

        self._change(change)

    def note_encoder(self, encoder: str, about: Mapping[str, Any]) -> State:
        """Write down what is known of the vectors of an encoder."""

        def change(state: State | None) -> State | None:
            state = _there(state, self._client)
            known = state["encoders"].get(encoder, {})
            if {**known, **about} == known:
                return None
            state["encoders"][encoder] = {**known, **about}
            return state

        return _there(self._change(change), self._client)

    def _change(self, change: Change, fresh: bool = True) -> State | None:
        return self._documents.change(STATE_ID, self._checked(change), fresh=fresh)

    def _checked(self, change: Change) -> Change:
        def checked(state: State | None) -> State | None:
            if state is not None:
                check_format(state.get("format"), self._client, self._names)
            return change(state)

        return checked


def last_version(state: State, versions: Mapping[str, Any]) -> tuple[int, dict[str, Any]]:
    """Return the last transaction of a source that is done, and what it says; 0 if there is none."""
    active = {each["tx"] for each in state["active"]}
    done = [int(tx) for tx in versions if int(tx) not in active and int(tx) <= state["sequence"]]
    return (max(done), versions[str(max(done))]) if done else (0, {})


def with_version(
    versions: Mapping[str, Any], done: int, tx: int, version: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the versions of a source with one that is about to be done."""
    kept = sorted((int(each) for each in versions if int(each) <= done), reverse=True)[:_VERSIONS]
    return {**{str(each): versions[str(each)] for each in kept}, str(tx): dict(version)}


def removable(state: State) -> dict[str, Any]:
    """Return the query for documents that nobody can see any more."""
    kept = [each["tx"] for each in state["active"]]
    kept += [tx for tx, at in state["recent"] if time.time() - at < GRACE]
    clause: dict[str, Any] = {"filter": [{"range": {"died": {"lte": state["sequence"]}}}]}
    if kept:
        clause["must_not"] = [{"terms": {"died": kept}}]
    return {"bool": clause}


def _entry(state: State, source: str, owner: str) -> dict[str, Any] | None:
    for each in state["active"]:
        if each["source"] == source and each["owner"] == owner:
            found: dict[str, Any] = each
            return found
    return None


def _there(state: State | None, client: Client) -> State:
    if state is None:
        raise IndexMissing(f"the index on {client.address} was removed meanwhile; run `dowse index` again")
    return state


def _count(state: State, version: Mapping[str, Any], sign: int) -> None:
    """Add what a version of a source has to the totals, or take it away."""
    if not version:
        return
    for name in _COUNTS:
        state["totals"][name] = state["totals"].get(name, 0) + sign * int(version["counts"].get(name, 0))
    meta = version.get("meta", {})
    state["corpora" if meta.get("corpus") == "1" else "trees"] += sign
    state["incomplete"] += sign * int(meta.get("complete", "1") != "1")
