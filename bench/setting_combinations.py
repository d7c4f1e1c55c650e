"""Every combination of settings, on indexes of every kind: an answer or an error for the user, no traceback.

    python bench/setting_combinations.py [--seconds 600] [--seed 0] [--large 100000]

Walks through the product of all values in a random order for so long (0: all of it, which takes days); tests
try each pair of values (`tests/test_setting_combinations.py`).
"""

from __future__ import annotations

import argparse
import itertools
import os
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from common import write_results

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from setting_combinations import (
    INDEX_VALUES,
    KINDS,
    SEARCH_VALUES,
    make_index,
    make_large_index,
    problem,
)


def main() -> None:
    """Run, and write what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--large", type=int, default=100_000, metavar="N", help="symbols of the large index")
    results = Path(__file__).parent / "results" / "setting_combinations.json"
    parser.add_argument("--out", type=Path, default=results)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="dowse-settings-") as folder:
        os.environ.update(DOWSE_CONFIG=f"{folder}/none.toml", DOWSE_DATA_DIR=f"{folder}/data")
        os.environ.update(DOWSE_ISOLATION="never", DOWSE_CACHE_DIR=f"{folder}/cache")
        write_results(options.out, run(Path(folder), options.seconds, options.seed, options.large))


def run(folder: Path, seconds: float, seed: int, large: int) -> dict[str, object]:
    """Search with as many combinations as the time allows; return counts and problems."""
    indexes: list[tuple[str, Any]] = [("large", make_large_index(folder, large))]
    for values in product(INDEX_VALUES):
        indexes += [(kind, make_index(kind, folder, values)) for kind in KINDS]
    searched: Counter[str] = Counter()
    problems: list[str] = []
    deadline = time.monotonic() + seconds if seconds else float("inf")
    for kind, index, values in combinations(indexes, seed, complete=not seconds):
        if time.monotonic() > deadline:
            break
        searched[kind] += 1
        if said := problem(index, values):
            problems.append(f"{kind} {index.settings.encoder} {index.settings.vectors} {values}: {said}")
    return {
        "indexes": len(indexes),
        "searches": dict(searched),
        "problems": len(problems),
        "examples": problems[:20],
    }


def product(values: Mapping[str, Sequence[Any]]) -> Iterator[dict[str, Any]]:
    """Yield each combination of some values."""
    for row in itertools.product(*values.values()):
        yield dict(zip(values, row, strict=True))


def combinations(
    indexes: Sequence[tuple[str, Any]], seed: int, *, complete: bool
) -> Iterator[tuple[str, Any, dict[str, Any]]]:
    """Yield indexes and settings of a search: each once, or drawn at random without end."""
    if complete:
        for values in product(SEARCH_VALUES):
            for kind, index in indexes:
                yield kind, index, values
        return
    chance = random.Random(seed)
    while True:
        kind = chance.choice(("large", *KINDS))
        index = chance.choice([index for name, index in indexes if name == kind])
        yield kind, index, {name: chance.choice(each) for name, each in SEARCH_VALUES.items()}


if __name__ == "__main__":
    main()
