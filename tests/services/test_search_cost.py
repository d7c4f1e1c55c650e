"""Which searches run apart from quick ones."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import pytest

from dowse.config import Settings
from dowse.search.options import OPTIONS, make_options
from dowse.services.search_cost import may_be_slow


def _options(**given: Any) -> dict[str, Any]:
    usual = asdict(make_options(Settings()))
    return {**{name: usual[name] for name in OPTIONS}, "lanes": "", **given}


@pytest.mark.parametrize(
    ("query", "given"),
    [
        ("/./", {}),
        ('read "the file"', {}),
        ("what calls parse_header", {}),
        ("rev:main parse", {}),
        ("word " * 100, {}),
        ("parse", {"mode": "regex"}),
        ("parse", {"lanes": "keyword,graph"}),
        ("parse", {"rerank": True}),
        ("parse", {"filters": "/a.c/"}),
    ],
)
def test_slow(query: str, given: dict[str, Any]) -> None:
    assert may_be_slow(query, _options(**given))


@pytest.mark.parametrize(
    ("query", "given"),
    [
        ("where are sessions cleaned up", {}),
        ("parse_header", {}),
        ("lang:python -path:tests/** cookie", {}),
        ("src/app.py", {}),
        ('an unclosed "quote', {}),
        ("/./", {"plain": True}),
        ("lang:klingon x/y", {}),
    ],
)
def test_quick(query: str, given: dict[str, Any]) -> None:
    assert not may_be_slow(query, _options(**given))
