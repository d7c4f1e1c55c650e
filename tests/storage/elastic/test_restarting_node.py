"""A node that restarts rejects credentials that are right, because it can't reach the index of users yet."""

from __future__ import annotations

import itertools

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
