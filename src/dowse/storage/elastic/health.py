"""Health of an index on its cluster: nodes, documents, bytes, and advice where shards have no node."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dowse.storage.elastic.errors import AccessDenied
from dowse.storage.elastic.names import VERSIONED
from dowse.storage.elastic.snapshot import SnapshotSearcher


def read_health(searcher: SnapshotSearcher) -> dict[str, Any]:
    """Return the health of the index as plain data."""
    writing = len(searcher.snapshot.active)
    try:
        return {**_read_health(searcher), "writing": writing}
    except AccessDenied:  # searching needs no privilege on the cluster itself
        advice = "health is shown to users who have the privilege `monitor` on the cluster"
        nothing: dict[str, Any] = {"status": "unknown", "nodes": 0, "unassigned": 0, "indices": {}}
        return {**nothing, "advice": [advice], "writing": writing}


def _read_health(searcher: SnapshotSearcher) -> dict[str, Any]:
    client = searcher.client
    cluster = client.call(lambda es: es.cluster.health(index=client.aliases)).body
    stats = client.call(lambda es: es.indices.stats(index=client.aliases, metric="docs,store")).body
    return {
        "status": cluster["status"],
        "nodes": cluster["number_of_data_nodes"],
        "unassigned": cluster["unassigned_shards"],
        "indices": {kind: _index_facts(stats["indices"], client.alias(kind)) for kind in VERSIONED},
        "advice": _advice(cluster["status"], cluster["unassigned_shards"]),
    }


def _index_facts(stats: Mapping[str, Any], alias: str) -> dict[str, int]:
    """Return documents and bytes of one index, without replicas."""
    own = [each["primaries"] for name, each in stats.items() if name.startswith(alias)]
    return {
        "documents": sum(each["docs"]["count"] for each in own),
        "bytes": sum(each["store"]["size_in_bytes"] for each in own),
    }


def _advice(status: str, unassigned: int) -> list[str]:
    if status == "red":
        return [f"{unassigned} shards have no node: restart the node that held them"]
    if status == "yellow":
        return [f"{unassigned} replicas have no node: one is missing, or there are too few nodes"]
    return []
