"""Every way of joining the lanes, and every switch, on all sets: what becomes a default must win here.

    python bench/fusion.py --data DIR --repos DIR [--encoder base] [--out bench/results/fusion.json]

Folders as in bench/quality.py. A row per way of searching, a column per set: all, tune half, report half.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from dowse import Index

from common import write_results
from quality import Set, half, open_sets, plain, set_parser

WAYS: dict[str, dict[str, object]] = {
    "keyword": {"mode": "keyword"},
    "embedding": {"mode": "embedding"},
    "auto": {},
    "rrf": {"mode": "hybrid", "fusion": "rrf"},
    "weighted": {"mode": "hybrid", "fusion": "weighted"},
    "adaptive": {"mode": "hybrid", "fusion": "adaptive"},
    "convex": {"mode": "hybrid", "fusion": "convex"},
    "intersection": {"mode": "hybrid", "fusion": "intersection"},
    "all lanes": {"lanes": "keyword,embedding,graph"},
    "auto, expanded": {"expand": True},
    "auto, callees added": {"graph_expand": True},
}
# What only differs from "auto" where there is a graph.
_GRAPH_WAYS = ("all lanes", "auto, callees added")
_SETS = (
    *("csn-python docstring", "csn-python summary", "repos", "cosqa kept", "cosqa stripped"),
    *("csn-challenge-python", "csn-challenge-python stripped"),
)


def main() -> None:
    """Run every way on every set and write the table."""
    parser = set_parser(__doc__)
    parser.add_argument("--ways", default="; ".join(WAYS), help="some of: " + "; ".join(WAYS))
    parser.add_argument("--encoder", default="base")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    ways = [way for way in WAYS if way in options.ways.split("; ")]
    table: dict[str, dict[str, list[float]]] = {way: {} for way in ways}
    jobs = [(options, name, ways) for name in _SETS if options.only in name]
    with ProcessPoolExecutor(2) as pool:
        for found in pool.map(run_sets, jobs):
            for name, values in found.items():
                for way, value in values.items():
                    table[way][name] = value
    results = {way: summary(sets) for way, sets in table.items()}
    for way, sets in results.items():
        print(f"{way:20}", *(f"{value[0]:.3f}" for value in sets.values()), file=sys.stderr)
    if options.out:
        write_results(options.out, {"encoder": options.encoder, "ways": results})


def run_sets(job: tuple[argparse.Namespace, str, list[str]]) -> dict[str, dict[str, list[float]]]:
    """Run every way on one set, or on all repositories."""
    options, wanted, ways = job
    found: dict[str, dict[str, list[float]]] = {}
    settings = {"encoder": options.encoder, "isolation": "never", "threads": 1}
    for each in open_sets(options.data, options.repos, options.work, wanted, **settings):
        if each.name != wanted and wanted != "repos":
            continue  # "csn-challenge-python" is also the beginning of another name
        each.index.embed()
        _remember_queries(each.index)
        values: dict[str, list[float]] = {}
        for way in ways:
            # A corpus has no graph, so nothing is added there.
            values[way] = values["auto"] if way in _GRAPH_WAYS and wanted != "repos" else run(each, WAYS[way])
        found[each.name] = values
        print(each.name, values, file=sys.stderr, flush=True)
    return found


def _remember_queries(index: Index) -> None:
    """Encode each query once, not once for every way."""
    encoder = index.encoder
    assert encoder is not None
    known: dict[str, object] = {}
    encode = encoder.queries

    def queries(texts: list[str]) -> object:
        for text in texts:
            if text not in known:
                known[text] = encode([text])
        return known[texts[0]]

    encoder.queries = queries  # type: ignore[method-assign, assignment]


def run(each: Set, way: dict[str, object]) -> list[float]:
    """Return the metric on all queries, the tune half and the report half."""
    values: dict[str, list[float]] = {"tune": [], "report": []}
    for case in each.cases:
        answer = each.index.search(plain(case.query), k=each.k, **way)  # type: ignore[arg-type]
        values[half(case)].append(each.metric(answer, case))
    halves = [values["tune"] + values["report"], values["tune"], values["report"]]
    return [round(statistics.mean(half) if half else 0.0, 4) for half in halves]


def summary(sets: dict[str, list[float]]) -> dict[str, list[float]]:
    """Return the sets with the repositories as one, and the mean of all."""
    repos = [value for name, value in sets.items() if name.startswith("repos/")]
    short = {name: value for name, value in sets.items() if not name.startswith("repos/")}
    if repos:
        short["repos"] = [round(statistics.mean(column), 4) for column in zip(*repos, strict=True)]
    short["mean"] = [round(statistics.mean(column), 4) for column in zip(*short.values(), strict=True)]
    return short


if __name__ == "__main__":
    main()
