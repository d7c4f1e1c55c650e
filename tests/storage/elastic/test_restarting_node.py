"""A node that restarts rejects credentials that are right, and has lost the contexts of searches that run."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest

from dowse.errors import ConfigError, DowseError
from dowse.storage.elastic.backend import ElasticBackend
from storage.conformance import fill, some_files
from storage.elastic.fault_proxy import fault_proxy


def test_credentials_that_were_accepted_are_tried_again(make_emptied) -> None:
    index: ElasticBackend = make_emptied()
    fill(index, some_files())
    for answers, is_retried in ((["pass", 401, 401], True), ([401], False)):
        fates = itertools.chain(answers, itertools.repeat("pass"))
        with fault_proxy(lambda *_, fates=fates: next(fates), index.parsed_address.hosts[0]) as host:
            backend = ElasticBackend(f"elastic://{host}/{index.parsed_address.name}", retry_seconds=10)
            if is_retried:
                assert backend.has_generation() and backend.has_generation()
            else:
                with pytest.raises(ConfigError, match="rejected the credentials"):
                    backend.has_generation()
            backend.close()


def test_an_internal_error_that_stays_is_reported(make_emptied) -> None:
    index: ElasticBackend = make_emptied()
    with fault_proxy(lambda *_: 500, index.parsed_address.hosts[0]) as host:
        backend = ElasticBackend(f"elastic://{host}/{index.parsed_address.name}", retry_seconds=0.2)
        with pytest.raises(DowseError, match=r"refused a request \(500"):
            backend.has_generation()
        backend.close()


def lost_context(index: ElasticBackend) -> dict[str, Any]:
    """Return what a node answers to a search whose context it has lost, here one that was closed."""

    def ask(es: Any) -> dict[str, Any]:
        point = es.open_point_in_time(index=index.client.aliases, keep_alive="1m")["id"]
        es.close_point_in_time(id=point)
        return dict(es.options(ignore_status=404).search(pit={"id": point}).body)

    return index.client.call(ask)


@pytest.mark.parametrize("path", ["/_search", "/_msearch"])
def test_a_search_whose_context_was_lost_is_sent_again(make_emptied, path: str) -> None:
    index: ElasticBackend = make_emptied()
    fill(index, some_files())
    lost = lost_context(index)
    assert "No search context found" in str(lost)
    status, answer = (404, lost) if path == "/_search" else (200, {"took": 1, "responses": [lost]})
    refused: list[str] = []

    def rule(method: str, asked: str) -> str | int:
        if not asked.partition("?")[0].endswith(path) or len(refused) == 2:
            return "pass"
        refused.append(asked)
        return status

    with fault_proxy(rule, index.parsed_address.hosts[0], json.dumps(answer).encode()) as host:
        backend = ElasticBackend(f"elastic://{host}/{index.parsed_address.name}", retry_seconds=10)
        body = {"query": {"match_all": {}}, "size": 0, "track_total_hits": True}
        search, files = backend.client.search, backend.client.alias("files")
        found = search(files, body) if path == "/_search" else backend.client.msearch([(files, body)])[0]
        assert (found["hits"]["total"]["value"], len(refused)) == (3, 2)
        backend.close()


def test_contexts_that_stay_lost_are_reported(make_emptied) -> None:
    index: ElasticBackend = make_emptied()
    fill(index, some_files())
    refusal = json.dumps(lost_context(index)).encode()
    with fault_proxy(lambda *_: 404, refusal=refusal) as host:
        backend = ElasticBackend(f"elastic://{host}/{index.parsed_address.name}", retry_seconds=0.2)
        with pytest.raises(DowseError, match=r"parts of .* can't be reached .*; see `dowse status`"):
            backend.client.search(backend.client.alias("files"), {})
        backend.close()
