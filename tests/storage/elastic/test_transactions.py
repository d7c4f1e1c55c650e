"""Transactions: concurrent writers, snapshot isolation, leases, crash recovery, vacuum."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading

import pytest

from dowse.errors import IndexLocked, IndexMissing
from dowse.storage.elastic import lease, transactions
from dowse.storage.elastic.backend import ElasticBackend
from dowse.storage.elastic.lease import LeaseLost
from dowse.storage.elastic.names import VERSIONED
from storage.conformance import fill, found_names, request, some_files
from storage.elastic.crashes import all_ids, visible_documents

from helpers import file_record, symbol


def other_source(backend: ElasticBackend, source: str) -> ElasticBackend:
    """Return another source of the same index."""
    return ElasticBackend(backend.address, source)


def names(backend: ElasticBackend) -> list[str]:
    """Return the names of all symbols that a reader finds."""
    with backend.reader() as reader:
        return sorted(row.name for row in reader.lookup("*", 100))


@pytest.fixture
def index(make_emptied) -> ElasticBackend:
    return make_emptied()


def test_concurrent_transactions_are_atomic_and_isolated(index: ElasticBackend) -> None:
    other = other_source(index, "other")
    with index.writer() as one, other.writer() as two:
        one.put(file_record("a.py", [symbol("a1", "x"), symbol("a2", "x")]))
        two.put(file_record("b.py", [symbol("b1", "x")]))
        one.flush(), two.flush()
        index.client.refresh(index.client.alias(kind) for kind in VERSIONED)
        with pytest.raises(IndexMissing), index.reader():
            pass
        one.commit({})
        assert names(index) == names(other) == ["a1", "a2"]
        with index.reader() as held:
            two.put(file_record("c.py", [symbol("b2", "x")]))
            two.commit({})
            assert sorted(found_names(held, request("x"))) == ["a1", "a2"]
            assert held.counts()["files"] == 1
        assert names(index) == ["a1", "a2", "b1", "b2"]
    with other.reader() as reader:
        assert reader.counts()["files"] == 3
        assert sorted(reader.fingerprints()) == ["b.py", "c.py"]
    assert index.check() == []


def test_concurrent_commits_lose_no_update(index: ElasticBackend) -> None:
    fill(index, [])
    failed: list[BaseException] = []

    def write(number: int) -> None:
        try:
            source = other_source(index, f"s{number}")
            for round_ in range(2):
                fill(source, [file_record(f"{round_}.py", [symbol(f"n{number}-{round_}", "x")])])
            source.close()
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    assert names(index) == sorted(f"n{number}-{round_}" for number in range(5) for round_ in range(2))
    with index.reader() as reader:
        assert reader.counts()["symbols"] == 10
        assert reader.generation == 11
    assert index.check() == []


def test_clear_removes_one_source_and_with_the_last_one_the_index(index: ElasticBackend) -> None:
    other = other_source(index, "other")
    fill(index, some_files())
    fill(other, [file_record("b.py", [symbol("b1", "x")])])
    index.clear()
    assert names(index) == ["b1"]
    assert index.check() == [] and index.has_generation()
    with index.reader() as reader:
        assert reader.counts()["files"] == 1
    fill(index, some_files()[:1])
    assert names(other) == ["add_item", "b1", "total"]
    index.clear()
    other.clear()
    assert not other.has_generation() and not other.exists()


def test_a_scan_by_file_is_complete_where_a_page_ends_within_a_file(index: ElasticBackend) -> None:
    fill(index, [file_record(f"{name}.py", [symbol(f"{name}{n}", "x") for n in range(5)]) for name in "abc"])
    found = list(index.searcher().scan("symbols", None, "file", page=4))
    assert len({hit["_id"] for hit in found}) == len(found) == 15


def test_an_interrupted_removal_leaves_no_source(
    index: ElasticBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = other_source(index, "other")
    fill(index, some_files())
    fill(other, [file_record("b.py", [symbol("b1", "x")])])
    with monkeypatch.context() as crash, pytest.raises(IndexLocked):
        crash.setattr(lease.SourceLease, "drop_versions", _fails)
        index.clear()
    assert names(other) == ["b1"]
    fill(index, some_files()[:1])
    assert names(other) == ["add_item", "b1", "total"]
    assert index.check() == []


def _fails(*_: object) -> None:
    raise IndexLocked("as if it had been killed here")


def test_a_second_writer_of_a_source_waits_or_fails(index: ElasticBackend) -> None:
    fill(index, [])
    second = other_source(index, index.source)
    with index.writer() as writer:
        writer.put(file_record("a.py", [symbol("a", "x")]))
        assert second.writer_process() == os.getpid()
        holder = f"process {os.getpid()}"
        with pytest.raises(IndexLocked, match=holder), second.writer(wait=0):
            pass
        messages: list[str] = []
        waiting = threading.Thread(target=lambda: fill_second(second, messages))
        waiting.start()
        writer.commit({})
    waiting.join()
    assert len(messages) == 1 and holder in messages[0]
    assert names(index) == ["a", "b"]
    assert second.writer_process() is None


def fill_second(backend: ElasticBackend, messages: list[str]) -> None:
    with backend.writer(on_wait=messages.append) as writer:
        writer.put(file_record("b.py", [symbol("b", "x")]))
        writer.commit({})


JOB = """
import os, signal, sys
sys.path.insert(0, {tests!r})
from dowse.storage.elastic.backend import ElasticBackend
from helpers import file_record, symbol
backend = ElasticBackend({address!r}, "shop")
with backend.writer() as writer:
    for name in "abc":
        writer.put(file_record(f"{{name}}.py", [symbol(name, "x"), symbol(name + "2", "x")]))
    writer.delete("old.py")
    writer.flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_dead_writers_lease_is_taken_over_and_its_transaction_resumed(
    index: ElasticBackend, caplog: pytest.LogCaptureFixture
) -> None:
    fill(index, [file_record("old.py", [symbol("old", "x")])])
    tests = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
    job = subprocess.run([sys.executable, "-c", JOB.format(tests=tests, address=index.address)], check=False)
    assert job.returncode == -signal.SIGKILL
    assert names(index) == ["old"]
    sent = all_ids(index)
    assert len(sent) == 2 + 9
    with index.writer(wait=0) as writer:
        assert sorted(writer.fingerprints()) == ["old.py"]
        writer.put(file_record("a.py", [symbol("a", "x"), symbol("a2", "x")]))
        writer.put(file_record("b.py", [symbol("b", "other words")]))
        writer.commit({})
    # Nothing of `a.py` was sent again; what else the dead writer had sent is removed.
    assert names(index) == ["a", "a2", "b", "old"]
    assert len(all_ids(index)) == 2 + 3 + 2
    assert index.check() == []


