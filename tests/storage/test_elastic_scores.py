"""The backend on a cluster passes the suite of scores, on new indices.

What was removed lingers in an engine's statistics until it tidies up, and these tests compare every digit.
"""

from __future__ import annotations

import pytest

from storage.conformance import MakeBackend, ScoreConformance
from storage.elastic_fixtures import MakeElastic


@pytest.fixture(scope="module")
def make_backend(make_elastic: MakeElastic) -> MakeBackend:
    return make_elastic


class TestElasticScores(ScoreConformance):
    """The suite of scores, as it is."""

    examples = 4
