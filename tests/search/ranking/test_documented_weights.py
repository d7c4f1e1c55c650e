"""docs/RANKING.md has the weights that count: a reader computes a score from them."""

from __future__ import annotations

from pathlib import Path

import pytest

from dowse.search.ranking.profile import CORPUS, TREE, Profile

RANKING = (Path(__file__).parents[3] / "docs" / "RANKING.md").read_text()
KINDS = (TREE, TREE.kinds["change"], TREE.kinds["description"])
# Rows of the table that are named otherwise in the code.
OF_BLEND = ("words", "coverage", "graph")
ATTRIBUTES = {"variant ×": "variant", "saturation ×": "saturation", "power": "coherence_power"}
ATTRIBUTES |= {"size": "coherence_size", "promote": "promote_definitions"}
SIGNALS = "definition name file folder path header length coherence heads".split()


def cells(row: str) -> list[str]:
    """Return what the table of kinds says of a weight: by topic, change and description."""
    (line,) = (line for line in RANKING.splitlines() if line.startswith(f"    {row} "))
    return line.removeprefix(f"    {row} ").split()


def both(profile: Profile, name: str) -> tuple[object, object]:
    """Return a weight without and with `blend`."""
    assert profile.blended
    return getattr(profile, name), getattr(profile.blended, name)


def value(text: str) -> object:
    return text == "yes" if text in ("yes", "no") else float(text.replace("−", "-"))


@pytest.mark.parametrize("row", [*SIGNALS, *ATTRIBUTES])
def test_signals(row: str) -> None:
    name = ATTRIBUTES.get(row, row)
    for cell, profile in zip(cells(row), KINDS, strict=True):
        first, _, second = cell.partition("/")
        assert (value(first), value(second or first)) == both(profile, name), (row, cell)


@pytest.mark.parametrize("row", OF_BLEND)
def test_fusion(row: str) -> None:
    assert [value(cell) for cell in cells(row)] == [getattr(profile.blend, row) for profile in KINDS]


def test_roles_and_corpora() -> None:
    assert "**roles** .4 tests, .5 docs, .6 examples, benchmarks, generated, vendored" in RANKING
    assert TREE.roles == {"test": 0.4, "docs": 0.5} | dict.fromkeys(
        ("example", "benchmark", "generated", "vendored"), 0.6
    )
    blend = CORPUS.blend
    assert "Weights of corpora: words 0, long_words .1, coverage .12, name .08" in RANKING
    assert (blend.words, blend.long_words, blend.coverage, blend.name) == (0.0, 0.1, 0.12, 0.08)
