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


def test_a_snapshot_restores_the_index(
    make_elastic: Callable[..., ElasticBackend], repository: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lease, "STALE_SECONDS", 0.5)
    index = make_elastic()
    fill(index, some_files())
    committed = hashes(index)
    body = {"indices": [f"{alias}-*" for alias in index.client.aliases.split(",")]}
    address = f"/_snapshot/{repository}/all"
    ask(index, "PUT", f"{address}?wait_for_completion=true", {**body, "include_global_state": False})
    fill(index, [NEW])  # later than the snapshot
    ask(index, "DELETE", "/" + ",".join(f"{alias}-000001" for alias in index.client.aliases.split(",")))
    ask(index, "POST", f"{address}/_restore?wait_for_completion=true", {})
    restored = ElasticBackend(index.address, index.source)
    assert hashes(restored) == committed
    assert restored.check() == []
    fill(restored, [NEW])
    assert paths(restored) == sorted(["new.py", *(record.path for record in some_files())])
    assert restored.check() == []
    assert len(all_ids(restored)) == len(visible_documents(restored))


def hashes(backend: ElasticBackend) -> dict[tuple[str, int], str]:
    return {key: body["hash"] for key, body in visible_documents(backend).items()}


def paths(backend: ElasticBackend) -> list[str]:
    with backend.reader() as reader:
        return sorted(file.path for file in reader.files())
