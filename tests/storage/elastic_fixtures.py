"""Fixtures of all tests that need a cluster."""

from __future__ import annotations

import contextlib
import os
import uuid
from collections.abc import Callable, Iterator

import pytest

from dowse.storage.elastic.backend import ElasticBackend
from storage.cluster import NoCluster, shared_cluster

# Names an index that did not exist before.
MakeElastic = Callable[..., ElasticBackend]
# One shard without copies: what tests look at fits, and a cluster makes an index of twelve in seconds.
SMALL = "?shards=1&replicas=0"
# Indices in turn: a test may use some at once, and then they are emptied for the next.
_IN_TURN = 4


# Indexes that are removed together.
_AT_ONCE = 10


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[str]]:
    """The addresses of the nodes of a real cluster."""
    base = tmp_path_factory.getbasetemp()
    place = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with contextlib.ExitStack() as held:
        try:
            urls = held.enter_context(shared_cluster(place))
        except NoCluster as reason:
            if os.environ.get("DOWSE_REQUIRE_CLUSTER"):
                pytest.fail(str(reason))
            pytest.skip(str(reason))
        yield urls


@pytest.fixture(scope="session")
def cluster_address(cluster: list[str]) -> Callable[[str], str]:
    """Makes the address of an index with a given name."""
    hosts = ",".join(url.partition("://")[2].rstrip("/") for url in cluster)
    return lambda name: f"elastic://{hosts}/{name}"


@pytest.fixture(scope="session")
def make_elastic(cluster_address: Callable[[str], str]) -> Iterator[MakeElastic]:
    """Makes backends of new indices, which are removed in the end."""
    made: list[ElasticBackend] = []

    def make(source: str = "shop", options: str = SMALL) -> ElasticBackend:
        made.append(ElasticBackend(cluster_address(f"test-{uuid.uuid4().hex[:12]}") + options, source))
        return made[-1]

    yield make
    # Many in one step, for each takes a cluster its time; not all, for an address may have 4,096 bytes.
    for some in (made[start : start + _AT_ONCE] for start in range(0, len(made), _AT_ONCE)):
        every = ",".join(f"{alias}-*" for backend in some for alias in backend.client.aliases.split(","))
        ask = some[0].client.call
        found = ask(lambda es, every=every: es.indices.get(index=every, features="aliases")).body
        if found:
            ask(lambda es, found=found: es.indices.delete(index=",".join(found)))
    for backend in made:
        backend.close()


@pytest.fixture(scope="session")
def make_emptied(make_elastic: MakeElastic) -> Callable[[], ElasticBackend]:
    """Gives a few indices in turn, emptied: making a new one takes a second."""
    kept: list[ElasticBackend] = []
    given = 0

    def make() -> ElasticBackend:
        nonlocal given
        given += 1
        if len(kept) < _IN_TURN:
            kept.append(make_elastic())
            return kept[-1]
        used = kept[given % _IN_TURN]
        empty(used)
        again = ElasticBackend(used.address, used.source)
        return again

    return make


def empty(backend: ElasticBackend) -> None:
    """Remove every document of an index, so that nothing is left that a reader or writer could know."""
    if not backend.exists():
        return
    names = backend.client.aliases
    backend.client.call(lambda es: es.indices.refresh(index=names))
    while True:
        hits = backend.client.search(names, {"query": {"match_all": {}}, "size": 10_000, "_source": False})
        found = hits["hits"]["hits"]
        if not found:
            return
        lines = [{"delete": {"_index": hit["_index"], "_id": hit["_id"]}} for hit in found]
        backend.client.call(lambda es, lines=lines: es.bulk(operations=lines, refresh=True))
