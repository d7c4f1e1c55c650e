"""Snapshot isolation by multiversion concurrency control: which documents a reader sees.

A snapshot is the number of the last transaction that was begun, and the transactions that were active then. A
document is visible if the transaction that created it (`born`) is committed and the one that deleted it
(`died`), if any, is not, as in PostgreSQL. So many writers work at once, each in its own transaction, and
nobody sees half of one.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from dowse.errors import IndexMissing, IndexVersionError
from dowse.lazy_classes import dataclass, fields
from dowse.storage.elastic.errors import AccessDenied
from dowse.storage.elastic.globs import Query
from dowse.storage.elastic.names import FILES, ID_FIELD, META, NAMES, STATE_ID, SYMBOLS, source_id
from dowse.storage.elastic.query import among

if TYPE_CHECKING:
    from dowse.storage.elastic.client import Client, Hit

T = TypeVar("T")
# Incremented whenever what is stored on a cluster, or how it is tokenized, changes.
FORMAT = 4
# Elasticsearch's own limit on the hits of one search.
MAX_HITS = 10_000
# Metadata of one source, which would be wrong of a folder that is no source of the index.
_SOURCE_ONLY = frozenset(["root", "repo", "commit", "left_out"])


@dataclass(frozen=True, slots=True)
class Snapshot:
    """An immutable view of the index."""

    identity: str  # of the index: one that was created anew has another
    sequence: int  # the last transaction that was begun
    active: tuple[int, ...]  # transactions that were not committed
    generation: int  # commits that changed content
    totals: Mapping[str, int]  # files, symbols, names, bytes, skipped
    corpora: int  # sources that are corpora,
    trees: int  # trees,
    incomplete: int  # and of both, those that no writer has completed yet
    encoders: Mapping[str, Mapping[str, Any]]  # {id: {field, dimension, clusters?}}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Snapshot:
        """Return the snapshot that a state document describes."""
        active = tuple(sorted(int(each["tx"]) for each in state["active"]))
        return cls(**{each.name: state[each.name] for each in fields(cls)} | {"active": active})

    def sees(self, transaction: int) -> bool:
        """Whether a transaction was committed."""
        return transaction <= self.sequence and transaction not in self.active

    def last_version(self, versions: Mapping[str, Any]) -> tuple[int, Mapping[str, Any]]:
        """Return the last committed transaction of a source, and its version; 0 if there is none."""
        committed = [int(tx) for tx in versions if self.sees(int(tx))]
        return (max(committed), versions[str(max(committed))]) if committed else (0, {})

    @property
    def invisible(self) -> list[Query]:
        """The `must_not` clauses of every query."""
        deleted: Query = {"range": {"died": {"lte": self.sequence}}}
        clauses: list[Query] = [{"range": {"born": {"gt": self.sequence}}}]
        if self.active:
            clauses.append({"terms": {"born": list(self.active)}})
            deleted = {"bool": {"filter": [deleted], "must_not": [{"terms": {"died": list(self.active)}}]}}
        return [*clauses, deleted]


@dataclass(frozen=True, slots=True)
class SnapshotSearcher:
    """Searches one snapshot; `kind` is symbols, names, both, files, edges or meta."""

    client: Client
    snapshot: Snapshot
    source: str = ""  # the source that this machine's tree is; "" where only the union is searched
    preference: str = "dowse"  # the same shard copies are searched each time, so that ties keep their order

    def query(self, filters: Sequence[Query] = (), should: Sequence[Query] = ()) -> Query:
        """Return the query for visible documents that match all filters and, if given, some of `should`."""
        query: dict[str, Any] = {"must_not": self.snapshot.invisible, "filter": list(filters)}
        if should:
            query |= {"should": list(should), "minimum_should_match": 1}
        return {"bool": query}

    def search(self, kind: str, body: Mapping[str, Any], **parameters: str | bool) -> dict[str, Any]:
        """Return the response of a search in one index, whose query comes from `query`."""
        return self.client.search(self.client.alias(kind), body, preference=self.preference, **parameters)

    def hits(self, kind: str, body: Mapping[str, Any], **parameters: str | bool) -> list[Hit]:
        """Return the hits of a search."""
        hits: list[Hit] = self.search(kind, body, **parameters)["hits"]["hits"]
        return hits

    def msearch(self, searches: Iterable[tuple[str, Mapping[str, Any]]]) -> list[dict[str, Any]]:
        """Run several searches, pairs of kind and body, in one round trip."""
        aliased = [(self.client.alias(kind), body) for kind, body in searches]
        return self.client.msearch(aliased, preference=self.preference)

    def pages(
        self,
        kind: str,
        body: Mapping[str, Any],
        *,
        page: int = MAX_HITS,
        limit: int | None = None,
        **parameters: str | bool,
    ) -> Iterator[list[Hit]]:
        """Yield pages of hits in the order of `body["sort"]`."""
        parameters["preference"] = self.preference
        return self.client.pages(self.client.alias(kind), body, page=page, limit=limit, **parameters)

    def fetch(
        self,
        kind: str,
        ids: Iterable[int],
        fields: Mapping[str, Any],
        *,
        batch: int = MAX_HITS,
        should: Sequence[Query] = (),
        **parameters: str | bool,
    ) -> Iterator[Hit]:
        """Yield the visible documents with some rows or file ids; `fields` complete the search body."""
        for some in batches(dict.fromkeys(ids), batch):
            query = self.query([among(ID_FIELD[kind], some)], should)
            yield from self.hits(kind, {"query": query, "size": len(some), **fields}, **parameters)

    def scan_columns(self, kind: str, query: Query | None, columns: Sequence[str]) -> Iterator[Hit]:
        """Yield columns of every visible document that matches a query (None: all), by row or file id."""
        body = {"query": self.query([query] if query else []), "sort": [{ID_FIELD[kind]: "asc"}]}
        for hits in self.pages(kind, {**body, **doc_values(columns)}):
            yield from hits

    def scan(
        self, kind: str, query: Query | None, sort_field: str, *, source: object = True, page: int = 1000
    ) -> Iterator[Hit]:
        """Yield every visible document that matches a query (None: all), ordered by a field."""
        # The number of a document breaks ties: a page that ended among equals would lose the others.
        sort_fields = tuple(dict.fromkeys((sort_field, ID_FIELD[kind])))
        alias, only = self.client.alias(kind), self.query([query] if query else [])
        return self.client.scan(
            alias, only, sort_fields, source=source, page=page, preference=self.preference
        )

    def count(self, kind: str, filters: Sequence[Query] = ()) -> int:
        """Return how many visible documents match all filters."""
        body = {"query": self.query(filters), "size": 0, "track_total_hits": True}
        return int(self.search(kind, body)["hits"]["total"]["value"])

    def get(self, kind: str, id_: str) -> dict[str, Any] | None:
        """Return the current source of one document, None if it is missing."""
        document = self.client.get(self.client.alias(kind), id_)
        return None if document is None else dict(document["_source"])

    # Sources

    def source_version(self) -> Mapping[str, Any]:
        """Return metadata, counts and skipped files of this machine's source; empty if there is none."""
        document = self.get(META, source_id(self.source)) if self.source else None
        return self.snapshot.last_version(document["data"].get("versions", {}))[1] if document else {}

    def source_versions(self) -> list[Mapping[str, Any]]:
        """Return those of all sources."""
        body = {"query": {"term": {"kind": "source"}}, "sort": [{"slot": "asc"}]}
        sources = [hit["_source"]["data"] for hits in self.pages(META, body, page=1000) for hit in hits]
        versions = (self.snapshot.last_version(data.get("versions", {}))[1] for data in sources)
        return [version for version in versions if version]

    def problems(self) -> list[str]:
        """Return what is wrong with the index: its counts against its documents, and missing shards."""
        problems = []
        for kind in (FILES, SYMBOLS, NAMES):
            expected, actual = self.snapshot.totals.get(kind, 0), self.count(kind)
            if expected != actual:
                problems.append(
                    f"the index should have {expected} {kind}, the cluster has {actual}; "
                    "run `dowse index --rebuild`"
                )
        with contextlib.suppress(AccessDenied):  # the counts above need all shards, too
            health = self.client.call(lambda es: es.cluster.health(index=self.client.aliases)).body
            if health["status"] == "red":
                unassigned = health["unassigned_shards"]
                problems.append(f"{unassigned} shards have no node; restart the missing nodes")
        return problems


