"""The held-out split: a hash of a case's id puts it into the dev ("tune") or the test half ("report")."""

from __future__ import annotations

import hashlib
from dataclasses import replace

from dowse.eval.types import Dataset


def half_of(case_id: str) -> str:
    """Return the half of a case: "tune" or "report"."""
    return "tune" if hashlib.sha1(case_id.encode(), usedforsecurity=False).digest()[0] % 2 else "report"


def take_half(dataset: Dataset, half: str) -> Dataset:
    """Return a dataset with the cases of one half; "all" keeps it whole."""
    if half == "all":
        return dataset
    kept = tuple(case for case in dataset.cases if half_of(case.id) == half)
    return replace(dataset, cases=kept, half=half)
