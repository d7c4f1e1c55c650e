"""Crash recovery: a job that is killed anywhere and run again leaves the same documents as one run."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dowse import Index
from dowse.storage.elastic.backend import ElasticBackend
from storage.elastic.crashes import all_ids, kill_and_resume, visible_documents
from storage.elastic_fixtures import MakeElastic

from helpers import age, write_tree

TREE = {
    "shop/cart.py": 'from shop.tax import vat\n\n\nclass Cart:\n    """Holds items."""\n\n'
    "    def total(self):\n        return vat(sum(self.items))\n",
    "shop/tax.py": "RATE = 1.2\nLIMIT = 9\n\n\ndef vat(amount):\n    return amount * RATE\n",
    "shop/mail.py": "from shop.cart import Cart\n\n\ndef send(cart: Cart):\n    return cart.total()\n",
    "web/page.js": "import { total } from './cart';\nexport function page() { return total(); }\n",
    "notes.md": "# Notes\n\nHow the shop works.\n",
}
CHANGED = {
    "shop/tax.py": "RATE = 1.19\nFLOOR = 1\n\n\ndef vat(amount):\n    return amount * RATE\n\n\n"
    "def net(amount):\n    return amount\n",
    "shop/new.py": "from shop.tax import net\n\n\ndef cheap(price):\n    return net(price)\n",
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = write_tree(tmp_path / "tree", TREE)
    age(root)
    return root


def index_in_one_run(make_elastic: MakeElastic, root: Path) -> ElasticBackend:
    """Index a tree in one go, in an index of its own."""
    address = make_elastic().address
    with Index.open(root, backend=address) as index:
        index.update()
    return ElasticBackend(address)


def change(root: Path, name: str, text: str) -> None:
    """Save a file, long enough ago that its time can be trusted."""
    (root / name).write_text(text)
    os.utime(root / name, (1_700_000_000, 1_700_000_000))


@pytest.mark.large
def test_killed_jobs_end_like_an_uninterrupted_one(make_elastic: MakeElastic, tree: Path) -> None:
    backend = make_elastic()
    assert kill_and_resume(backend.address, tree, kills=3, seed=1)
    assert visible_documents(backend) == visible_documents(index_in_one_run(make_elastic, tree))
    assert len(all_ids(backend)) == len(visible_documents(backend)), "invisible documents are left"
    assert backend.check() == []

    (tree / "shop" / "mail.py").unlink()
    for name, text in CHANGED.items():
        change(tree, name, text)
    assert kill_and_resume(backend.address, tree, kills=3, seed=3)
    assert visible_documents(backend) == visible_documents(index_in_one_run(make_elastic, tree))
    assert backend.check() == []


def test_a_lost_mirror_is_rebuilt_and_nothing_is_sent_again(
    make_elastic: MakeElastic, tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = index_in_one_run(make_elastic, tree)
    before, ids = visible_documents(backend), all_ids(backend)
    monkeypatch.setenv("DOWSE_CACHE_DIR", str(tmp_path / "another machine"))
    with Index.open(tree, backend=backend.address) as index:
        assert not index.update().wrote
        assert all_ids(backend) == ids
        change(tree, "shop/tax.py", CHANGED["shop/tax.py"])
        report = index.update()
    assert (report.added, report.changed, report.deleted) == (0, 1, 0)
    fresh = index_in_one_run(make_elastic, tree)
    assert visible_documents(backend) == visible_documents(fresh) != before
    # The file, its three symbols, its new name and what they refer to; those who refer to `vat` still do.
    new = [each.partition(" ")[0] for each in sorted(all_ids(backend) - ids)]
    assert new.count("files") == 1 and new.count("names") == 1 and len(new) <= 6
