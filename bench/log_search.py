"""Ask for commits in other words than their messages: at which rank is the right one?

    python bench/log_search.py --checkouts DIR --out bench/results/log_search.json

`bench/data/log_paraphrases.jsonl` has two sets, each of commits drawn at random. `vague` avoids the words of
the message and was written before any search of commits existed. `project` uses the vocabulary of the
project, as its developers would; it was written after the first results on `vague` were known, and before any
of its own. DIR holds clones with their history: flask, requests, express, gin.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from pathlib import Path

from dowse import Index

from common import milliseconds, write_results

DATA = Path(__file__).parent / "data" / "log_paraphrases.jsonl"
# A commit behind this rank counts as not found.
DEPTH = 100


def main() -> None:
    """Ask every paraphrase and write the mean reciprocal ranks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--checkouts", type=Path, required=True)
    parser.add_argument("--encoder", nargs="*", default=["base", "small", "none"])
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    cases = [json.loads(line) for line in DATA.read_text().splitlines()]
    results = {encoder: measure(options.checkouts, cases, encoder) for encoder in options.encoder}
    print(json.dumps(results, indent=1))
    if options.out:
        write_results(options.out, dict(results))


def measure(checkouts: Path, cases: list[dict[str, str]], encoder: str) -> dict[str, object]:
    """Return the mean reciprocal rank and the share among the first ten, by set and repository."""
    ranks: dict[str, list[int]] = defaultdict(list)
    seconds = []
    for repo in sorted({case["repo"] for case in cases}):
        with Index.open(checkouts / repo.rpartition("/")[2], encoder=encoder) as index:
            index.log("warm up")
            for case in (case for case in cases if case["repo"] == repo):
                started = time.perf_counter()
                found = [hit.commit.id for hit in index.log(case["query"], DEPTH)]
                seconds.append(time.perf_counter() - started)
                rank = found.index(case["commit"]) + 1 if case["commit"] in found else 0
                for group in (case["set"], f"{case['set']} {repo}"):
                    ranks[group].append(rank)
    groups = {
        group: {
            "queries": len(each),
            "mrr": round(sum(1 / rank for rank in each if rank) / len(each), 3),
            "among_10": round(sum(0 < rank <= 10 for rank in each) / len(each), 3),
        }
        for group, each in sorted(ranks.items())
    }
    return {"groups": groups, "time": milliseconds(seconds)}


if __name__ == "__main__":
    main()
