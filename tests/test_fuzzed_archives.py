"""A sample of bench/fuzz_archives.py: snapshots and reports are used, or refused in one line."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from archive_mutations import Frames, mutate_report, mutate_snapshot
from archive_targets import small_snapshot, use_report, use_snapshot, written_outside
from dowse.errors import DowseError
from dowse.eval.reports.json_form import to_json
from eval.report_samples import small_report, varied_report

# Groups of mutations: a failing one names its seed.
SEEDS = range(8)
SNAPSHOTS, REPORTS = 25, 25


@pytest.fixture(scope="module")
def frames(tmp_path_factory: pytest.TempPathFactory) -> Frames:
    """A good snapshot, frame by frame."""
    return small_snapshot(tmp_path_factory.mktemp("good"))


@pytest.mark.parametrize("seed", SEEDS)
def test_snapshots(frames: Frames, tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(SNAPSHOTS):
        try:
            use_snapshot(mutate_snapshot(rng, frames), tmp_path / "x")
        except DowseError as error:
            assert "\n" not in str(error)
        assert written_outside(tmp_path / "x") == []


@pytest.mark.parametrize("seed", SEEDS)
def test_reports(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    good = [to_json(small_report()), to_json(varied_report())]
    for _ in range(REPORTS):
        try:
            use_report(*mutate_report(rng, rng.choice(good)), tmp_path / "x")
        except DowseError as error:
            assert "\n" not in str(error)
