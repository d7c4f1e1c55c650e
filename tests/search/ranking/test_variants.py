"""Variants of the same code: which of two paths gives way, and when neither does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from dowse import Index
from dowse.search.ranking.profile import Profile
from dowse.search.ranking.signals import QueryFeatures, lesser_variants, rank
from dowse.types import Contribution, SymbolRow

from helpers import write_tree


@pytest.mark.parametrize(
    ("lesser", "other"),
    [
        ("src/v3/types.ts", "src/v4/classic/schemas.ts"),
        ("api/v1beta1/pod.go", "api/v1/node.go"),
        ("api/v9/pod.go", "api/v10/pod.go"),
        ("lib/v1/fields.py", "lib/fields.py"),
        ("src/win/fs.c", "src/unix/fs.c"),
        ("open_windows.go", "open_linux.go"),
        ("src/unix/os390.c", "src/unix/linux.c"),
        ("src/legacy/cart.py", "src/cart.py"),
        ("cart_deprecated.py", "cart.py"),
    ],
)
def test_the_old_or_less_common_variant_gives_way(lesser: str, other: str) -> None:
    assert lesser_variants([other, lesser], ()) == {lesser}


@pytest.mark.parametrize(
    ("paths", "words"),
    [
        (["src/v3/types.ts", "src/v3/errors.ts"], []),  # nothing newer matches
        (["src/v1/fields.py", "src/other.py"], []),  # the same: v1 may be all there is
        (["a/v1/x.go", "b/v2/x.go"], []),  # versions of different things
        (["src/v3/types.ts", "src/v4/types.ts"], ["v3", "types"]),
        (["src/win/fs.c", "src/unix/fs.c"], ["files", "on", "windows"]),
        (["src/win/fs.c", "src/win/pipe.c"], []),
        (["src/legacy/cart.py", "src/cart.py"], ["legacy", "cart"]),
        (["src/window.py", "src/bold.py", "src/vnext/x.py"], []),
    ],
)
def test_variants_without_a_better_one_and_those_that_are_asked_for_stay(
    paths: list[str], words: list[str]
) -> None:
    assert not lesser_variants(paths, words)


def test_a_variant_keeps_a_share_of_its_score() -> None:
    rows = [
        SymbolRow(n, f"id{n}", "", path, "c", "", "function", "open", "open", 1, 9, "open()", n)
        for n, path in enumerate(("win/fs.c", "unix/fs.c"))
    ]
    profile = replace(Profile(fields={}), variant=0.5)
    scores = [[Contribution("keyword", 1.0)], [Contribution("keyword", 0.9)]]
    hits = rank(rows, scores, QueryFeatures(frozenset()), profile)
    assert [(hit.row.path, hit.score) for hit in hits] == [("unix/fs.c", 0.9), ("win/fs.c", 0.5)]
    assert hits[1].contributions[-1] == Contribution("signal.variant", -0.5, "× 0.5")


def test_the_current_version_comes_first_unless_the_old_one_is_named(tmp_path: Path) -> None:
    source = "def parse_price(text):\n    # the price of an article\n    return float(text)\n"
    root = write_tree(tmp_path / "tree", {"shop/v1/price.py": source * 2, "shop/v2/price.py": source})
    with Index.open(root, encoder="small") as index:
        index.update()
        first = [
            index.search(query, 1).hits[0].symbol.path for query in ("article price", "v1 article price")
        ]
    assert first == ["shop/v2/price.py", "shop/v1/price.py"]
