"""Small trees to open in an editor, indexed once."""

from __future__ import annotations

from pathlib import Path

import pytest

from dowse import Index
from lsp_clients import BANK, SHOP

from helpers import age, write_tree


@pytest.fixture(scope="session")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with an index, for reading only."""
    root = write_tree(tmp_path_factory.mktemp("lsp") / "my shop", SHOP)
    age(root)
    with Index.open(root) as index:
        index.update()
    return root


@pytest.fixture(scope="session")
def bank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Another one."""
    root = write_tree(tmp_path_factory.mktemp("lsp") / "bank", BANK)
    age(root)
    with Index.open(root) as index:
        index.update()
    return root
