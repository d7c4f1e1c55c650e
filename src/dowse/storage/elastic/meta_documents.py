"""Documents of the meta index, changed by optimistic concurrency control.

A change is written only if nobody else has changed the document since it was read (compare and swap); else
it is applied again to the new version. So all writers see the same order of changes.
"""

from __future__ import annotations

import copy
import random
import time
from collections.abc import Callable
from typing import Any

from dowse.errors import DowseError
from dowse.storage.elastic.client import WRITE_SECONDS, Client
from dowse.storage.elastic.names import META

State = dict[str, Any]
# Returns the new document for the current one (None: there is none); None leaves it as it is.
Change = Callable[[State | None], State | None]

# Writers that commit at once conflict; each round has one winner.
_MAX_ATTEMPTS = 200
_FIRST_PAUSE, _LONGEST_PAUSE = 0.005, 0.5


class MetaDocuments:
    """Changes documents by compare and swap."""

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
            current = None if fresh or attempt else self._known.get(id_)
            current = current or self._client.get(self._index, id_)
            if current:
                self._known[id_] = current
            before = current["_source"]["data"] if current else None
            after = change(copy.deepcopy(before))
            if after is None:
                return before
            document = {"kind": id_.partition(":")[0], "slot": source, "data": after}
            if self._compare_and_swap(id_, current, document, refresh):
                return after
            time.sleep(pause * random.uniform(0.5, 1.5))  # noqa: S311
            pause = min(2 * pause, _LONGEST_PAUSE)
        raise DowseError(f"too many writers commit to {self._client.address} at once; run the same again")

    def last_known(self, id_: str) -> State | None:
        """Return a document as it was last read or written here."""
        known = self._known.get(id_)
        return copy.deepcopy(known["_source"]["data"]) if known else None

    def _compare_and_swap(
        self, id_: str, current: dict[str, Any] | None, document: dict[str, Any], refresh: bool
    ) -> bool:
        """Write a document unless it was changed since it was found; return whether it was written."""
        import elasticsearch

        guard: dict[str, Any] = {"op_type": "create"}
        if current:
            guard = {"if_seq_no": current["_seq_no"], "if_primary_term": current["_primary_term"]}

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
