"""The local backend passes the suite of every backend."""

from __future__ import annotations

import pytest

from backends.conformance import Conformance, MakeBackend
from dowse.backends.local import LocalBackend


@pytest.fixture(scope="module")
def make_backend(tmp_path_factory: pytest.TempPathFactory) -> MakeBackend:
    return lambda: LocalBackend(tmp_path_factory.mktemp("backend") / "index")


class TestLocal(Conformance):
    """The suite, as it is."""
