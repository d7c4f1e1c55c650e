"""Whether an index on a cluster is whole: what it says of itself against what is there."""

from __future__ import annotations

from dowse.storage.elastic.session import Session


def problems_of(session: Session) -> list[str]:
    """Return what is wrong, nothing if all is well."""
    body = {"query": {"bool": {"must_not": session.visible}}, "size": 0, "track_total_hits": True}
    answers = session.msearch([("files", body), ("symbols", body)])
    found = []
    for name, answer in zip(("files", "symbols"), answers, strict=True):
        said, there = session.snapshot.totals.get(name, 0), answer["hits"]["total"]["value"]
        if said != there:
            found.append(
                f"the index says it has {said} {name}, the cluster {there}; run `dowse index --rebuild`"
            )
    indices = ",".join(session.names.every)
    health = session.client.call(lambda es: es.cluster.health(index=indices)).body
    if health["status"] == "red":
        found.append(f"{health['unassigned_shards']} shards have no node; see to the cluster's nodes")
    return found
