"""Whatever happens, a watched index is what a fresh one would be."""

from __future__ import annotations

import os
import random
import sys

import pytest

from dowse import Index
from dowse.watch import maintainer as maintainer_module
from watch.random_steps import Happenings
from watch.running import settle, watching
from watch.whole import rebuilt, whole

from helpers import large_from

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="processes are looked up in /proc"
)
STEPS, ROUNDS = 12, 4


@pytest.mark.parametrize(("seed", "encoder"), large_from(1, [(1, "none"), (2, "none"), (3, "small")]))
def test_after_any_steps_the_index_equals_a_rebuild(tmp_path, monkeypatch, seed, encoder):
    monkeypatch.setattr(maintainer_module, "MAX_RESTART_SECONDS", 0.1)
    if os.environ.get("DOWSE_EXPLORE"):
        seed = random.randrange(10**6)
    happenings = Happenings(tmp_path / "tree", seed)
    with (
        Index.open(tmp_path / "tree", index_dir=str(tmp_path / "index"), encoder=encoder) as index,
        watching(index) as (watcher, _),
    ):
        for _ in range(ROUNDS):
            for _ in range(STEPS):
                happenings.step(watcher)
            settle(watcher)
            kept, fresh = whole(index), rebuilt(index, str(tmp_path / "fresh"))
            # Files that nobody wants wake nobody, so the list of them waits for the next scan.
            assert {**kept, "skipped": 0} == {**fresh, "skipped": 0}, f"seed {seed}"
