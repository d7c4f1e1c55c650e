"""Searching vectors: the approximate search beside the exact one, and that beside NumPy's float32 product.

    python bench/vectors_speed.py --vectors FILE.npy --queries FILE.npy [--out FILE]

Vectors are the code vectors of an encoder, one a row, of any number type; queries are those of texts, from
the same encoder. The first half of the queries is given to the fit, the other half is asked. All ways to
search take turns, one thread each, so that whatever else the machine does hits all of them: once in turns of
20 queries, as a server would be asked, and once query by query. In the latter, the approximate search finds
the processor's cache emptied by the others, which read everything: both are reported. Recall is against the
exact search over the stored bytes; what storing bytes costs is reported beside it.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dowse.vectors.exact import exact_search
from dowse.vectors.ivf import IvfIndex, ivf_search, load, save
from dowse.vectors.ivf_build import fit
from dowse.vectors.matrix import Matrix
from dowse.vectors.writer import matrix_writer

from common import milliseconds, work_folder, write_results

Search = Callable[[NDArray[Any]], NDArray[Any]]

BAR_FASTER, BAR_RECALL = 10.0, 0.97
_K = 100
_TURN = 20
_CHUNK = 50_000
_ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
# Shares of the rows that a filter allows.
_FILTERS = (0.5, 0.1, 0.01)


def main() -> None:
    """Measure each size."""
    use_one_thread()
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--vectors", type=Path, required=True, nargs="+")
    parser.add_argument("--queries", type=Path, required=True, nargs="+")
    parser.add_argument("--sizes", default="13000,150000,1000000")
    parser.add_argument("--asked", type=int, default=200, help="queries to time, at most")
    parser.add_argument("--lists", type=int, help="lists to make (default: what the fit chooses)")
    parser.add_argument("--work", type=Path, help="matrices here (default: a temporary folder)")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    queries = shuffled(options.queries)
    given, asked = queries[: len(queries) // 2], queries[len(queries) // 2 :][: options.asked]
    results: dict[str, Any] = {"bar": {"faster": BAR_FASTER, "recall@100": BAR_RECALL}}
    with work_folder(options.work) as work:
        vectors = shuffled(options.vectors)
        for size in sorted({min(int(size), len(vectors)) for size in options.sizes.split(",")}):
            results[f"{size:,}"] = measure(work / str(size), vectors[:size], given, asked, options.lists)
            print(size, json.dumps(results[f"{size:,}"]), file=sys.stderr, flush=True)
    print(json.dumps(results, indent=1))
    if options.out:
        write_results(options.out, results)


def use_one_thread() -> None:
    """Start this process anew with one thread for NumPy, if it has more."""
    if any(os.environ.get(name) != value for name, value in _ONE_THREAD.items()):
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **_ONE_THREAD})


def shuffled(paths: list[Path]) -> NDArray[Any]:
    """Read arrays, one below the other, in an order that mixes them and is always the same."""
    rows = np.concatenate([np.load(path) for path in paths])
    return rows[np.random.default_rng(0).permutation(len(rows))]


def measure(
    folder: Path, vectors: NDArray[Any], given: NDArray[Any], asked: NDArray[Any], lists: int | None
) -> dict[str, Any]:
    """Build, compare answers, then time."""
    stored_s, matrix = timed(lambda: store(folder, vectors))
    built_s, index = timed(lambda: build(matrix, given, lists))
    floats = unit(vectors)
    ways: dict[str, Search] = {
        "numpy": lambda q: numpy_top(floats, q),
        "exact": lambda q: exact_search(matrix, q, _K).rows,
        "approx": lambda q: ivf_search(index, matrix, q, _K).rows,
    }
    speeds, found = take_turns(ways, unit(asked), _TURN)
    cold, _ = take_turns(ways, unit(asked), 1)
    return {
        "dimension": vectors.shape[1],
        "queries": len(asked),
        "times": speeds,
        "exact_over_approx_p50": round(speeds["exact"]["p50_ms"] / speeds["approx"]["p50_ms"], 2),
        "times_query_by_query": cold,
        "exact_over_approx_p50_query_by_query": round(cold["exact"]["p50_ms"] / cold["approx"]["p50_ms"], 2),
        "numpy_over_exact_p50": round(speeds["numpy"]["p50_ms"] / speeds["exact"]["p50_ms"], 2),
        "recall": {f"@{k}": overlap(found["exact"], found["approx"], k) for k in (10, _K)},
        "recall_of_bytes": {f"@{k}": overlap(found["numpy"], found["exact"], k) for k in (10, _K)},
        "recall_told_by_fit": round(index.recall, 4),
        "filtered": {str(share): filtered(matrix, index, unit(asked), share) for share in _FILTERS},
        "lists": len(index.centres),
        "lists_taken": index.lists_for(_K),
        "store_seconds": round(stored_s, 2),
        "build_seconds": round(built_s, 2),
        "bytes": {path.name: path.stat().st_size for path in sorted(folder.glob("0*"))},
    }


def take_turns(
    ways: dict[str, Search], queries: NDArray[np.float32], turn: int
) -> tuple[dict[str, dict[str, float]], dict[str, list[NDArray[Any]]]]:
    """Ask all queries in all ways, `turn` queries at a time; return the times, and the rows found."""
    times: dict[str, list[float]] = {name: [] for name in ways}
    found: dict[str, list[NDArray[Any]]] = {name: [] for name in ways}
    for start in range(0, len(queries), turn):
        for name, search in ways.items():
            for query in queries[start : start + turn]:
                seconds, rows = timed(lambda search=search, query=query: search(query))
                times[name].append(seconds)
                found[name].append(rows)
    return {name: milliseconds(taken) for name, taken in times.items()}, found


def store(folder: Path, vectors: NDArray[Any]) -> Matrix:
    """Write vectors to a matrix, under keys that look like hashes."""
    dimension = vectors.shape[1]
    keys = np.random.default_rng(1).integers(0, 256, (len(vectors), 16), dtype=np.uint8)
    with matrix_writer(folder, dimension) as writer:
        if not len(writer):
            for start in range(0, len(vectors), _CHUNK):
                part = slice(start, start + _CHUNK)
                writer.append(keys[part], unit(vectors[part]))
            writer.commit()
    return Matrix.open(folder, dimension)


def build(matrix: Matrix, given: NDArray[Any], lists: int | None) -> IvfIndex:
    """Make the lists and map them, as a search would."""
    save(fit(matrix, unit(given), lists=lists), matrix)
    index = load(matrix)
    assert index is not None
    return index


def filtered(matrix: Matrix, index: IvfIndex, asked: NDArray[Any], share: float) -> dict[str, float]:
    """Compare the two searches where only some rows are allowed."""
    mask = np.random.default_rng(2).random(len(matrix)) < share
    exact = [timed(lambda q=q: exact_search(matrix, q, _K, mask)) for q in asked[:50]]
    approx = [timed(lambda q=q: ivf_search(index, matrix, q, _K, mask)) for q in asked[:50]]
    return {
        "exact_p50_ms": milliseconds([seconds for seconds, _ in exact])["p50_ms"],
        "approx_p50_ms": milliseconds([seconds for seconds, _ in approx])["p50_ms"],
        "recall@100": overlap([f.rows for _, f in exact], [f.rows for _, f in approx], _K),
    }


def numpy_top(floats: NDArray[np.float32], query: NDArray[np.float32]) -> NDArray[Any]:
    """Search as one would without this package: one product over a float32 matrix in memory."""
    scores = floats @ query
    k = min(_K, len(scores))
    best = np.argpartition(-scores, k - 1)[:k]
    return best[np.argsort(-scores[best], kind="stable")]


def overlap(true: list[NDArray[Any]], found: list[NDArray[Any]], k: int) -> float:
    """Return the share of the true k nearest rows that are among the k found."""
    return round(float(np.mean([np.isin(t[:k], f[:k]).mean() for t, f in zip(true, found, strict=True)])), 4)


def unit(rows: NDArray[Any]) -> NDArray[np.float32]:
    """Return rows as float32 of length 1."""
    wide = rows.astype(np.float32)
    wide /= np.maximum(np.linalg.norm(wide, axis=1, keepdims=True), 1e-12)
    return wide


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return how long something took, and what it gave."""
    started = time.perf_counter()
    result = work()
    return time.perf_counter() - started, result


if __name__ == "__main__":
    main()
