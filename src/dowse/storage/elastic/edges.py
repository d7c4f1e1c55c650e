"""The graph on the cluster: one document for each symbol that refers to others, one or two round trips a hop.

A reference that was resolved has its target. One of which only the name is known means whatever symbols of
its source have that name now, so they are looked up when they are asked for, as `store.graph_tables` does.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from dowse.storage.elastic.memory import Bearing, Memory
from dowse.storage.elastic.names import name_key_of
from dowse.storage.elastic.query import among, any_of, visible_query
from dowse.storage.elastic.rows import MOST_HITS, batches, bearing_of, columns, number
from dowse.storage.local.graph_tables import KINDS
from dowse.types import Edge

if TYPE_CHECKING:
    from dowse.storage.elastic.session import Session

# Documents of one page, each with all that a symbol refers to.
_PAGE = 1_000
# Values of one query.
_VALUES = 10_000
_SOURCE = ["row", "file", "source", "repo", "path", "data"]
_BEARING = ["row", "name_key", "overrides"]
_PLACE = ("repo", "path", "line", "row")


class _Bearers(NamedTuple):
    """Who has some names: how many each, and which rows, those that may be meant otherwise marked."""

    counts: dict[str, int]
    rows: dict[str, list[tuple[int, bool]]]


def edges(
    session: Session, memory: Memory, rows: Sequence[int], kinds: Sequence[str], incoming: bool, limit: int
) -> list[Edge]:
    """Return edges out of symbols or into them, ordered by place."""
    wanted = frozenset(kinds) & frozenset(KINDS) if kinds else frozenset(KINDS)
    unique = sorted({row for row in rows if row > 0})
    if not wanted or not unique or limit <= 0:
        return []
    found: list[tuple[tuple[str, str], Edge]] = []
    for batch in batches(unique, _VALUES):
        found += (_into if incoming else _out_of)(session, memory, batch, wanted, limit)
    found.sort(key=lambda each: (each[0], each[1].line, each[1].column, each[1].target, each[1].kind))
    return [edge for _, edge in found[:limit]]


def _out_of(
    session: Session, memory: Memory, rows: Sequence[int], kinds: frozenset[str], limit: int
) -> Iterator[tuple[tuple[str, str], Edge]]:
    """Give the edges out of symbols; a second question finds who has the names that they say."""
    documents = _pages(
        session, among("row", rows), kinds, limit, lambda each: len(_parts(each, "edges", kinds))
    )
    names = {
        name_key_of(each["source"], key): None
        for each in documents
        for _, _, _, key, _ in _parts(each, "named", kinds)
    }
    bearers = _bearers(session, memory, list(names), min(limit, MOST_HITS)) if names else _Bearers({}, {})
    for each in documents:
        place = (each["repo"], each["path"])
        for kind, line, column, head, candidates in _parts(each, "edges", kinds):
            yield place, _linked(each, kind, line, column, head, candidates)
        for kind, line, column, key, sure in _parts(each, "named", kinds):
            name = name_key_of(each["source"], key)
            for head, overrides in bearers.rows.get(name, ()):
                certain = bool(sure) and not overrides
                yield place, _named(each, kind, line, column, head, bearers.counts[name], certain)


def _into(
    session: Session, memory: Memory, rows: Sequence[int], kinds: frozenset[str], limit: int
) -> Iterator[tuple[tuple[str, str], Edge]]:
    """Give the edges into symbols: those that name them by row, and those that say a name which they have."""
    heads = frozenset(rows)
    bearings = _bearings(session, memory, rows)
    having: dict[str, list[tuple[int, bool]]] = defaultdict(list)
    for row, bearing in bearings.items():
        if bearing.name_key:
            having[bearing.name_key].append((row, bearing.overrides))

    def size(each: Mapping[str, Any]) -> int:
        linked = sum(head in heads for _, _, _, head, _ in _parts(each, "edges", kinds))
        source = each["source"]
        return linked + sum(
            len(having.get(name_key_of(source, key), ())) for *_, key, _ in _parts(each, "named", kinds)
        )

    either = [among("heads", rows)]
    if having:
        either.append(among("name_keys", having))
    documents = _pages(session, any_of(either), kinds, limit, size)
    said = {
        name_key_of(each["source"], key) for each in documents for *_, key, _ in _parts(each, "named", kinds)
    }
    counts = _bearers(session, memory, sorted(said & having.keys()), 0).counts
    for each in documents:
        place = (each["repo"], each["path"])
        for kind, line, column, head, candidates in _parts(each, "edges", kinds):
            if head in heads:
                yield place, _linked(each, kind, line, column, head, candidates)
        for kind, line, column, key, sure in _parts(each, "named", kinds):
            name = name_key_of(each["source"], key)
            for head, overrides in having.get(name, ()):
                certain = bool(sure) and not overrides
                yield place, _named(each, kind, line, column, head, counts[name], certain)


def _pages(
    session: Session,
    query: dict[str, Any],
    kinds: frozenset[str],
    limit: int,
    size: Callable[[Mapping[str, Any]], int],
) -> list[Mapping[str, Any]]:
    """Return documents in the order of places, until no later one can be among the first `limit` edges.

    `size` says how many edges a document surely gives. Documents come by path, so all edges of files before
    the one at hand are known.
    """
    filters = [query] if len(kinds) == len(KINDS) else [query, {"terms": {"kinds": sorted(kinds)}}]
    body: dict[str, Any] = {
        "query": visible_query(session.visible, filters),
        **{"size": _PAGE, "_source": _SOURCE, "sort": [{name: "asc"} for name in _PLACE]},
    }
    found: list[Mapping[str, Any]] = []
    settled = 0
    while True:
        hits = session.search("edges", body)["hits"]["hits"]
        found += (hit["_source"] for hit in hits)
        if len(hits) < _PAGE:
            return found
        body["search_after"] = hits[-1]["sort"]
        path = (hits[-1]["_source"]["repo"], hits[-1]["_source"]["path"])
        settled += sum(
            size(hit["_source"]) for hit in hits if (hit["_source"]["repo"], hit["_source"]["path"]) < path
        )
        if settled >= limit:
            return found


def _parts(document: Mapping[str, Any], name: str, kinds: frozenset[str]) -> list[list[Any]]:
    return [each for each in document["data"][name] if each[0] in kinds]


def _bearings(session: Session, memory: Memory, rows: Sequence[int]) -> dict[int, Bearing]:
    """Return by which names some symbols go; those that were read before are not asked for again."""
    known = {row: memory.bearings[row] for row in rows if row in memory.bearings}
    missing = [row for row in rows if row not in known]
    if missing:
        body = {
            "query": visible_query(session.visible, [among("row", missing)]),
            **{"size": len(missing), **columns(_BEARING)},
        }
        for hit in session.search("symbols", body)["hits"]["hits"]:
            known[number(hit)] = bearing_of(hit)
    return known


def _bearers(session: Session, memory: Memory, names: Sequence[str], most: int) -> _Bearers:
    """Return how many symbols have each name, and so many of them."""
    found = _Bearers({}, defaultdict(list))
    for batch in batches(names, _VALUES):
        body = {
            "query": visible_query(session.visible, [{"terms": {"name_key": batch}}]),
            **{"size": most, "sort": [{"row": "asc"}], **columns(_BEARING)},
            "aggs": {"names": {"terms": {"field": "name_key", "size": len(batch)}}},
        }
        answer = session.search("symbols", body)
        for bucket in answer["aggregations"]["names"]["buckets"]:
            found.counts[bucket["key"]] = bucket["doc_count"]
        for hit in answer["hits"]["hits"]:
            bearing = bearing_of(hit)
            found.rows[bearing.name_key].append((number(hit), bearing.overrides))
    return found


def _linked(each: Mapping[str, Any], kind: str, line: int, column: int, head: int, candidates: int) -> Edge:
    confidence = "ambiguous" if candidates > 1 else "resolved"
    return Edge(kind, each["row"], head, each["file"], line, column, confidence, candidates)


def _named(
    each: Mapping[str, Any], kind: str, line: int, column: int, head: int, candidates: int, sure: bool
) -> Edge:
    confidence = "unique" if sure and candidates == 1 else "ambiguous"
    return Edge(kind, each["row"], head, each["file"], line, column, confidence, candidates)
