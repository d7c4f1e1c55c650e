"""Answers that no search can find are told, with what may have been meant."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dowse import Index
from dowse.eval import Case, Dataset
from dowse.eval.index_targets import note_missing_targets
from eval.small_tree import make_tree


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    """The small tree, indexed."""
    root = make_tree(tmp_path_factory.mktemp("presence") / "tree")
    with Index.open(root, encoder="none", index_dir=str(root.parent / "index")) as made:
        made.update()
        yield made


def files(*targets: str) -> Dataset:
    return Dataset("x", tuple(Case(f"question {i}", {target: 1.0}) for i, target in enumerate(targets)))


def symbols(*targets: str) -> Dataset:
    cases = (Case(f"question {i}", symbols={target: 1.0}) for i, target in enumerate(targets))
    return Dataset("x", tuple(cases), level="symbol")


@pytest.mark.parametrize(
    "data",
    [
        files("shop/oven.py", "oven.py", "src/shop/oven.py", "shop/oven.py#1", "shop/oven.py#3-9999"),
        symbols("shop/oven.py::Oven.preheat", "oven.py::Oven", "preheat", "Oven.preheat"),
        Dataset("x", (Case("a", {"shop/oven.py": 1.0, "gone.py": 0.0}),)),
    ],
    ids=["files", "symbols", "grade 0"],
)
def test_what_can_be_found_needs_no_note(index: Index, data: Dataset) -> None:
    assert note_missing_targets(index, data) == ""


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (files("shop/oven.py", "shop/ovn.py"), "e.g. shop/ovn.py (did you mean shop/oven.py?)"),
        (files("shop/oven.py", "lib/x/oven.py"), "e.g. lib/x/oven.py (did you mean shop/oven.py?)"),
        (files("shop/oven.py", "shop/oven.py#9999"), "e.g. shop/oven.py#9999"),
        (files("shop/oven.py", "zzz"), "e.g. zzz"),
        (
            symbols("preheat", "shop/oven.py::Oven.preheet"),
            "e.g. shop/oven.py::Oven.preheet",
        ),
        (
            symbols("preheat", "shop/ovens.py::Oven"),
            "e.g. shop/ovens.py::Oven (did you mean shop/oven.py?)",
        ),
        (symbols("preheat", "total_prise"), "e.g. total_prise (did you mean total_price?)"),
    ],
)
def test_what_can_not_is_named_with_what_may_be_meant(index: Index, data: Dataset, told: str) -> None:
    assert note_missing_targets(index, data) == f"1 of 2 answers is not in this index, {told}"
