"""The official client, with patience where a cluster heals itself and one clear line where it does not."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from dowse.errors import DowseError, IndexMissing
from dowse.storage.elastic.address import ElasticAddress, read_credentials
from dowse.storage.elastic.problems import explained, is_passing

if TYPE_CHECKING:
    from elasticsearch import Elasticsearch

T = TypeVar("T")

# A search that takes longer than this has met a node that hangs.
_REQUEST_SECONDS = 30.0
# A bulk request or a refresh may take long, and its answer must not be missed.
WRITE_SECONDS = 120.0
_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 2.0
# How long it is tried again: a node that was killed is replaced within seconds by copies of its shards.
PATIENCE = 30.0
# Where no node answers at all, waiting helps only if they are just being started.
_ALONE_PATIENCE = 3.0
_BUSY = 429


class Client:
    """Connections to the nodes of a cluster; for any number of threads."""

    def __init__(self, address: ElasticAddress, patience: float = PATIENCE) -> None:
        self.address, self.patience = address, patience
        self._es = _connect(address)

    def __repr__(self) -> str:
        return f"Client({self.address})"

    def close(self) -> None:
        """Let go of the connections."""
        self._es.close()

    def call(
        self, ask: Callable[[Elasticsearch], T], *, seconds: float = _REQUEST_SECONDS, while_busy: bool = True
    ) -> T:
        """Ask something, again on other nodes while that may help; what goes wrong is a DowseError.

        Args:
            ask: What to do with the official client; it may be done more than once.
            seconds: How long one answer may take.
            while_busy: Whether to ask again, too, where the cluster says that it has too much to do.
        """
        import elastic_transport
        import elasticsearch

        es = self._es.options(request_timeout=seconds)
        started, pause = time.monotonic(), _FIRST_PAUSE
        while True:
            try:
                return ask(es)
            except (elastic_transport.TransportError, elasticsearch.ApiError) as error:
                left = started + self._patience_with(error, seconds, while_busy) - time.monotonic()
                if not is_passing(error) or left <= 0:
                    raise explained(error, self.address) from error
                # Not all at once: those who were sent away together would come back together.
                time.sleep(min(left, pause * random.uniform(0.5, 1.5)))  # noqa: S311
                pause = min(2 * pause, _LONGEST_PAUSE)
            except elasticsearch.UnsupportedProductError as error:
                raise DowseError(
                    f"what answers at {self.address} is no Elasticsearch; check the address"
                ) from error

    def _patience_with(self, error: Exception, seconds: float, while_busy: bool) -> float:
        import elastic_transport

        if isinstance(error, elastic_transport.ConnectionTimeout):
            return self.patience + seconds  # one node that hangs takes all patience; then another is asked

        if isinstance(error, elastic_transport.ConnectionError):
            return min(self.patience, _ALONE_PATIENCE)
        is_busy = getattr(getattr(error, "meta", None), "status", 0) == _BUSY
        return 0.0 if is_busy and not while_busy else self.patience

    def search(self, index: str, body: Mapping[str, Any], **parameters: Any) -> dict[str, Any]:  # noqa: ANN401
        """Search; the answer is whole, or there is none."""
        asked = {"track_total_hits": False, **body}
        answer = self.call(
            lambda es: es.search(
                index=index, **_named(asked), allow_partial_search_results=False, **parameters
            )
        )
        return dict(answer.body)

    def msearch(
        self,
        searches: Sequence[tuple[str, Mapping[str, Any]]],
        **header: Any,  # noqa: ANN401
    ) -> list[dict[str, Any]]:
        """Search many times in one round trip; what failed for a while is asked again, on its own."""
        answers: dict[int, dict[str, Any]] = {}
        missing = list(range(len(searches)))

        def ask(es: Elasticsearch) -> None:
            lines: list[Mapping[str, Any]] = []
            for at in missing:
                index, body = searches[at]
                lines += [
                    {"index": index, "allow_partial_search_results": False, **header},
                    {"track_total_hits": False, **body},
                ]
            found = es.msearch(searches=lines)
            for at, answer in zip(list(missing), found["responses"], strict=True):
                if "error" not in answer:
                    answers[at] = answer
                    missing.remove(at)
            if missing:
                raise _failed_part(next(a for a in found["responses"] if "error" in a), found.meta)

        if missing:
            self.call(ask)
        return [answers[at] for at in range(len(searches))]

    def get(self, index: str, id_: str, **parameters: Any) -> dict[str, Any] | None:  # noqa: ANN401
        """Return a document as it is this moment, None if it or its index is not there."""
        try:
            answer = self.call(
                lambda es: es.options(ignore_status=404).get(index=index, id=id_, **parameters)
            )
        except IndexMissing:
            return None
        return dict(answer.body) if answer.body.get("found") else None

    def mget(self, index: str, ids: Sequence[str], **parameters: Any) -> list[dict[str, Any]]:  # noqa: ANN401
        """Return documents as they are this moment, those that are there."""
        if not ids:
            return []

        def ask(es: Elasticsearch) -> list[dict[str, Any]]:
            found = es.mget(index=index, ids=list(ids), **parameters)
            for each in found["docs"]:
                if "error" in each:  # a shard that is just being moved
                    raise _failed_part({**each, "status": 503}, found.meta)
            return [each for each in found["docs"] if each.get("found")]

        return self.call(ask)


def _named(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parts of a body as the client calls them."""
    return {{"from": "from_", "_source": "source"}.get(name, name): value for name, value in body.items()}


def _failed_part(answer: Mapping[str, Any], meta: Any) -> Exception:  # noqa: ANN401 - the client's own
    """Return the error that a part of a request would have been alone."""
    import elasticsearch

    reason = answer.get("error", {})
    status = answer.get("status", 503)
    kind = elasticsearch.ApiError
    return kind(str(reason.get("type", "")), meta=_with_status(meta, int(status)), body={"error": reason})


def _with_status(meta: Any, status: int) -> Any:  # noqa: ANN401 - the client's own
    import dataclasses

    return dataclasses.replace(meta, status=status)


def _connect(address: ElasticAddress) -> Elasticsearch:
    try:
        from elasticsearch import Elasticsearch
    except ImportError as error:
        raise DowseError("an index on a cluster needs `pip install 'dowse[elastic]'`") from error
    credentials = read_credentials(address)
    options: dict[str, Any] = {}
    if credentials.api_key:
        options["api_key"] = credentials.api_key
    elif address.user:
        options["basic_auth"] = (address.user, credentials.password)
    if credentials.authority and address.tls:
        options["ca_certs"] = credentials.authority
    return Elasticsearch(
        address.urls,
        # Another node is asked at once where one does not answer; the rest of the patience is ours.
        max_retries=len(address.hosts),
        retry_on_timeout=False,
        retry_on_status=(),
        dead_node_backoff_factor=0.5,
        max_dead_node_backoff=5,
        connections_per_node=16,
        http_compress=len(address.hosts) > 0 and not _is_near(address),
        **options,
    )


def _is_near(address: ElasticAddress) -> bool:
    """Whether the cluster is on this machine, where compressing costs more than sending."""
    return all(host.rpartition(":")[0] in ("localhost", "127.0.0.1", "[::1]") for host in address.hosts)
