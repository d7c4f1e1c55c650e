"""Where figures come from: told without the folders of this machine, and never wrongly."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from dowse.eval.about import about, own_commit, without_folders


@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("--compare", "--compare"),
        ("keyword,auto+expand", "keyword,auto+expand"),
        ("cases/mine.jsonl", "cases/mine.jsonl"),
        ("/home/ada/mine.jsonl", "…/mine.jsonl"),
        ("~/mine.jsonl", "…/mine.jsonl"),
        ("../up/mine.jsonl", "…/mine.jsonl"),
        ("--dataset=/home/ada/mine.jsonl", "--dataset=…/mine.jsonl"),
        ("small,/home/ada/mine,../theirs", "small,…/mine,…/theirs"),
        ("/home/ada/r.json:auto+expand", "…/r.json:auto+expand"),
        ("rrf:x", "rrf:x"),
        ("lang:go path:src/**", "lang:go path:src/**"),
    ],
)
def test_words_of_a_command(word: str, told: str) -> None:
    assert without_folders(word) == told


def test_what_is_named() -> None:
    found = about(["dowse", "eval", "/home/ada/x"])
    assert found["command"] == "dowse eval …/x"
    assert {"commit", "dowse", "date", "machine"} <= set(found)


def test_the_commit_is_that_of_the_checkout() -> None:
    here = Path(__file__).parent
    done = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=here, capture_output=True, text=True, check=False
    )
    if done.returncode:
        pytest.skip("not a checkout")
    assert own_commit().removesuffix("-dirty") == done.stdout.strip()
