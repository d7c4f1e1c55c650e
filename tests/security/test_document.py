"""docs/SECURITY.md: each promise names tests, and figures that the tests have."""

from __future__ import annotations

from pathlib import Path

import hostile

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "SECURITY.md").read_text()


def test_every_promise_in_a_table_names_a_test():
    rows = [line for line in TEXT.splitlines() if line.startswith("| ") and line.count("|") == 3]
    promises = [row for row in rows if not row.startswith("| promise")]
    assert len(promises) > 12 and all(".py`" in row for row in promises)


def test_the_number_of_kinds_is_right():
    assert f"{len(hostile.KINDS)} kinds" in TEXT
