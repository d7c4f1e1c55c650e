"""How an index fares on its cluster: nodes, copies, documents, bytes by field, and what should be done."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from dowse.storage.elastic.names import VERSIONED
from dowse.storage.elastic.session import Session

# What Elasticsearch's own advice says of shards: much larger ones take long to move when a node is lost.
_LARGEST_SHARD = 50_000_000_000
_SMALLEST_SHARD = 1_000_000_000
# Java collects garbage all the time when more than this share of its heap is in use.
_FULL_HEAP = 0.85
# Less free than this, and Elasticsearch puts no more shards on a disk.
_FREE_DISK = 0.15
# Edges of one vector in the graph that finds its neighbours: 32 on the lowest level, 4 bytes each.
_GRAPH_BYTES = 4 * 32
# Share of a machine's memory that is not Java's and can hold files.
_FILE_CACHE = 0.5
_LARGEST_FIELDS = 8


def health_of(session: Session, *, fields: bool = False) -> dict[str, Any]:
    """Return how the index fares, as plain data.

    Args:
        session: What sees it.
        fields: Also say how many bytes each field takes, which reads through the whole index.
    """
    client, names = session.client, session.names
    aliases = ",".join(names.every)
    cluster = client.call(lambda es: es.cluster.health(index=aliases)).body
    stats = client.call(lambda es: es.indices.stats(index=aliases, metric="docs,store")).body
    shards: Any = client.call(
        lambda es: es.cat.shards(index=aliases, format="json", bytes="b", h="index,prirep,store,state")
    ).body
    facts: dict[str, Any] = {
        "status": cluster["status"],
        "nodes": cluster["number_of_data_nodes"],
        "unassigned": cluster["unassigned_shards"],
        "indices": {kind: _index(stats["indices"], shards, names.alias(kind)) for kind in VERSIONED},
        "writing": len(session.snapshot.active),
        "machines": _machines(session),
    }
    if fields:
        facts["fields"] = {kind: _fields(session, kind) for kind in VERSIONED}
    return {**facts, "advice": advice(facts, session.snapshot.totals, session.snapshot.encoders)}


def lag_of(indexed_at: int, unembedded: int, changed: int) -> str:
    """Say how far the index is behind what it was made of."""
    parts = [f"{changed:,} files changed since"] if changed else []
    parts += [f"{unembedded:,} symbols without a vector"] if unembedded else []
    age = max(0, int(time.time()) - indexed_at)
    return ", ".join([f"last written {_spoken(age)} ago", *parts])


def advice(
    facts: Mapping[str, Any], totals: Mapping[str, int], encoders: Mapping[str, Mapping[str, Any]]
) -> list[str]:
    """Return what should be done, most urgent first."""
    return [
        *_about_copies(facts),
        *_about_shards(facts),
        *_about_memory(facts, totals, encoders),
        *_about_disks(facts),
    ]


def _index(stats: Mapping[str, Any], shards: Sequence[Mapping[str, Any]], alias: str) -> dict[str, Any]:
    """Return documents, bytes and copies of one index."""
    own = [each for name, each in stats.items() if name.startswith(alias)]
    mine = [each for each in shards if str(each["index"]).startswith(alias)]
    primaries = [each for each in mine if each["prirep"] == "p"]
    return {
        "documents": sum(each["primaries"]["docs"]["count"] for each in own),
        "deleted": sum(each["primaries"]["docs"]["deleted"] for each in own),
        "bytes": sum(each["primaries"]["store"]["size_in_bytes"] for each in own),
        "bytes_with_copies": sum(each["total"]["store"]["size_in_bytes"] for each in own),
        "shards": len(primaries),
        "replicas": (len(mine) - len(primaries)) // max(1, len(primaries)),
        "largest_shard": max((int(each["store"] or 0) for each in primaries), default=0),
    }


def _machines(session: Session) -> list[dict[str, Any]]:
    """Return memory and disk of each node."""
    found = session.client.call(lambda es: es.nodes.stats(metric="jvm,os,fs")).body
    return [
        {
            "name": node["name"],
            "heap_used": node["jvm"]["mem"]["heap_used_in_bytes"],
            "heap_most": node["jvm"]["mem"]["heap_max_in_bytes"],
            "memory": node["os"]["mem"]["total_in_bytes"],
            "disk": node["fs"]["total"]["total_in_bytes"],
            "disk_free": node["fs"]["total"]["available_in_bytes"],
        }
        for node in found["nodes"].values()
    ]


def _fields(session: Session, kind: str) -> dict[str, int]:
    """Return the bytes of the largest fields of an index, copies left out."""
    from elasticsearch.exceptions import GeneralAvailabilityWarning

    alias = session.names.alias(kind)
    with warnings.catch_warnings():  # the client tells everybody that this may change some day
        warnings.simplefilter("ignore", GeneralAvailabilityWarning)
        usage = session.client.call(
            lambda es: es.indices.disk_usage(index=alias, run_expensive_tasks=True), seconds=600
        ).body
    sizes: dict[str, int] = {}
    for name, each in usage.items():
        if name != "_shards":
            for field, taken in each["fields"].items():
                sizes[field] = sizes.get(field, 0) + int(taken["total_in_bytes"])
    return dict(sorted(sizes.items(), key=lambda item: -item[1])[:_LARGEST_FIELDS])


def _about_copies(facts: Mapping[str, Any]) -> list[str]:
    if facts["status"] == "red":
        return [f"{facts['unassigned']} shards have no node: bring back the node that held them"]
    if facts["status"] == "yellow":
        return [f"{facts['unassigned']} copies have no node: one is missing, or there are too few for them"]
    if facts["nodes"] > 1 and not facts["indices"]["symbols"]["replicas"]:
        return ["there is one copy of everything: raise `number_of_replicas` of its indices on the cluster"]
    return []


def _about_shards(facts: Mapping[str, Any]) -> list[str]:
    said = []
    for kind, index in facts["indices"].items():
        if index["largest_shard"] > _LARGEST_SHARD:
            wanted = -(-index["bytes"] // (_LARGEST_SHARD // 2))
            said.append(f"shards of {kind} are above 50 GB: fill a new index with `?shards={wanted}`")
        elif index["shards"] > facts["nodes"] and index["bytes"] / index["shards"] < _SMALLEST_SHARD:
            said.append(
                f"{kind} has {index['shards']} shards of less than 1 GB on {facts['nodes']} nodes: "
                f"a new index with `?shards={max(1, facts['nodes'])}` answers faster"
            )
    return said


def _about_memory(
    facts: Mapping[str, Any], totals: Mapping[str, int], encoders: Mapping[str, Mapping[str, Any]]
) -> list[str]:
    said = [
        f"{node['name']} uses {node['heap_used'] / node['heap_most']:.0%} of its heap: give it a larger one"
        for node in facts["machines"]
        if node["heap_used"] > _FULL_HEAP * node["heap_most"]
    ]
    copies = 1 + facts["indices"]["symbols"]["replicas"]
    dimensions = sum(int(about.get("dimension", 0)) for about in encoders.values())
    wanted = copies * totals.get("symbols", 0) * (dimensions + len(encoders) * _GRAPH_BYTES)
    free = sum(node["memory"] - node["heap_most"] for node in facts["machines"]) * _FILE_CACHE
    if wanted > free:
        said.append(
            f"vectors want {wanted / 1e9:.1f} GB of memory beside the heap, the nodes have about "
            f"{max(0.0, free) / 1e9:.1f}: searches by meaning will read from disk; add memory or nodes"
        )
    return said


def _about_disks(facts: Mapping[str, Any]) -> list[str]:
    return [
        f"{node['name']} has {node['disk_free'] / 1e9:.0f} GB of disk left: below 15 % it takes no shards"
        for node in facts["machines"]
        if node["disk_free"] < _FREE_DISK * node["disk"]
    ]


def _spoken(seconds: int) -> str:
    for unit, length in (("days", 86_400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * length:
            return f"{seconds // length} {unit}"
    return f"{seconds} seconds"
