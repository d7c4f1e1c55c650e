"""Vacuum: remove documents that were deleted longer ago than any reader holds a snapshot."""

from __future__ import annotations

import logging
import time
from typing import Any

from dowse.storage.elastic import transactions
from dowse.storage.elastic.bulk import Action, BulkWriter
from dowse.storage.elastic.client import Client
from dowse.storage.elastic.meta_documents import State
from dowse.storage.elastic.names import ID_FIELD, VERSIONED

_log = logging.getLogger(__name__)

# Removed after one commit; more is left for the next ones, because somebody is waiting.
_MAX_REMOVED = 50_000


def vacuum(client: Client, state: State) -> int:
    """Remove the documents that no reader can see any more; return how many."""
    query, removed = _removable(state), 0
    indices = ",".join(client.alias(kind) for kind in VERSIONED)
    body = {"query": query, "size": 0, "track_total_hits": 1}
    if not client.search(indices, body)["hits"]["total"]["value"]:
        return 0
    with BulkWriter(client) as bulk:
        for kind in VERSIONED:
            sort = (ID_FIELD[kind], "born")
            for hit in client.scan(client.alias(kind), query, sort, source=False, page=5000):
                bulk.put([Action("delete", client.alias(kind), hit["_id"])])
                removed += 1
                if removed >= _MAX_REMOVED:
                    break
        bulk.drain()
    _log.debug("vacuum: %d documents removed", removed)
    return removed


def _removable(state: State) -> dict[str, Any]:
    """Return the query for documents that no reader can see any more."""
    kept = [each["tx"] for each in state["active"]]
    kept += [tx for tx, at in state["recent"] if time.time() - at < transactions.GRACE_SECONDS]
    clause: dict[str, Any] = {"filter": [{"range": {"died": {"lte": state["sequence"]}}}]}
    if kept:
        clause["must_not"] = [{"terms": {"died": kept}}]
    return {"bool": clause}
