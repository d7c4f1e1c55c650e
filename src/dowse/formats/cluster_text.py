"""How `dowse status` speaks of the cluster that holds an index."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dowse.formats.text import render_size
from dowse.storage.elastic.health import describe_lag


def cluster_lines(cluster: Mapping[str, Any], facts: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return lines of name and value."""
    waiting = f", {cluster['unassigned']} shards without a node" if cluster["unassigned"] else ""
    lines = [("cluster", f"{cluster['status']}, {cluster['nodes']} nodes{waiting}")]
    lines += [(kind, _index(index)) for kind, index in cluster["indices"].items()]
    for kind, fields in cluster.get("fields", {}).items():
        said = ", ".join(f"{name} {render_size(size)}" for name, size in fields.items())
        lines.append((f"  {kind}", said))
    if cluster["writing"]:
        lines.append(("writers", f"{cluster['writing']} at work"))
    changed = sum(facts["changes"].values())
    unembedded = facts["symbols"] - facts["embedded"] if facts["encoder"] else 0
    lines.append(("lag", describe_lag(facts["indexed_at"], unembedded, changed)))
    return lines + [("advice", said) for said in cluster["advice"]]


def _index(index: Mapping[str, Any]) -> str:
    shards = f"{index['shards']} shards with {index['replicas']} copies each"
    gone = f", {index['deleted']:,} to be merged away" if index["deleted"] else ""
    return f"{index['documents']:,} documents{gone}, {render_size(index['bytes'])}, {shards}"
