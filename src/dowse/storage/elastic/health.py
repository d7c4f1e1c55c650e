"""Health of an index on its cluster: nodes, replicas, documents, bytes by field, and advice."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from dowse.storage.elastic.errors import AccessDenied
from dowse.storage.elastic.names import VERSIONED
from dowse.storage.elastic.snapshot import Snapshot, SnapshotSearcher

# Elasticsearch's own advice on the size of shards: much larger ones take long to move when a node is lost.
_MAX_SHARD_BYTES = 50_000_000_000
_MIN_SHARD_BYTES = 1_000_000_000
# Java collects garbage all the time when more than this share of its heap is used.
_MAX_HEAP_SHARE = 0.85
# Below this share (the low disk watermark), Elasticsearch allocates no more shards to a disk.
_MIN_FREE_DISK = 0.15
# Edges of one vector in the HNSW graph: 32 on the lowest level, 4 bytes each.
_GRAPH_BYTES = 4 * 32
# Share of a machine's memory outside the heap that the file system cache can use.
_FILE_CACHE_SHARE = 0.5
_LARGEST_FIELDS = 8


def read_health(searcher: SnapshotSearcher, *, fields: bool = False) -> dict[str, Any]:
    """Return the health of the index as plain data.

    Args:
        searcher: What sees it.
        fields: Also return the bytes of the largest fields, which reads through the whole index.
    """
    try:
        return _read_health(searcher, fields)
    except AccessDenied:  # searching needs no privilege on the cluster itself
        nothing: dict[str, Any] = {"status": "unknown", "nodes": 0, "unassigned": 0, "indices": {}}
        advice = "health is shown to users who have the privilege `monitor` on the cluster"
        return {**nothing, "writing": len(searcher.snapshot.active), "machines": [], "advice": [advice]}


def _read_health(searcher: SnapshotSearcher, fields: bool) -> dict[str, Any]:
    client, snapshot = searcher.client, searcher.snapshot
    aliases = client.aliases
    cluster = client.call(lambda es: es.cluster.health(index=aliases)).body
    stats = client.call(lambda es: es.indices.stats(index=aliases, metric="docs,store")).body
    shards: Any = client.call(
        lambda es: es.cat.shards(index=aliases, format="json", bytes="b", h="index,prirep,store,state")
    ).body
    facts: dict[str, Any] = {
        "status": cluster["status"],
        "nodes": cluster["number_of_data_nodes"],
        "unassigned": cluster["unassigned_shards"],
        "indices": {kind: _index_facts(stats["indices"], shards, client.alias(kind)) for kind in VERSIONED},
        "writing": len(snapshot.active),
        "machines": _machine_facts(searcher),
    }
    if fields:
        facts["fields"] = {kind: _field_bytes(searcher, kind) for kind in VERSIONED}
    # Most urgent first.
    advice = [*_replica_advice(facts), *_shard_advice(facts), *_memory_advice(facts, snapshot)]
    return {**facts, "advice": [*advice, *_disk_advice(facts)]}


def describe_lag(indexed_at: int, unembedded: int, changed: int) -> str:
    """Say how far the index is behind its sources."""
    parts = [f"{changed:,} files changed since"] if changed else []
    parts += [f"{unembedded:,} symbols without a vector"] if unembedded else []
    age = max(0, int(time.time()) - indexed_at)
    units = (("days", 86_400), ("hours", 3600), ("minutes", 60), ("seconds", 1))
    unit, length = next(each for each in units if age >= 2 * each[1] or each[1] == 1)
    return ", ".join([f"last written {age // length} {unit} ago", *parts])


def _index_facts(stats: Mapping[str, Any], shards: Sequence[Mapping[str, Any]], alias: str) -> dict[str, Any]:
    """Return documents, bytes and replicas of one index."""
    own_stats = [each for name, each in stats.items() if name.startswith(alias)]
    own_shards = [each for each in shards if str(each["index"]).startswith(alias)]
    primaries = [each for each in own_shards if each["prirep"] == "p"]
    return {
        "documents": sum(each["primaries"]["docs"]["count"] for each in own_stats),
        "deleted": sum(each["primaries"]["docs"]["deleted"] for each in own_stats),
        "bytes": sum(each["primaries"]["store"]["size_in_bytes"] for each in own_stats),
        "bytes_with_copies": sum(each["total"]["store"]["size_in_bytes"] for each in own_stats),
        "shards": len(primaries),
        "replicas": (len(own_shards) - len(primaries)) // max(1, len(primaries)),
        "largest_shard": max((int(each["store"] or 0) for each in primaries), default=0),
    }


def _machine_facts(searcher: SnapshotSearcher) -> list[dict[str, Any]]:
    """Return memory and disk of each node."""
    stats = searcher.client.call(lambda es: es.nodes.stats(metric="jvm,os,fs")).body
    return [
        {
            "name": node["name"],
            "heap_used": node["jvm"]["mem"]["heap_used_in_bytes"],
            "heap_most": node["jvm"]["mem"]["heap_max_in_bytes"],
            "memory": node["os"]["mem"]["total_in_bytes"],
            "disk": node["fs"]["total"]["total_in_bytes"],
            "disk_free": node["fs"]["total"]["available_in_bytes"],
        }
        for node in stats["nodes"].values()
    ]


def _field_bytes(searcher: SnapshotSearcher, kind: str) -> dict[str, int]:
    """Return the bytes of the largest fields of an index, without replicas."""
    from elasticsearch.exceptions import GeneralAvailabilityWarning

    alias = searcher.client.alias(kind)
    with warnings.catch_warnings():  # the client warns that this API may change
        warnings.simplefilter("ignore", GeneralAvailabilityWarning)
        usage = searcher.client.call(
            lambda es: es.indices.disk_usage(index=alias, run_expensive_tasks=True), timeout=600
        ).body
    sizes: dict[str, int] = {}
    for name, index in usage.items():
        if name != "_shards":
            for field, size in index["fields"].items():
                sizes[field] = sizes.get(field, 0) + int(size["total_in_bytes"])
    return dict(sorted(sizes.items(), key=lambda item: -item[1])[:_LARGEST_FIELDS])


def _replica_advice(facts: Mapping[str, Any]) -> list[str]:
    if facts["status"] == "red":
        return [f"{facts['unassigned']} shards have no node: restart the node that held them"]
    if facts["status"] == "yellow":
        return [f"{facts['unassigned']} replicas have no node: one is missing, or there are too few nodes"]
    if facts["nodes"] > 1 and not facts["indices"]["symbols"]["replicas"]:
        return ["there are no replicas: raise `number_of_replicas` of its indices on the cluster"]
    return []


def _shard_advice(facts: Mapping[str, Any]) -> list[str]:
    advice = []
    for kind, index in facts["indices"].items():
        if index["largest_shard"] > _MAX_SHARD_BYTES:
            shards = -(-index["bytes"] // (_MAX_SHARD_BYTES // 2))
            advice.append(f"shards of {kind} are above 50 GB: fill a new index with `?shards={shards}`")
        elif index["shards"] > facts["nodes"] and index["bytes"] / index["shards"] < _MIN_SHARD_BYTES:
            advice.append(
                f"{kind} has {index['shards']} shards of less than 1 GB on {facts['nodes']} nodes: "
                f"a new index with `?shards={max(1, facts['nodes'])}` answers faster"
            )
    return advice


def _memory_advice(facts: Mapping[str, Any], snapshot: Snapshot) -> list[str]:
    advice = [
        f"{node['name']} uses {node['heap_used'] / node['heap_most']:.0%} of its heap: give it a larger one"
        for node in facts["machines"]
        if node["heap_used"] > _MAX_HEAP_SHARE * node["heap_most"]
    ]
    copies = 1 + facts["indices"]["symbols"]["replicas"]
    dimensions = sum(int(each.get("dimension", 0)) for each in snapshot.encoders.values())
    graphs = len(snapshot.encoders) * _GRAPH_BYTES
    required = copies * snapshot.totals.get("symbols", 0) * (dimensions + graphs)
    free = sum(node["memory"] - node["heap_most"] for node in facts["machines"]) * _FILE_CACHE_SHARE
    if required > free:
        advice.append(
            f"vectors need {required / 1e9:.1f} GB of memory beside the heap, the nodes have about "
            f"{max(0.0, free) / 1e9:.1f}: dense searches will read from disk; add memory or nodes"
        )
    return advice


def _disk_advice(facts: Mapping[str, Any]) -> list[str]:
    return [
        f"{node['name']} has {node['disk_free'] / 1e9:.0f} GB of disk left: below 15 % it takes no shards"
        for node in facts["machines"]
        if node["disk_free"] < _MIN_FREE_DISK * node["disk"]
    ]
