"""A seeded sample of the fuzzed git folders and ignore files; `bench/fuzz_repository.py` makes thousands."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

FUZZER = Path(__file__).parents[2] / "bench" / "fuzz_repository.py"


@pytest.mark.parametrize(("what", "count"), [("git", 300), ("ignore", 150)])
def test_a_sample_of_fuzzed_repositories(what: str, count: int, tmp_path: Path) -> None:
    # Only a hang takes a minute; how slow cases are is measured, not tested.
    flags = ["--count", str(count), "--seed", "7", "--what", what, "--seconds", "60"]
    done = subprocess.run(
        [sys.executable, FUZZER, *flags],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
