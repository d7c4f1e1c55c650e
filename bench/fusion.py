"""Every way of joining the lanes, and every switch, on all sets: what becomes a default must win here.

    python bench/fusion.py --data DIR --repos DIR [--encoder base] [--out bench/results/fusion.json]

Folders as in bench/quality.py. A row per way of searching, a column per set: all, tune half, report half.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from pathlib import Path

from common import write_results
from quality import Set, half, open_sets, plain

WAYS: dict[str, dict[str, object]] = {
    "keyword": {"mode": "keyword"},
    "embedding": {"mode": "embedding"},
    "auto": {},
    "blend": {"mode": "hybrid", "fusion": "blend"},
    "rrf": {"mode": "hybrid", "fusion": "rrf"},
    "weighted": {"mode": "hybrid", "fusion": "weighted"},
    "adaptive": {"mode": "hybrid", "fusion": "adaptive"},
    "convex": {"mode": "hybrid", "fusion": "convex"},
    "intersection": {"mode": "hybrid", "fusion": "intersection"},
    "all lanes": {"lanes": "keyword,embedding,graph"},
    "auto, expanded": {"expand": True},
    "auto, callees added": {"graph_expand": True},
}


def main() -> None:
    """Run every way on every set and write the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--repos", type=Path)
    parser.add_argument("--work", type=Path, default=Path(".work/quality"))
    parser.add_argument("--only", default="")
    parser.add_argument("--ways", default=",".join(WAYS), help="some of: " + "; ".join(WAYS))
    parser.add_argument("--encoder", default="base")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    ways = [way for way in WAYS if way in options.ways.split(",") or options.ways == ",".join(WAYS)]
    table: dict[str, dict[str, list[float]]] = {way: {} for way in ways}
    settings = {"encoder": options.encoder, "isolation": "never"}
    for each in open_sets(options.data, options.repos, options.work, options.only, **settings):
        each.index.embed()
        for way in ways:
            table[way][each.name] = run(each, WAYS[way])
            print(f"{each.name:32} {way:20}", table[way][each.name], file=sys.stderr, flush=True)
    results = {way: summary(sets) for way, sets in table.items()}
    for way, sets in results.items():
        print(f"{way:20}", *(f"{value[0]:.3f}" for value in sets.values()), file=sys.stderr)
    if options.out:
        write_results(options.out, {"encoder": options.encoder, "ways": results})


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
