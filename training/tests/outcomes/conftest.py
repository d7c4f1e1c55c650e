"""A git repository for the tests of mined outcomes."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval.git_repo import GitRepo


@pytest.fixture
def repository(tmp_path: Path) -> GitRepo:
    """An empty repository."""
    return GitRepo(tmp_path / "bakery")