def open_searcher(client: Client, source: str = "", preference: str = "dowse") -> SnapshotSearcher:
    """Return a searcher of the newest snapshot; raises IndexMissing if there is none."""
    state = read_state(client)
    if state is None or not state["generation"]:
        raise IndexMissing(f"no index {client.address.name} on {client.address}; run `dowse index` first")
    return SnapshotSearcher(client, Snapshot.from_state(state), source, preference)


def read_state(client: Client) -> dict[str, Any] | None:
    """Return the current state document, None if there is none."""
    document = client.get(client.alias(META), STATE_ID)
    if document is None:
        return None
    state: dict[str, Any] = document["_source"]["data"]
    check_format(state.get("format"), client)
    return state


def check_format(stored: object, client: Client) -> None:
    """Raise if the index was made by a dowse with another format."""
    if stored != FORMAT:
        raise IndexVersionError(
            f"the index {client.address.name} on {client.address} has format {stored or '?'}, "
            f"this dowse reads {FORMAT}; name another index, or empty it for all its repositories with "
            "`dowse index --rebuild`"
        )


def common_meta(versions: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return the metadata that all sources have in common, and when one was last written."""
    metas = [dict(version.get("meta", {})) for version in versions]
    common = set.intersection(*(set(meta.items()) for meta in metas)) if metas else set()
    last = max((int(meta.get("indexed_at", 0)) for meta in metas), default=0)
    return {**{key: value for key, value in common if key not in _SOURCE_ONLY}, "indexed_at": str(last)}


def doc_values(columns: Sequence[str]) -> dict[str, Any]:
    """Return the part of a search body that makes hits bring along columns (doc values) and nothing else."""
    return {"_source": False, "stored_fields": "_none_", "docvalue_fields": list(columns)}


def batches(values: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yield values in lists of `size`."""
    iterator = iter(values)
    while batch := list(islice(iterator, size)):
        yield batch
