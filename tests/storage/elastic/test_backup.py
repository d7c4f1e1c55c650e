"""Elasticsearch's own means: snapshots are made and restored, and disks fill up."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
import uuid
from collections.abc import Callable
from typing import Any

import pytest

from dowse.storage.elastic import lease
from dowse.storage.elastic.backend import ElasticBackend
from storage.conformance import fill, some_files
from storage.elastic.crashes import all_ids, visible_documents

from helpers import file_record, symbol

pytestmark = pytest.mark.large

NEW = file_record("new.py", [symbol("new", "item")], text="new\n")


def ask(backend: ElasticBackend, method: str, path: str, body: object = None) -> dict[str, Any]:
    """Send a request to the cluster, as an administrator would."""
    data = None if body is None else json.dumps(body).encode()
    url = f"http://{backend.parsed_address.hosts[0]}{path}"
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"}, method=method)
    with urllib.request.urlopen(request, timeout=60) as answer:
        found: dict[str, Any] = json.load(answer)
        return found


@pytest.fixture
def repository(cluster: list[str], make_elastic: Callable[..., ElasticBackend]) -> str:
    """The name of a folder for snapshots, known to the cluster."""
    name = f"backup-{uuid.uuid4().hex[:8]}"
    try:
        ask(make_elastic(), "PUT", f"/_snapshot/{name}", {"type": "fs", "settings": {"location": name}})
    except urllib.error.HTTPError:
        pytest.skip("the cluster has no `path.repo`")  # one that DOWSE_TEST_CLUSTER names
    return name


def test_a_snapshot_while_writers_work_restores_a_whole_generation(
    make_elastic: Callable[..., ElasticBackend], repository: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lease, "STALE_SECONDS", 0.5)  # the snapshot has the lease of a writer that has ended
    index = make_elastic()
    other = ElasticBackend(index.address, "other")
    fill(index, some_files())
    committed = hashes(index)
    meta, *others = reversed(index.client.aliases.split(","))

    def snapshot(name: str, aliases: list[str]) -> None:
        body = {"indices": [f"{alias}-*" for alias in aliases], "include_global_state": False}
        ask(index, "PUT", f"/_snapshot/{repository}/{name}?wait_for_completion=true", body)

    with index.writer() as writer:
        writer.put(NEW)
        writer.delete("src/cart.py")
        writer.flush()
        snapshot("meta", [meta])
        writer.commit({})  # after the state was saved, and before the documents are,
    fill(index, some_files()[1:])  # as this one,
    with other.writer() as unfinished:
        unfinished.put(NEW)  # and the beginning of this one
        unfinished.flush()
        snapshot("others", others)
    ask(index, "DELETE", "/" + ",".join(f"{alias}-000001" for alias in (meta, *others)))
    for name in ("meta", "others"):
        ask(index, "POST", f"/_snapshot/{repository}/{name}/_restore?wait_for_completion=true", {})
    restored = ElasticBackend(index.address, index.source)
    assert hashes(restored) == committed
    assert restored.check() == []
    # Writers of any source take nothing over that is not theirs.
    fill(ElasticBackend(index.address, "third"), [NEW])
    assert paths(restored) == sorted(["new.py", *(record.path for record in some_files())])
    fill(restored, [NEW])
    fill(ElasticBackend(index.address, "other"), [])
    assert paths(restored) == sorted(["new.py", "new.py", *(record.path for record in some_files())])
    assert restored.check() == []
    assert len(all_ids(restored)) == len(visible_documents(restored))


def hashes(backend: ElasticBackend) -> dict[tuple[str, int], str]:
    return {key: body["hash"] for key, body in visible_documents(backend).items()}


def paths(backend: ElasticBackend) -> list[str]:
    with backend.reader() as reader:
        return sorted(file.path for file in reader.files())
