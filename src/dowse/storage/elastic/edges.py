"""The call graph on the cluster: one document for each symbol that refers to others, 1-2 round trips a hop.

A resolved reference holds the row of its target. A reference of which only the name is known means whatever
symbols or names of its source are called so now: they are looked up at query time, as by `GraphTables`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from dowse.storage.elastic.globs import Query
from dowse.storage.elastic.names import EDGES, SYMBOLS_AND_NAMES, kind_of_rows, scoped_name_key
from dowse.storage.elastic.query import among, any_of
from dowse.storage.elastic.rows import NameKey, RowReader, name_key, number
from dowse.storage.elastic.snapshot import MAX_HITS, batches, doc_values
from dowse.storage.local.graph_tables import KINDS, linked_confidence, named_confidence
from dowse.storage.protocol import EDGE_LIMIT
from dowse.types import REASONS, Edge

# Documents of one page, each with all references of a symbol.
PAGE = 1_000
# Values of one query.
_MAX_VALUES = 10_000
_SOURCE_FIELDS = ["row", "file", "source", "repo", "path", "data"]
_NAME_KEY_COLUMNS = ["row", "name_key", "overrides"]

EdgeDocument = Mapping[str, Any]
# By name key: (row, whether its name may be that of a class of another file).
Named = dict[str, list[tuple[int, bool]]]
Located = tuple[tuple[str, str], Edge]  # repository and path of the reference, and the edge


class EdgeReader(RowReader):
    """The part of a reader that knows the call graph."""

    def edges(
        self, rows: Sequence[int], kinds: Sequence[str] = (), incoming: bool = False, limit: int = EDGE_LIMIT
    ) -> list[Edge]:
        """Return edges out of symbols or into them, ordered by repository, path, line, column and target."""
        selected = frozenset(kinds) & frozenset(KINDS) if kinds else frozenset(KINDS)
        unique = sorted({row for row in rows if row})
        if not selected or limit <= 0:
            return []
        located: list[Located] = []
        for batch in batches(unique, _MAX_VALUES):
            located += (self._incoming if incoming else self._outgoing)(batch, selected, limit)
        located.sort(key=lambda each: (each[0], each[1].line, each[1].column, each[1].target, each[1].kind))
        return [edge for _, edge in located[:limit]]

    def _outgoing(self, rows: Sequence[int], kinds: frozenset[str], limit: int) -> Iterator[Located]:
        """Yield the edges out of symbols; a second request finds the symbols that names refer to."""
        documents = self._documents(
            among("row", rows), kinds, limit, lambda each: len(_references(each, "edges", kinds))
        )
        names = list(dict.fromkeys(key for each in documents for key in _name_keys(each, kinds)))
        counts, named = self._symbols_by_name(names, min(limit, MAX_HITS))
        if sum(counts.values()) > sum(map(len, named.values())):
            # A name that many symbols have must not take the places of others.
            documents = _first_documents(documents, kinds, counts, limit)
            used = dict.fromkeys(key for each in documents for key in _name_keys(each, kinds))
            named = self._symbols_of_names([key for key in used if key in counts], counts, limit)
        for document in documents:
            yield from _document_edges(document, kinds, None, named, counts)

    def _incoming(self, rows: Sequence[int], kinds: frozenset[str], limit: int) -> Iterator[Located]:
        """Yield the edges into symbols: references to their rows, and references to their names."""
        targets = frozenset(rows)
        named: Named = defaultdict(list)
        for row, (key, overrides) in self._names_of(rows).items():
            if key:
                named[key].append((row, overrides))

        def count(document: EdgeDocument) -> int:
            resolved = sum(head in targets for *_, head, _ in _references(document, "edges", kinds))
            return resolved + sum(len(named.get(key, ())) for key in _name_keys(document, kinds))

        query = any_of([among("heads", rows), *([among("name_keys", named)] if named else [])])
        documents = self._documents(query, kinds, limit, count)
        used = {key for each in documents for key in _name_keys(each, kinds)}
        counts, _ = self._symbols_by_name(sorted(used & named.keys()), 0)
        for document in documents:
            yield from _document_edges(document, kinds, targets, named, counts)

    def _documents(
        self, query: Query, kinds: frozenset[str], limit: int, count: Callable[[EdgeDocument], int]
    ) -> list[EdgeDocument]:
        """Return documents ordered by path, until no later one can be among the first `limit` edges.

        `count` returns how many edges a document has for certain. All edges of files before that of the last
        document of a page are known.
        """
        filters = [query] if len(kinds) == len(KINDS) else [query, {"terms": {"kinds": sorted(kinds)}}]
        body: dict[str, Any] = {
            "query": self._searcher.query(filters),
            "_source": _SOURCE_FIELDS,
            "sort": [{name: "asc"} for name in ("repo", "path", "line", "row")],
        }
        documents: list[EdgeDocument] = []
        complete = 0
        for hits in self._searcher.pages(EDGES, body, page=PAGE):
            page = [hit["_source"] for hit in hits]
            documents += page
            complete += sum(count(each) for each in page if _location(each) < _location(page[-1]))
            if complete >= limit:
                break
        return documents

    def _names_of(self, rows: Sequence[int]) -> dict[int, NameKey]:
        """Return the name keys of symbols, by row."""

        def read(missing: Sequence[int]) -> Iterator[tuple[int, NameKey]]:
            hits = self._searcher.fetch(kind_of_rows(missing), missing, doc_values(_NAME_KEY_COLUMNS))
            return ((number(hit), name_key(hit)) for hit in hits)

        return self._cache.name_keys.get(rows, read)

    def _symbols_by_name(self, keys: Sequence[str], limit: int) -> tuple[dict[str, int], Named]:
        """Return how many symbols have each name, and the first `limit` of them."""
        counts: dict[str, int] = {}
        named: Named = defaultdict(list)
        for batch in batches(keys, _MAX_VALUES):
            body = {
                "query": self._searcher.query([{"terms": {"name_key": batch}}]),
                **{"size": limit, "sort": [{"row": "asc"}], **doc_values(_NAME_KEY_COLUMNS)},
                "aggs": {"names": {"terms": {"field": "name_key", "size": len(batch)}}},
            }
            answer = self._searcher.search(SYMBOLS_AND_NAMES, body)
            for bucket in answer["aggregations"]["names"]["buckets"]:
                counts[bucket["key"]] = bucket["doc_count"]
            for hit in answer["hits"]["hits"]:
                key, overrides = name_key(hit)
                named[key].append((number(hit), overrides))
        return counts, named

    def _symbols_of_names(self, keys: Sequence[str], counts: Mapping[str, int], limit: int) -> Named:
        """Return the first `limit` symbols of each name, in requests of as many as one may return."""
        named: Named = defaultdict(list)
        for group in _groups(keys, counts):
            only = self._searcher.query([{"terms": {"name_key": group}}])
            body = {"query": only, "sort": [{"row": "asc"}], **doc_values(_NAME_KEY_COLUMNS)}
            most = limit if len(group) == 1 else None
            for hits in self._searcher.pages(SYMBOLS_AND_NAMES, body, limit=most):
                for hit in hits:
                    key, overrides = name_key(hit)
                    named[key].append((number(hit), overrides))
        return named


def _groups(keys: Sequence[str], sizes: Mapping[str, int]) -> Iterator[list[str]]:
    """Yield names of together at most MAX_HITS symbols, or single ones."""
    group: list[str] = []
    for key in keys:
        if group and sum(sizes[each] for each in group) + sizes[key] > MAX_HITS:
            yield group
            group = []
        group.append(key)
    if group:
        yield group


def _first_documents(
    documents: Sequence[EdgeDocument], kinds: frozenset[str], counts: Mapping[str, int], limit: int
) -> list[EdgeDocument]:
    """Return the documents of the first files, until these have `limit` edges."""
    first: list[EdgeDocument] = []
    total = 0
    for _, of_file in groupby(documents, key=_location):
        for document in of_file:
            first.append(document)
            total += len(_references(document, "edges", kinds))
            total += sum(counts.get(key, 0) for key in _name_keys(document, kinds))
        if total >= limit:
            break
    return first


def _document_edges(
    document: EdgeDocument,
    kinds: frozenset[str],
    targets: frozenset[int] | None,
    named: Named,
    counts: Mapping[str, int],
) -> Iterator[Located]:
    """Yield the edges of a document: resolved ones to `targets` (None: to all), and those by name."""
    location, row, file = _location(document), document["row"], document["file"]
    for kind, line, column, target, candidates in _references(document, "edges", kinds):
        if targets is None or target in targets:
            confidence, reason = linked_confidence(candidates)
            yield location, Edge(kind, row, target, file, line, column, confidence, candidates, reason)
    for kind, line, column, key, number_of_reason in _references(document, "named", kinds):
        name, reason = scoped_name_key(document["source"], key), REASONS[number_of_reason]
        for target, overrides in named.get(name, ()):
            confidence = named_confidence(reason, overrides, counts[name])
            yield location, Edge(kind, row, target, file, line, column, confidence, counts[name], reason)


def _references(document: EdgeDocument, name: str, kinds: frozenset[str]) -> list[list[Any]]:
    return [reference for reference in document["data"][name] if reference[0] in kinds]


def _name_keys(document: EdgeDocument, kinds: frozenset[str]) -> list[str]:
    return [scoped_name_key(document["source"], key) for *_, key, _ in _references(document, "named", kinds)]


def _location(document: EdgeDocument) -> tuple[str, str]:
    return document["repo"], document["path"]
