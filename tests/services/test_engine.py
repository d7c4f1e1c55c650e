"""The engine of a server: what is requested of its worker."""

from __future__ import annotations

import time
from pathlib import Path

from dowse import Index
from dowse.services.engine import Engine
from dowse.services.events import EventBroker
from dowse.services.indexes import ServedIndexes

from helpers import write_tree


def test_who_is_in_line_is_not_put_there_again_and_a_rebuild_is_not_dropped(tmp_path: Path) -> None:
    index = Index.open(write_tree(tmp_path / "inn", {"a.py": "def a(): ..."}), index_dir=str(tmp_path / "i"))
    index.update()
    indexes, broker, engine = ServedIndexes.create([index]), EventBroker(1), Engine()
    served = indexes.get("inn")
    try:
        engine.add(served, broker)
        assert not engine.refresh(served, "check") and not engine.refresh(served)
        assert engine.refresh(served, "rebuild")
        assert not engine.refresh(served, "rebuild") and not engine.refresh(served)
        deadline = time.monotonic() + 60
        while broker.latest("inn").phase != "done" and time.monotonic() < deadline:
            time.sleep(0.02)
        assert broker.latest("inn").detail.startswith("1 added, 0 changed")
        assert index.status()["generation"] == 2
    finally:
        engine.close()
        indexes.close()
