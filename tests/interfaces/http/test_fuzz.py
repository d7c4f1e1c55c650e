"""Every operation with good and bad parameters: no server error, and answers of the promised form."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import schemathesis
from hypothesis import HealthCheck, settings

from dowse import Index
from dowse.interfaces.http.app import create_app
from interfaces.http.conftest import INN
from interfaces.http.running import Running, running

from helpers import write_tree

# A stream that never ends; and what would index again and again under the others' feet.
APART = ["events", "reindex"]
WHOLE = schemathesis.openapi.from_dict(create_app([]).openapi())
asked, begun = WHOLE.exclude(operation_id=APART), WHOLE.include(operation_id="reindex")
few = settings(max_examples=15, suppress_health_check=list(HealthCheck))
# Queries have a grammar, which OpenAPI can't tell: some that it allows are refused.
NOT_MEANT = [schemathesis.checks.positive_data_acceptance]


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server whose index may change."""
    root = write_tree(tmp_path_factory.mktemp("inn") / "inn", INN)
    index = Index.open(root, index_dir=str(tmp_path_factory.mktemp("index") / "i"), refresh="never")
    with running([index]) as run:
        yield run


@asked.parametrize()
@few
def test_no_question_makes_the_server_fail(case: schemathesis.Case, server: Running) -> None:
    case.call_and_validate(base_url=server.url, timeout=20, excluded_checks=NOT_MEANT)


@begun.parametrize()
@few
def test_nor_does_a_request_to_reindex(case: schemathesis.Case, own: Running) -> None:
    case.call_and_validate(base_url=own.url, timeout=20, excluded_checks=NOT_MEANT)
