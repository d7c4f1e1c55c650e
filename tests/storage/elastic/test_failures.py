"""Fault tolerance: every failure names the remedy in one line, nothing is lost, and a rerun resumes."""

from __future__ import annotations

import itertools
import socket

import pytest

from dowse.errors import DowseError, IndexMissing, IndexVersionError
from dowse.storage.elastic import bulk, mapping
from dowse.storage.elastic.backend import ElasticBackend
from dowse.storage.elastic.errors import ClusterBlocked, ClusterBusy
from dowse.storage.elastic.names import VERSIONED
from dowse.types import FileRecord
from storage.conformance import fill, some_files
from storage.elastic.crashes import all_ids, visible_documents
from storage.elastic.fault_proxy import fault_proxy
from storage.elastic_fixtures import SMALL

from helpers import file_record, large_from, symbol


@pytest.fixture
def index(make_emptied) -> ElasticBackend:
    return make_emptied()


def many_files(count: int = 40) -> list[FileRecord]:
    return [file_record(f"{n}.py", [symbol(f"f{n}", f"word{n}")], text=f"word{n}\n") for n in range(count)]


def through(index: ElasticBackend, host: str, retry_seconds: float = 2.0) -> ElasticBackend:
    """Return the same index through a proxy."""
    return ElasticBackend(
        f"elastic://{host}/{index.parsed_address.name}{SMALL}", index.source, retry_seconds=retry_seconds
    )


def test_no_node_answers() -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        backend = ElasticBackend(
            f"elastic://127.0.0.1:{nobody.getsockname()[1]}/x", "shop", retry_seconds=0.2
        )
        for ask in (backend.has_generation, backend.size, lambda: fill(backend, [])):
            with pytest.raises(DowseError, match=r"no node of .* answers; start") as error:
                ask()
            assert "\n" not in str(error.value)


def test_a_server_that_is_no_elasticsearch() -> None:
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen()
        host = f"127.0.0.1:{deaf.getsockname()[1]}"
        backend = ElasticBackend(f"elastics://{host}/x", "shop", retry_seconds=0.2)
        with pytest.raises(DowseError) as error:
            # It hangs up: no handshake, no answer.
            deaf.settimeout(10)
            import threading

            threading.Thread(target=lambda: [deaf.accept()[0].close() for _ in range(2)], daemon=True).start()
            backend.has_generation()
        assert "\n" not in str(error.value)


def test_a_missing_index_names_the_remedy(index: ElasticBackend) -> None:
    missing = ElasticBackend(index.address.replace(index.parsed_address.name, "never-made"))
    for backend in (missing, index):
        with pytest.raises(IndexMissing, match="run `dowse index` first"), backend.reader():
            pass
    assert not missing.exists() and not missing.has_generation()


def test_another_format_is_refused_and_a_rebuild_replaces_it(make_elastic) -> None:
    index = make_elastic()
    fill(index, some_files())
    other = ElasticBackend(index.address, "other")
    symbols = index.client.alias("symbols")
    index.client.call(lambda es: es.indices.put_mapping(index=symbols, meta={"dowse_format": 99}))
    again = ElasticBackend(index.address, index.source)
    for ask in (lambda: fill(again, []), lambda: again.reader().__enter__()):
        with pytest.raises(IndexVersionError, match=r"format 99, this .*--rebuild") as error:
            ask()
        assert "\n" not in str(error.value)
    assert again.has_generation()
    again.start_over()
    fill(again, some_files()[:1])
    with other.reader() as reader:
        assert reader.counts()["files"] == 1
    # The new indices replaced the old ones, which are removed.
    assert {index[-6:] for index in mapping.physical_indices(again.client)} == {"000002"}
    fill(other, some_files()[1:])
    assert again.check() == []


@pytest.mark.parametrize("kind", ["symbols", "files"])
def test_a_full_disk_blocks_writes_and_the_next_run_resumes(index: ElasticBackend, kind: str) -> None:
    fill(index, some_files())
    before = visible_documents(index)
    block(index, kind, True)
    try:
        with pytest.raises(ClusterBlocked, match="disks are nearly full; free some space") as error:
            fill(index, many_files())
        assert "\n" not in str(error.value)
        assert visible_documents(index) == before
    finally:
        block(index, kind, None)
    fill(index, many_files())
    with index.reader() as reader:
        assert reader.counts()["files"] == 43
    assert len(all_ids(index)) == len(visible_documents(index))
    assert index.check() == []


