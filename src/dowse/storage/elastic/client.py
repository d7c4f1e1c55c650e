"""The official client with retries, exponential backoff and errors that name the remedy."""

from __future__ import annotations

import dataclasses
import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from dowse.errors import DowseError, IndexMissing, MissingExtra
from dowse.storage.elastic.address import ElasticAddress, read_credentials
from dowse.storage.elastic.errors import (
    SERVER_ERROR,
    UNAUTHORIZED,
    is_election,
    is_retryable,
    translate_error,
)
from dowse.storage.elastic.names import KINDS

if TYPE_CHECKING:
    from elasticsearch import Elasticsearch

T = TypeVar("T")
Hit = dict[str, Any]

# A search that takes longer than this has met a node that hangs.
_REQUEST_SECONDS = 30.0
# A bulk request or a refresh may take long, and its response must not be missed.
WRITE_SECONDS = 120.0
_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 2.0
# How long a request is retried: replicas take over the shards of a killed node within seconds.
RETRY_SECONDS = 30.0
# Where no node answers at all, waiting helps only if they are just being started.
_UNREACHABLE_SECONDS = 3.0
_TOO_MANY_REQUESTS = 429
_ELECTION_FACTOR = 4
# Documents of one page: some megabytes.
_PAGE = 1000


class Client:
    """Connections to the nodes of a cluster, and the names of one index on it; thread-safe."""

    def __init__(self, address: ElasticAddress, retry_seconds: float = RETRY_SECONDS) -> None:
        self.address, self.retry_seconds = address, retry_seconds
        self._es = _connect(address)
        self._is_authenticated = False

    def __repr__(self) -> str:
        return f"Client({self.address})"

    def close(self) -> None:
        """Close the connections."""
        self._es.close()

    def alias(self, kind: str) -> str:
        """Return the alias by which readers and writers use an index; a rebuild moves it to another.

        Those of two kinds are separated by a comma, too.
        """
        return ",".join(f"dowse-{self.address.name}-{each}" for each in kind.split(","))

    @property
    def aliases(self) -> str:
        """The aliases of all indices, separated by commas."""
        return ",".join(map(self.alias, KINDS))

    def call(
        self,
        request: Callable[[Elasticsearch], T],
        *,
        timeout: float = _REQUEST_SECONDS,
        retry_busy: bool = True,
    ) -> T:
        """Send a request, retried with exponential backoff; every error is a DowseError.

        Args:
            request: What to do with the official client. It must be idempotent: it may run more than once.
            timeout: Seconds that one response may take.
            retry_busy: Whether to retry, too, where the cluster rejects requests as too many (429).
        """
        import elastic_transport
        import elasticsearch

        es = self._es.options(request_timeout=timeout)
        started, pause = time.monotonic(), _FIRST_PAUSE
        while True:
            try:
                answer = request(es)
                self._is_authenticated = True
                return answer
            except (elastic_transport.TransportError, elasticsearch.ApiError) as error:
                left = started + self._retry_seconds_for(error, timeout, retry_busy) - time.monotonic()
                if not (is_retryable(error) or self._was_accepted(error)) or left <= 0:
                    raise translate_error(error, self.address) from error
                # With jitter: clients that were rejected together would come back together.
                time.sleep(min(left, pause * random.uniform(0.5, 1.5)))  # noqa: S311
                pause = min(2 * pause, _LONGEST_PAUSE)
            except elasticsearch.UnsupportedProductError as error:
                raise DowseError(
                    f"what answers at {self.address} is no Elasticsearch; check the address"
                ) from error

    def _was_accepted(self, error: Exception) -> bool:
        """Whether credentials are rejected that were accepted before: a node that restarts knows no users."""
        return self._is_authenticated and getattr(getattr(error, "meta", None), "status", 0) == UNAUTHORIZED

    def _retry_seconds_for(self, error: Exception, timeout: float, retry_busy: bool) -> float:
        import elastic_transport

        if isinstance(error, elastic_transport.ConnectionTimeout):
            # One node that hangs takes all of it; then another node gets the request.
            return self.retry_seconds + timeout
        if isinstance(error, elastic_transport.ConnectionError):
            return min(self.retry_seconds, _UNREACHABLE_SECONDS)
        if is_election(error):  # it ends by itself, but takes long on nodes that are busy
            return _ELECTION_FACTOR * self.retry_seconds
        status = getattr(getattr(error, "meta", None), "status", 0)
        if status == SERVER_ERROR:  # it may be a bug of the server, which stays
            return min(self.retry_seconds, _UNREACHABLE_SECONDS)
        is_busy = status == _TOO_MANY_REQUESTS
        return 0.0 if is_busy and not retry_busy else self.retry_seconds

    def search(self, index: str, body: Mapping[str, Any], **parameters: str | bool) -> dict[str, Any]:
        """Return the response of a search over all shards; partial results are an error."""
        renamed = {"from": "from_", "_source": "source"}  # as the client's parameters are called
        options: dict[str, Any] = {
            "track_total_hits": False,
            **{renamed.get(name, name): value for name, value in body.items()},
            **{"allow_partial_search_results": False, **parameters},
        }
        return dict(self.call(lambda es: es.search(index=index, **options)).body)

    def msearch(
        self, searches: Sequence[tuple[str, Mapping[str, Any]]], **header: str | bool
    ) -> list[dict[str, Any]]:
        """Run several searches in one round trip; only those that failed are retried."""
        responses: dict[int, dict[str, Any]] = {}
        missing = list(range(len(searches)))

        def request(es: Elasticsearch) -> None:
            lines: list[Mapping[str, Any]] = []
            for position in missing:
                index, body = searches[position]
                lines += [
                    {"index": index, "allow_partial_search_results": False, **header},
                    {"track_total_hits": False, **body},
                ]
            answer = es.msearch(searches=lines)
            for position, response in zip(list(missing), answer["responses"], strict=True):
                if "error" not in response:
                    responses[position] = response
                    missing.remove(position)
            if missing:
                raise _partial_error(next(r for r in answer["responses"] if "error" in r), answer.meta)

        if missing:
            self.call(request)
        return [responses[position] for position in range(len(searches))]

    def pages(
        self,
        index: str,
        body: Mapping[str, Any],
        *,
        page: int = _PAGE,
        limit: int | None = None,
        **parameters: str | bool,
    ) -> Iterator[list[Hit]]:
        """Yield pages of hits in the order of `body["sort"]`, at most `limit` hits in all.

        Pages continue with `search_after`: a scroll or a point in time is state that a node could lose.
        """
        body, count = dict(body), 0
        while limit is None or count < limit:
            size = page if limit is None else min(page, limit - count)
            hits: list[Hit] = self.search(index, {**body, "size": size}, **parameters)["hits"]["hits"]
            yield hits
            if len(hits) < size:
                return
            count += size
            body["search_after"] = hits[-1]["sort"]

    def scan(
        self,
        index: str,
        query: Mapping[str, Any],
        sort_fields: Sequence[str],
        *,
        source: object = True,
        page: int = _PAGE,
        **parameters: str | bool,
    ) -> Iterator[Hit]:
        """Yield every document that matches a query; together, `sort_fields` must be unique."""
        body = {"query": query, "sort": [{name: "asc"} for name in sort_fields], "_source": source}
        for hits in self.pages(index, body, page=page, limit=None, **parameters):
            yield from hits

    def get(self, index: str, id_: str) -> dict[str, Any] | None:
        """Return the current version of a document (real-time get), None if it or its index is missing."""
        try:
            answer = self.call(lambda es: es.options(ignore_status=404).get(index=index, id=id_))
        except IndexMissing:
            return None
        return dict(answer.body) if answer.body.get("found") else None

    def mget(self, index: str, ids: Sequence[str]) -> list[dict[str, Any]]:
        """Return the current versions of the documents that exist (real-time get)."""

        def request(es: Elasticsearch) -> list[dict[str, Any]]:
            answer = es.mget(index=index, ids=list(ids))
            for document in answer["docs"]:
                if "error" in document:  # a shard that is just being relocated
                    raise _partial_error({**document, "status": 503}, answer.meta)
            return [document for document in answer["docs"] if document.get("found")]

        return self.call(request) if ids else []

    def refresh(self, indices: Iterable[str]) -> None:
        """Make everything that was written visible to searches."""
        names = ",".join(indices)
        self.call(lambda es: es.indices.refresh(index=names), timeout=WRITE_SECONDS)


