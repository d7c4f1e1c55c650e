"""A watched copy of the sample repository, for all tests that only ask, and a tiny one for the others."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import make_sample
from interfaces.daemon.running import running, wait_for_answers

from helpers import write_tree


@pytest.fixture(scope="package")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache folder of its own, short enough for sockets."""
    return tmp_path_factory.mktemp("w")


@pytest.fixture(scope="package")
def watched(cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample, and a warm process for it."""
    root = make_sample(tmp_path_factory.mktemp("warm") / "bakery")
    with running("watch", "--nice", 0, cwd=root, ready="watching", DOWSE_CACHE_DIR=str(cache)):
        wait_for_answers("symbols", "nothing-of-this-name", cwd=root, DOWSE_CACHE_DIR=str(cache))
        yield root


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A tiny repository."""
    return write_tree(tmp_path / "tree", {"a.py": "def alpha():\n    return 1\n"})
