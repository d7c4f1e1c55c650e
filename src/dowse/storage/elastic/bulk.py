"""Write documents through the bulk API: a few requests at a time, smaller ones under backpressure (429)."""

from __future__ import annotations

import json
import logging
import random
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from dowse.errors import DowseError, IndexMissing
from dowse.lazy_classes import NamedTuple
from dowse.storage.elastic.client import WRITE_SECONDS, Client
from dowse.storage.elastic.errors import (
    ClusterBusy,
    access_denied,
    cluster_busy,
    disk_full,
    error_reason,
    is_write_block,
    one_line,
)

if TYPE_CHECKING:
    from elasticsearch import Elasticsearch

_log = logging.getLogger(__name__)

# Size of one request; Elasticsearch advises some megabytes.
MAX_DOCUMENTS = 1000
MAX_BYTES = 5_000_000
# Concurrent requests: one is written while the next is received.
_CONCURRENCY = 2
# A cluster that rejects requests as too many is retried so many times as long as one that fails.
_BUSY_FACTOR = 4
FIRST_PAUSE, _LONGEST_PAUSE = 0.2, 10.0


class Action(NamedTuple):
    """One action of a bulk request."""

    operation: str  # "create", "index", "update" or "delete"
    target: str  # the index
    id: str
    body: bytes = b""

    @property
    def lines(self) -> list[bytes]:
        """Its lines of a bulk request (NDJSON)."""
        head: dict[str, Any] = {"_index": self.target, "_id": self.id}
        if self.operation == "update":
            head["retry_on_conflict"] = 5
        line = json.dumps({self.operation: head}).encode()
        return [line] if self.operation == "delete" else [line, self.body]


def create_action(index: str, id_: str, document: dict[str, Any]) -> Action:
    """Write a document with an id that nobody has used; repeated or carried out late, it changes nothing."""
    return Action("create", index, id_, _to_json(document))


def index_action(index: str, id_: str, document: dict[str, Any]) -> Action:
    """Write a document, replacing the one with its id."""
    return Action("index", index, id_, _to_json(document))


def update_action(index: str, id_: str, changed: dict[str, Any]) -> Action:
    """Change some fields of a document."""
    return Action("update", index, id_, _to_json({"doc": changed}))


def _to_json(document: dict[str, Any]) -> bytes:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


class BulkWriter:
    """Sends actions; for one thread, which gets the errors of all requests."""

    def __init__(self, client: Client, check: Callable[[], None] = lambda: None) -> None:
        """Create a writer; `check` is called before each request and raises if nothing may be sent."""
        self._client, self._check = client, check
        self._buffer: list[Action] = []
        self._buffer_bytes = 0
        self._pool = ThreadPoolExecutor(_CONCURRENCY, thread_name_prefix="dowse-bulk")
        self._requests: list[Future[None]] = []
        self._max_documents = MAX_DOCUMENTS

    def __enter__(self) -> BulkWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def put(self, actions: Iterable[Action]) -> None:
        """Send actions, soon; actions on one id keep their order only within one request (see `drain`)."""
        for action in actions:
            self._buffer.append(action)
            self._buffer_bytes += len(action.body)
            if len(self._buffer) >= self._max_documents or self._buffer_bytes >= MAX_BYTES:
                self._flush()

    def drain(self) -> None:
        """Send everything and wait until it is written."""
        self._flush()
        self._await_requests(0)

    def close(self) -> None:
        """Stop; what was not sent is discarded."""
        self._buffer.clear()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _flush(self) -> None:
        if self._buffer:
            actions, self._buffer, self._buffer_bytes = self._buffer, [], 0
            self._await_requests(_CONCURRENCY - 1)
            self._requests.append(self._pool.submit(self._send, actions))

    def _await_requests(self, limit: int) -> None:
        """Wait until at most `limit` requests are running; raise their errors."""
        while len(self._requests) > limit:
            self._requests.pop(0).result()

    def _send(self, actions: list[Action]) -> None:
        """Send actions until all are written; rejected ones (429) are retried in smaller requests."""
        started, pause, size = time.monotonic(), FIRST_PAUSE, len(actions)
        while actions:
            part = actions[:size]
            rejected = self._request(part)
            actions = rejected + actions[size:]
            if len(rejected) < len(part):
                started = time.monotonic()  # there is progress
            if not rejected:
                size, pause = 2 * size, FIRST_PAUSE
                self._max_documents = min(2 * self._max_documents, MAX_DOCUMENTS)
                continue
            if time.monotonic() - started > _BUSY_FACTOR * self._client.retry_seconds:
                raise cluster_busy(self._client.address)
            size = self._max_documents = max(1, len(part) // 2)
            time.sleep(pause * random.uniform(0.5, 1.5))  # noqa: S311
            pause = min(2 * pause, _LONGEST_PAUSE)

    def _request(self, actions: list[Action]) -> list[Action]:
        """Send one request; return the actions to send again."""
        started = time.monotonic()
        lines: list[Any] = [line for action in actions for line in action.lines]

        def request(es: Elasticsearch) -> Any:  # noqa: ANN401 - the client's own
            self._check()  # each time: another writer may have taken over between two attempts
            # Only through an alias: an index that was removed must not be created by a write.
            return es.bulk(operations=lines, require_alias=True)

        try:
            answer = self._client.call(request, timeout=WRITE_SECONDS, retry_busy=False)
        except ClusterBusy:
            return actions
        size, seconds = sum(map(len, lines)), time.monotonic() - started
        _log.debug("bulk: %d actions, %d bytes, %.3f s", len(actions), size, seconds)
        if not answer["errors"]:
            return []
        items = [next(iter(item.values())) for item in answer["items"]]
        return [
            action for action, item in zip(actions, items, strict=True) if self._is_retryable(action, item)
        ]

    def _is_retryable(self, action: Action, item: dict[str, Any]) -> bool:
        """Whether an action has to be sent again; raises if that would not help."""
        if "error" not in item:
            return False
        status, reason = int(item.get("status", 200)), error_reason(item["error"])
        if "index_not_found" in reason:
            raise IndexMissing(
                f"the index on {self._client.address} was removed meanwhile; run `dowse index` again"
            )
        # A missing document need not be changed or deleted, one that is there not be created.
        if status == 404 or (status == 409 and action.operation == "create"):
            return False
        if is_write_block(reason):
            raise disk_full(self._client.address)
        if status in (429, 503):
            return True
        if status == 403:
            raise access_denied(reason, self._client.address)
        raise DowseError(
            f"{self._client.address} can't store {action.id}: {one_line(reason)}; see `dowse doctor`"
        )
