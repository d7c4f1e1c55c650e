"""Whether a cluster answers as well as this machine: two reports of `dowse eval` side by side.

dowse eval --manifest bench/manifests/cluster.json --modes … --report local.json.gz
dowse eval --manifest bench/manifests/cluster.json --modes … --backend URL --report cluster.json.gz
python bench/cluster_parity.py local.json.gz cluster.json.gz
"""

from __future__ import annotations

import argparse
import gzip
import json
from pathlib import Path
from typing import Any

from common import write_results

METRICS = ("mrr@100", "ndcg@10")


def read(path: Path) -> dict[str, Any]:
    """Return a report."""
    with gzip.open(path, "rt") as file:
        found: dict[str, Any] = json.load(file)
    return found


def rows_of(report: dict[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the rows of a report by set and way."""
    return {(each["dataset"]["name"], row["mode"]): row for each in report["sets"] for row in each["rows"]}


def main() -> None:
    """Compare and write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("local", type=Path)
    parser.add_argument("cluster", type=Path)
    parser.add_argument("--out", type=Path, default=Path("bench/results/cluster_parity.json"))
    options = parser.parse_args()
    local, cluster = read(options.local), read(options.cluster)
    here, there = rows_of(local), rows_of(cluster)
    table = [
        {
            "set": place[0],
            "way": place[1],
            **{f"local {metric}": row["metrics"][metric] for metric in METRICS},
            **{f"cluster {metric}": there[place]["metrics"][metric] for metric in METRICS},
            "local p50_ms": row["latency"]["p50_ms"],
            "cluster p50_ms": there[place]["latency"]["p50_ms"],
        }
        for place, row in here.items()
        if place in there
    ]
    furthest = max(
        (abs(row[f"local {metric}"] - row[f"cluster {metric}"]), row["set"], row["way"], metric)
        for row in table
        for metric in METRICS
    )
    for row in table:
        print(
            f"{row['set']:<24} {row['way']:<12}"
            + "".join(f" {row[f'local {m}']:.4f} {row[f'cluster {m}']:.4f}" for m in METRICS)
        )
    print("furthest apart:", furthest)
    reports = {name: each["about"] for name, each in (("local", local), ("cluster", cluster))}
    write_results(options.out, {"rows": table, "furthest_apart": list(furthest), "reports": reports})


if __name__ == "__main__":
    main()
