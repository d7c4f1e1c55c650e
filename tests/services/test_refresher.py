"""The queue of the index refresher."""

from __future__ import annotations

import time
from pathlib import Path

from dowse import Index
from dowse.services.events import EventBroker
from dowse.services.indexes import ServedIndexes
from dowse.services.refresher import IndexRefresher

from helpers import write_tree


def test_a_queued_check_does_not_drop_a_rebuild_that_follows(tmp_path: Path) -> None:
    index = Index.open(write_tree(tmp_path / "inn", {"a.py": "def a(): ..."}), index_dir=str(tmp_path / "i"))
    index.update()
    indexes, broker = ServedIndexes.create([index]), EventBroker(1)
    refresher, served = IndexRefresher(indexes, broker), indexes.get("inn")
    assert refresher.refresh(served, only_if_changed=True)
    assert not refresher.refresh(served, only_if_changed=True)
    assert refresher.refresh(served, rebuild=True)
    assert not refresher.refresh(served, rebuild=True) and not refresher.refresh(served)
    try:
        refresher.start()
        deadline = time.monotonic() + 60
        while broker.latest("inn").phase != "done" and time.monotonic() < deadline:
            time.sleep(0.02)
        assert broker.latest("inn").detail.startswith("1 added, 0 changed")
        assert index.status()["generation"] == 2
    finally:
        refresher.close()
        indexes.close()
