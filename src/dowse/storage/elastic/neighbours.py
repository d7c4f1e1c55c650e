"""Vectors on the cluster: who is near, who has none yet, groups of similar symbols.

A vector is kept as bytes at full scale, for cosines do not care how long it is: see `vector_writer.as_text`.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dowse.storage.elastic.keyword import MOST_WITH_ROWS
from dowse.storage.elastic.memory import Memory
from dowse.storage.elastic.names import clusters_id, vector_field
from dowse.storage.elastic.query import among, filters_of, visible_query
from dowse.storage.elastic.rows import (
    MOST_HITS,
    ROW_COLUMNS,
    batches,
    columns,
    number,
    scan_columns,
    symbol_row,
)
from dowse.storage.elastic.vector_writer import as_text, from_texts

if TYPE_CHECKING:
    from dowse.storage.elastic.session import Session
    from dowse.storage.protocol import Floats, VectorRequest

# Symbols looked at in each shard for one that is wanted, and at least, and at most.
_LOOK, _LOOK_LEAST, _LOOK_MOST = 2, 300, 10_000
# Members of a group that are looked for among so many around its centre.
_AROUND = 10_000
_VECTORS_AT_ONCE = 2_000


def nearest(session: Session, memory: Memory, request: VectorRequest, limit: int) -> list[tuple[int, float]]:
    """Return (row, cosine) of the symbols whose vectors are nearest, best first."""
    if request.encoder not in session.snapshot.encoders or limit <= 0 or not request.vector.any():
        return []
    filters = filters_of(request.constraint, request.exact_rows)
    limit = min(limit, MOST_HITS)
    look = _LOOK_MOST if request.method == "exact" else max(_LOOK_LEAST, _LOOK * limit)
    brings = limit <= MOST_WITH_ROWS
    body: dict[str, Any] = {
        "knn": _knn(session, request.encoder, request.vector, limit, look, filters),
        **{"size": limit, **columns(ROW_COLUMNS if brings else ["row"])},
    }
    hits = session.search("symbols", body)["hits"]["hits"]
    if brings:
        memory.keep_rows(map(symbol_row, hits))
    found = [(number(hit), 2 * float(hit["_score"]) - 1) for hit in hits]
    return sorted(found, key=lambda each: (-each[1], each[0]))


def embedded(session: Session, memory: Memory, encoder: str) -> int:
    """Return how many symbols have a vector; asked again only while some have none."""
    if encoder not in session.snapshot.encoders:
        return 0
    if encoder in memory.embedded:
        return memory.embedded[encoder]
    query = visible_query(session.visible, [{"exists": {"field": vector_field(encoder)}}])
    body = {"query": query, "size": 0, "track_total_hits": True}
    count = int(session.search("symbols", body)["hits"]["total"]["value"])
    if count == session.snapshot.totals["symbols"]:
        memory.embedded[encoder] = count
    return count


def missing_vectors(session: Session, encoder: str) -> list[tuple[int, bytes]]:
    """Return (row, key) of symbols that have no vector yet, one for each key."""
    missing = None
    if encoder in session.snapshot.encoders:
        missing = {"bool": {"must_not": [{"exists": {"field": vector_field(encoder)}}]}}
    found: dict[str, int] = {}
    for hit in scan_columns(session, "symbols", missing, "row", ["row", "vector_key"]):
        found.setdefault(hit["fields"]["vector_key"][0], number(hit))
    return [(row, bytes.fromhex(key)) for key, row in found.items()]


def vectors(session: Session, encoder: str, rows: Sequence[int]) -> Floats:
    """Return the vectors of symbols, a row of zeros for one that has none."""
    known = session.snapshot.encoders.get(encoder)
    found: dict[int, str] = {}
    for batch in batches(dict.fromkeys(rows), _VECTORS_AT_ONCE) if known else ():
        body = {
            "query": visible_query(session.visible, [among("row", batch)]),
            **{"size": len(batch), "_source": ["row", vector_field(encoder)]},
        }
        for hit in session.search("symbols", body)["hits"]["hits"]:
            if vector_field(encoder) in hit["_source"]:
                found[hit["_source"]["row"]] = hit["_source"][vector_field(encoder)]
    dimension = int(known["dimension"]) if known else 1
    result = np.zeros((len(rows), dimension), np.float32)
    having = [at for at, row in enumerate(rows) if row in found]
    if having:
        result[having] = from_texts([found[rows[at]] for at in having], dimension)
    return result


def clusters(session: Session, encoder: str) -> Floats:
    """Return the centres of the groups of similar symbols, none if they were not fitted."""
    known = session.snapshot.encoders.get(encoder)
    found = session.get("meta", clusters_id(encoder)) if known and "clusters" in known else None
    if not known or not found:
        return np.zeros((0, int(known["dimension"]) if known else 1), np.float32)
    centres = np.frombuffer(b64decode(found["data"]["centres"]), np.float32)
    return centres.reshape(-1, int(known["dimension"]))


def members(session: Session, encoder: str, centres: Floats, cluster: int) -> list[tuple[int, float]]:
    """Return (row, cosine) of the symbols nearer to this centre than to any other, nearest first.

    On an index of more symbols than one search gives, those among the nearest of them.
    """
    from dowse.vectors.kmeans import nearest_centroids

    if not 0 <= cluster < len(centres):
        return []
    field = vector_field(encoder)
    body = {
        "knn": _knn(session, encoder, centres[cluster], _AROUND, _AROUND, []),
        **{"size": _AROUND, "_source": ["row", field]},
    }
    sources = [hit["_source"] for hit in session.search("symbols", body)["hits"]["hits"]]
    if not sources:
        return []
    labels, cosines = nearest_centroids(
        from_texts([each[field] for each in sources], centres.shape[1]), centres
    )
    rows = np.array([each["row"] for each in sources], np.int64)
    mine = np.flatnonzero(labels == cluster)
    order = mine[np.lexsort((rows[mine], -cosines[mine]))]
    return [(int(rows[at]), float(cosines[at])) for at in order]


def _knn(
    session: Session, encoder: str, vector: Floats, k: int, look: int, filters: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    """Return the search for neighbours; what is not visible or not allowed is passed over on the way."""
    (asked,) = as_text(vector[None])
    return {
        "field": vector_field(encoder),
        "query_vector": asked,
        "k": k,
        "num_candidates": max(k, min(look, _LOOK_MOST)),
        "filter": visible_query(session.visible, filters),
    }