def block(index: ElasticBackend, kind: str, on: bool | None) -> None:
    """Do what Elasticsearch does when a disk is full."""
    settings = {"index.blocks.read_only_allow_delete": on}
    alias = index.client.alias(kind)
    index.client.call(lambda es: es.indices.put_settings(index=alias, settings=settings))


def test_backpressure_halves_bulk_requests_until_they_are_accepted(
    index: ElasticBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk, "FIRST_PAUSE", 0.01)
    refusals = itertools.count()

    def rule(method: str, path: str) -> str | int:
        return 429 if path.startswith("/_bulk") and next(refusals) < 3 else "pass"

    with fault_proxy(rule, index.parsed_address.hosts[0]) as host:
        busy = through(index, host)
        fill(busy, many_files())
        busy.close()
    assert next(refusals) > 3
    with index.reader() as reader:
        assert reader.counts()["files"] == 40
    assert index.check() == []


def test_permanent_backpressure_is_an_error_and_the_next_run_resumes(
    index: ElasticBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk, "FIRST_PAUSE", 0.01)
    monkeypatch.setattr(bulk, "MAX_DOCUMENTS", 10)
    fill(index, some_files())
    before, asked = visible_documents(index), itertools.count()

    def rule(method: str, path: str) -> str | int:
        return 429 if path.startswith("/_bulk") and next(asked) >= 2 else "pass"

    with fault_proxy(rule, index.parsed_address.hosts[0]) as host:
        busy = through(index, host, retry_seconds=0.1)
        with pytest.raises(ClusterBusy, match=r"429.*run the same again") as error:
            fill(busy, many_files())
        busy.close()
    assert "\n" not in str(error.value)
    assert visible_documents(index) == before
    ids = all_ids(index)
    assert len(ids) > len(before), "what was sent before is kept"
    fill(index, many_files())
    assert ids <= all_ids(index)
    assert index.check() == []


def test_searches_are_retried_on_429_and_503(index: ElasticBackend) -> None:
    fill(index, some_files())
    asked = itertools.count()

    def rule(method: str, path: str) -> str | int:
        return (429, 503, "pass")[min(2, next(asked))]

    with fault_proxy(rule, index.parsed_address.hosts[0]) as host:
        backend = through(index, host, retry_seconds=10)
        with backend.reader() as reader:
            assert reader.counts()["files"] == 3
        backend.close()


@pytest.mark.parametrize("lost", large_from(2, range(1, 8)))
def test_lost_responses_are_retried_idempotently(index: ElasticBackend, lost: int) -> None:
    """The cluster has executed a request and the response is lost: it is sent again."""
    fill(index, some_files()[:1])
    changes = itertools.count(1)

    def rule(method: str, path: str) -> str:
        if method == "GET" or "_search" in path or "_msearch" in path or "_mget" in path:
            return "pass"
        return "lose" if next(changes) == lost else "pass"

    with fault_proxy(rule, index.parsed_address.hosts[0]) as host:
        backend = through(index, host, retry_seconds=10)
        with backend.writer() as writer:
            writer.put(some_files()[1])
            writer.delete("src/cart.py")
            assert writer.commit({}) == 2
        backend.close()
    with index.reader() as reader:
        assert (reader.generation, reader.counts()["files"]) == (2, 1)
    assert index.check() == []
    assert index.writer_process() is None


def test_a_request_that_a_node_carries_out_late_changes_nothing(index: ElasticBackend) -> None:
    """A busy node executes a request after it was retried elsewhere, and the documents were deleted since."""
    fates = itertools.chain(["delay"], itertools.repeat("pass"))

    def rule(method: str, path: str) -> str:
        return next(fates) if path.startswith("/_bulk") else "pass"

    with fault_proxy(rule, index.parsed_address.hosts[0]) as host:
        backend = through(index, host, retry_seconds=10)
        fill(backend, some_files())
        with backend.writer() as writer:
            writer.delete("src/cart.py")
            writer.commit({})
        before = visible_documents(backend)
        backend.close()
    index.client.refresh(map(index.client.alias, VERSIONED))
    assert visible_documents(index) == before
    assert index.check() == []