def test_a_writer_with_a_stale_lease_is_fenced_off(
    index: ElasticBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lease, "STALE_SECONDS", 0.3)
    fill(index, some_files()[:1])
    with contextlib.ExitStack() as held:
        silent = held.enter_context(index.writer())
        silent.put(file_record("a.py", [symbol("silent", "x")]))
        silent.lease.last_heartbeat -= lease.STALE_SECONDS + lease.LEASE_SECONDS
        heard = other_source(index, index.source)
        fill(heard, [file_record("a.py", [symbol("heard", "x")])])
        with pytest.raises(LeaseLost, match="run the same again"):
            silent.commit({})
    assert names(index) == ["add_item", "heard", "total"]
    assert index.check() == []
    fill(index, [file_record("b.py", [symbol("later", "x")])])
    assert names(index) == ["add_item", "heard", "later", "total"]


def test_a_writer_without_heartbeats_stops_by_itself(
    index: ElasticBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(LeaseLost), index.writer() as writer:
        monkeypatch.setattr(lease, "LEASE_SECONDS", -1.0)
        writer.put(file_record("a.py", [symbol("a", "x")]))
        writer.commit({})
    monkeypatch.undo()
    assert not index.has_generation()
    fill(index, [file_record("a.py", [symbol("a", "x")])])
    assert names(index) == ["a"]


def test_vacuum_removes_invisible_documents_after_the_grace_period(
    index: ElasticBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(index, some_files())
    fill(index, [file_record("src/cart.py", [symbol("basket", "weave")], text="weave\n")])
    visible = visible_documents(index)
    assert len(all_ids(index)) == len(visible) + 3  # a file and two symbols, for readers in use
    monkeypatch.setattr(transactions, "GRACE_SECONDS", 0.0)
    with index.writer() as writer:
        writer.set_skipped([("x", "binary")])
        writer.commit({})
    assert len(all_ids(index)) == len(visible)
    assert visible_documents(index) == visible


def test_a_rollback_leaves_nothing(index: ElasticBackend) -> None:
    fill(index, some_files())
    before, ids = visible_documents(index), all_ids(index)
    with index.writer() as writer:
        writer.put(file_record("new.py", [symbol("new", "x")]))
        writer.delete("src/cart.py")
    assert all_ids(index) == ids and visible_documents(index) == before
