"""One reader's way to the cluster: each search sees the same snapshot, and equal scores come in one order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dowse.storage.elastic.client import Client
from dowse.storage.elastic.names import Names
from dowse.storage.elastic.state import Snapshot

# Documents of one page of a scan: some megabytes.
_PAGE = 1000


@dataclass(frozen=True, slots=True)
class Session:
    """A snapshot and the means to ask for it; `kind` is symbols, files, edges or meta."""

    client: Client
    names: Names
    snapshot: Snapshot
    slot: str = ""  # the source that this machine's tree is; "" where only the union is asked for
    preference: str = "dowse"  # the same copies are asked each time, so that equals stay in their order

    @property
    def visible(self) -> list[dict[str, Any]]:
        """The `must_not` clauses that leave what the snapshot sees."""
        return self.snapshot.visible

    def search(self, kind: str, body: Mapping[str, Any], **parameters: Any) -> dict[str, Any]:  # noqa: ANN401
        """Search one index; `body` must hold the visibility itself."""
        return self.client.search(self.names.alias(kind), body, preference=self.preference, **parameters)

    def msearch(
        self,
        searches: Sequence[tuple[str, Mapping[str, Any]]],
        **header: Any,  # noqa: ANN401
    ) -> list[dict[str, Any]]:
        """Search many times in one round trip: pairs of kind and body, and headers such as search_type."""
        named = [(self.names.alias(kind), body) for kind, body in searches]
        return self.client.msearch(named, preference=self.preference, **header)

    def scan(
        self,
        kind: str,
        query: Mapping[str, Any] | None,
        sort_field: str,
        *,
        source: object = True,
        docvalue_fields: Sequence[object] = (),
        page: int = _PAGE,
    ) -> Iterator[dict[str, Any]]:
        """Give every visible document that a query matches (all for None), by a field."""
        only = {"bool": {"filter": [query] if query else [], "must_not": self.visible}}
        # What numbers them decides between equals: a page that ended among these would lose the rest of them.
        number = "file" if kind == "files" else "row"
        yield from scan(
            self.client,
            self.names.alias(kind),
            only,
            tuple(dict.fromkeys((sort_field, number))),
            source=source,
            docvalue_fields=docvalue_fields,
            page=page,
            preference=self.preference,
        )

    def get(self, kind: str, id_: str) -> dict[str, Any] | None:
        """Return the source of one document as it is this moment, None if it is not there."""
        found = self.client.get(self.names.alias(kind), id_)
        return None if found is None else dict(found["_source"])


def scan(
    client: Client,
    index: str,
    query: Mapping[str, Any],
    sort_fields: Sequence[str],
    *,
    source: object = True,
    docvalue_fields: Sequence[object] = (),
    page: int = _PAGE,
    **parameters: Any,  # noqa: ANN401
) -> Iterator[dict[str, Any]]:
    """Give every document that a query matches, page by page, with no state that a node could lose."""
    after: list[Any] | None = None
    while True:
        body: dict[str, Any] = {
            "query": query,
            "size": page,
            "sort": [{name: "asc"} for name in sort_fields],
            "_source": source,
        }
        if docvalue_fields:
            body["docvalue_fields"] = list(docvalue_fields)
        if after is not None:
            body["search_after"] = after
        hits = client.search(index, body, **parameters)["hits"]["hits"]
        yield from hits
        if len(hits) < page:
            return
        after = hits[-1]["sort"]
