"""What does it cost to put apart answers that are alike?

    python bench/diversify_speed.py --data DIR [--repo DIR] [--out bench/results/diversify_speed.json]

Each question is asked plainly and with every way of diversifying, one after another in one process, some
rounds; what a way adds is the median over questions of the difference between its time and the plain one's,
each the best of its rounds: what other processes take meanwhile falls out.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from dowse import Index
from dowse.eval.datasets import load_datasets

from common import milliseconds, work_folder, write_results

WAYS: Mapping[str, Mapping[str, str]] = {
    "plain": {},
    "mmr": {"diversify": "mmr"},
    **{
        f"{way} {clustering}": {"diversify": way, "clustering": clustering}
        for way in ("cluster", "sample")
        for clustering in ("hyperbolic", "euclidean", "spectral", "meaning")
    },
}
ROUNDS = 3
QUERIES = 99


def measure(index: Index, queries: Sequence[str], mode: str) -> dict[str, object]:
    """Return for each way its own times and what it adds to a plain search."""
    for options in WAYS.values():
        index.search(queries[0], mode=mode, plain=True, **options)  # everything is loaded
    best = {name: [float("inf")] * len(queries) for name in WAYS}
    for _ in range(ROUNDS):
        for place, query in enumerate(queries):
            for name, options in WAYS.items():
                started = time.perf_counter()
                index.search(query, mode=mode, plain=True, **options)
                best[name][place] = min(best[name][place], time.perf_counter() - started)
    plain = best["plain"]
    return {
        name: {
            **milliseconds(times),
            "added_ms": _added(times, plain),
            "ratio": round(statistics.median(times) / statistics.median(plain), 3),
        }
        for name, times in best.items()
    }


def _added(times: Sequence[float], plain: Sequence[float]) -> float:
    return round(1000 * statistics.median(one - other for one, other in zip(times, plain, strict=True)), 3)


def main() -> None:
    """Measure on a corpus, and on a tree if one is given."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with csn-challenge-python")
    parser.add_argument("--repo", type=Path, help="a repository to ask the same questions")
    parser.add_argument("--work", type=Path, help="where indexes are kept between runs")
    parser.add_argument("--out", type=Path, default=Path("bench/results/diversify_speed.json"))
    options = parser.parse_args()
    corpus = options.data / "csn-challenge-python"
    queries = [case.query for case in load_datasets(corpus)[0].cases][:QUERIES]
    results: dict[str, object] = {}
    with work_folder(options.work) as work:
        for place in filter(None, (corpus, options.repo)):
            with Index.open(place, index_dir=str(work / f"diversify-{place.name}")) as index:
                index.update()
                index.embed()
                results[place.name] = {
                    "symbols": index.status()["symbols"],
                    **{mode: measure(index, queries, mode) for mode in ("keyword", "auto")},
                }
    write_results(options.out, results)


if __name__ == "__main__":
    main()
