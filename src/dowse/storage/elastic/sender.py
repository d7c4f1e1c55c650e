"""Documents on their way to a cluster: in bulk, a few requests at a time, slower when it says so."""

from __future__ import annotations

import json
import logging
import random
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple

from dowse.errors import DowseError, IndexMissing
from dowse.storage.elastic.client import WRITE_SECONDS, Client
from dowse.storage.elastic.problems import AGAIN, ClusterBlocked, ClusterBusy, one_line, reason_of

if TYPE_CHECKING:
    from elasticsearch import Elasticsearch

_log = logging.getLogger(__name__)

# What one request holds; Elasticsearch advises some megabytes.
MOST_DOCUMENTS = 1000
MOST_BYTES = 5_000_000
# Requests under way at once: one is written while the next is read.
_AT_ONCE = 2
# A cluster that says it has too much to do is waited for so many times as long as one that is ill.
_BUSY_PATIENCE = 4
_FIRST_PAUSE, _LONGEST_PAUSE = 0.2, 10.0


class Action(NamedTuple):
    """One thing to do with one document."""

    what: str  # "index", "update" or "delete"
    target: str  # the index
    id: str
    body: bytes = b""

    @property
    def lines(self) -> list[bytes]:
        """It as a bulk request says it."""
        head: dict[str, Any] = {"_index": self.target, "_id": self.id}
        if self.what == "update":
            head["retry_on_conflict"] = 5
        line = json.dumps({self.what: head}).encode()
        return [line] if self.what == "delete" else [line, self.body]


def index_action(index: str, id_: str, document: dict[str, Any]) -> Action:
    """Write a document, in place of the one with its id if there is one."""
    return Action("index", index, id_, _packed(document))


def update_action(index: str, id_: str, changed: dict[str, Any]) -> Action:
    """Change some fields of a document."""
    return Action("update", index, id_, _packed({"doc": changed}))


def _packed(document: dict[str, Any]) -> bytes:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


class Sender:
    """Sends actions; for one thread, which gets the errors of all requests."""

    def __init__(self, client: Client, check: Callable[[], None]) -> None:
        """Make a sender.

        Args:
            client: The way to the cluster.
            check: Called before each request; raises if nothing may be sent any more.
        """
        self._client, self._check = client, check
        self._waiting: list[Action] = []
        self._bytes = 0
        self._pool = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="dowse-bulk")
        self._under_way: list[Future[None]] = []
        self._most = MOST_DOCUMENTS

    def put(self, actions: Iterable[Action]) -> None:
        """Send actions, soon; of those with one id, the order holds only within one request (see `drain`)."""
        for action in actions:
            self._waiting.append(action)
            self._bytes += len(action.body)
            if len(self._waiting) >= self._most or self._bytes >= MOST_BYTES:
                self._flush()

    def drain(self) -> None:
        """Wait until everything is there."""
        self._flush()
        self._settle(0)

    def close(self) -> None:
        """End, and forget what was not sent."""
        self._waiting.clear()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _flush(self) -> None:
        if self._waiting:
            actions, self._waiting, self._bytes = self._waiting, [], 0
            self._settle(_AT_ONCE - 1)
            self._under_way.append(self._pool.submit(self._send, actions))

    def _settle(self, most: int) -> None:
        """Wait until no more than so many requests are under way; raise what went wrong."""
        while len(self._under_way) > most:
            self._under_way.pop(0).result()

    def _send(self, actions: list[Action]) -> None:
        """Send actions until all are done; what is refused for too much work comes in smaller parts."""
        started, pause, size = time.monotonic(), _FIRST_PAUSE, len(actions)
        while actions:
            part = actions[:size]
            refused = self._request(part)
            actions = refused + actions[size:]
            if len(refused) < len(part):
                started = time.monotonic()  # it takes something
            if not refused:
                size, pause = 2 * size, _FIRST_PAUSE
                self._most = min(2 * self._most, MOST_DOCUMENTS)
                continue
            if time.monotonic() - started > _BUSY_PATIENCE * self._client.patience:
                raise ClusterBusy(
                    f"{self._client.address} has more to do than it can (429); "
                    f"wait, or give it more nodes, {AGAIN}"
                )
            size = self._most = max(1, len(part) // 2)
            time.sleep(pause * random.uniform(0.5, 1.5))  # noqa: S311
            pause = min(2 * pause, _LONGEST_PAUSE)

    def _request(self, actions: list[Action]) -> list[Action]:
        """Send one request; return what is to be sent again."""
        started = time.monotonic()
        lines: list[Any] = [line for action in actions for line in action.lines]

        def ask(es: Elasticsearch) -> Any:  # noqa: ANN401 - the client's own
            self._check()  # each time: while it was tried, somebody else may have taken over
            # Only behind an alias: an index that was removed must not come back by itself.
            return es.bulk(operations=lines, require_alias=True)

        try:
            answer = self._client.call(ask, seconds=WRITE_SECONDS, while_busy=False)
        except ClusterBusy:
            return actions
        _log.debug(
            "bulk: %d actions, %d bytes, %.3f s",
            len(actions),
            sum(map(len, lines)),
            time.monotonic() - started,
        )
        if not answer["errors"]:
            return []
        items = [next(iter(item.values())) for item in answer["items"]]
        return [
            action for action, item in zip(actions, items, strict=True) if self._must_repeat(action, item)
        ]

    def _must_repeat(self, action: Action, item: dict[str, Any]) -> bool:
        """Whether one action of a request has to be sent again; raises if that would not help."""
        status = int(item.get("status", 200))
        if "error" not in item:
            return False
        reason = reason_of(item["error"])
        if "index_not_found" in reason:
            raise IndexMissing(
                f"the index on {self._client.address} was removed meanwhile; run `dowse index` again"
            )
        if status == 404:  # what is gone need not be changed or removed
            return False
        if "cluster_block_exception" in reason and "no master" not in reason:
            raise ClusterBlocked(
                f"{self._client.address} takes nothing more, its disks are nearly full; "
                f"free some space there, {AGAIN}"
            )
        if status in (429, 503):
            return True
        raise DowseError(
            f"{self._client.address} can't take {action.id}: {one_line(reason)}; see `dowse doctor`"
        )