def _partial_error(response: Mapping[str, Any], meta: Any) -> Exception:  # noqa: ANN401 - the client's own
    """Return the error that one part of a multi-request would have been on its own."""
    import elasticsearch

    reason = response.get("error", {})
    meta = dataclasses.replace(meta, status=int(response.get("status", 503)))
    return elasticsearch.ApiError(str(reason.get("type", "")), meta=meta, body={"error": reason})


def _connect(address: ElasticAddress) -> Elasticsearch:
    try:
        from elasticsearch import Elasticsearch
    except ImportError as error:
        raise MissingExtra("an index on a cluster", "elastic") from error
    credentials = read_credentials(address)
    options: dict[str, Any] = {}
    if credentials.api_key:
        key_id, colon, key = credentials.api_key.partition(":")
        options["api_key"] = (key_id, key) if colon else credentials.api_key  # else it is encoded already
    elif address.user:
        options["basic_auth"] = (address.user, credentials.password)
    if address.tls and credentials.fingerprint:
        options["ssl_assert_fingerprint"] = credentials.fingerprint
    elif address.tls and credentials.ca_file:
        options["ca_certs"] = credentials.ca_file
    # Compression costs more than it saves where the cluster is on this machine.
    is_local = all(host.rpartition(":")[0] in ("localhost", "127.0.0.1", "[::1]") for host in address.hosts)
    return Elasticsearch(
        address.urls,
        # The client tries another node at once where one does not answer; `call` does all other retries.
        max_retries=len(address.hosts),
        retry_on_timeout=False,
        retry_on_status=(),
        dead_node_backoff_factor=0.5,
        max_dead_node_backoff=5,
        connections_per_node=16,
        http_compress=not is_local,
        **options,
    )
