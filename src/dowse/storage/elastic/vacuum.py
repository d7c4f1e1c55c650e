"""Removes for good what nobody can see any more: documents that went longer ago than any reader holds on."""

from __future__ import annotations

import logging

from dowse.storage.elastic.client import Client
from dowse.storage.elastic.loading import NUMBER
from dowse.storage.elastic.names import VERSIONED, Names
from dowse.storage.elastic.sender import Action, Sender
from dowse.storage.elastic.session import scan
from dowse.storage.elastic.transactions import State, removable

_log = logging.getLogger(__name__)

# Removed after one commit; more is left for the next ones, for somebody is waiting.
_MOST = 50_000


def vacuum(client: Client, names: Names, state: State) -> int:
    """Remove what is left over from transactions before; return how many documents that were."""
    query, removed = removable(state), 0
    every = ",".join(names.alias(kind) for kind in VERSIONED)
    body = {"query": query, "size": 0, "track_total_hits": 1}
    if not client.search(every, body)["hits"]["total"]["value"]:
        return 0
    sender = Sender(client, lambda: None)
    try:
        for kind in VERSIONED:
            hits = scan(client, names.alias(kind), query, (NUMBER[kind], "born"), source=False, page=5000)
            for hit in hits:
                sender.put([Action("delete", names.alias(kind), hit["_id"])])
                removed += 1
                if removed >= _MOST:
                    break
        sender.drain()
    finally:
        sender.close()
    if removed:
        _log.debug("%d documents removed for good", removed)
    return removed
