"""docs/SECURITY.md and documents of servers: each promise names tests, and figures that the tests have."""

from __future__ import annotations

import re
from pathlib import Path

import hostile
import pytest

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "SECURITY.md").read_text()
# What is limited, in the words of these documents.
_LIMIT = re.compile(
    r"\bat most\b|≤|\blimited\b|[Bb]eyond \d|\bup to \d|\bwithin\b|\*\*Bounded|\bnever logged|for ever\b"
    r"|\b\d+ (?:KB|days)\b|\b(?:takes?|over|have|has|of) \d+ s\b|Nothing grows"
)
# Not of dowse but of what surrounds it, or what an alert may be.
_OTHERS = ("dowse has no TLS", "We confirm within a week", "| `dowse_request_seconds`")


def test_every_promise_in_a_table_names_a_test():
    rows = [line for line in TEXT.splitlines() if line.startswith("| ") and line.count("|") == 3]
    promises = [row for row in rows if not row.startswith("| promise")]
    assert len(promises) > 12 and all(".py`" in row for row in promises)


def test_the_number_of_kinds_is_right():
    assert f"{len(hostile.KINDS)} kinds" in TEXT


@pytest.mark.parametrize("name", ["SECURITY", "HTTP", "OPERATIONS"])
def test_every_limit_names_a_test(name):
    text = re.sub(r"```.*?```", "", (ROOT / "docs" / f"{name}.md").read_text(), flags=re.DOTALL)
    paragraphs = [
        part for part in re.split(r"\n(?=[-|\n])", text) if not any(each in part for each in _OTHERS)
    ]
    limits = [part for part in paragraphs if _LIMIT.search(part)]
    assert limits and [part for part in limits if ".py`" not in part] == []
