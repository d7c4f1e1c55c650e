"""Write the first 20 ids and scores of every question, and compare two such files.

    python bench/rankings.py dump OUT --data DIR --checkouts DIR
    python bench/rankings.py compare BEFORE AFTER --out FILE

A change of structure must leave every ranking as it was. `dump` uses the public Python API alone, so that the
same file runs with the dowse of any commit that is first on PYTHONPATH.
"""

from __future__ import annotations

import argparse
import gzip
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

K = 20
TOLERANCE = 1e-9
# Ways to search beside the default; each is asked every tenth question.
VARIANTS: dict[str, dict[str, Any]] = {
    "keyword": {"mode": "keyword"},
    "embedding": {"mode": "embedding"},
    "tfidf": {"mode": "tfidf"},
    "rrf": {"mode": "hybrid", "fusion": "rrf"},
    "weighted": {"mode": "hybrid", "fusion": "weighted"},
    "convex": {"mode": "hybrid", "fusion": "convex"},
    "adaptive": {"mode": "hybrid", "fusion": "adaptive"},
    "intersection": {"lanes": "tfidf,embedding", "fusion": "intersection"},
    "expand": {"expand": True},
    "rerank": {"rerank": True},
    "mmr": {"diversify": "mmr"},
    "cluster": {"diversify": "cluster"},
    "sample": {"diversify": "sample", "clustering": "hyperbolic"},
    "spectral": {"diversify": "cluster", "clustering": "spectral"},
    "fuzzy": {"mode": "keyword", "fuzziness": "2"},
}
_CORPORA: dict[str, dict[str, Any]] = {
    "csn-python": {},
    "csn-challenge-python": {},
    "cosqa": {"strip_docs": True},
}
GIT_REPOSITORIES = ("flask", "requests", "click", "pydantic")
GIT_QUESTIONS = 200


def main() -> None:
    """Run one of the two commands."""
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(required=True)
    dumping = commands.add_parser("dump")
    dumping.add_argument("out", type=Path)
    dumping.add_argument("--data", type=Path, required=True)
    dumping.add_argument("--checkouts", type=Path, required=True)
    dumping.add_argument("--sets", default="csn-python,csn-challenge-python,cosqa,repos,git")
    dumping.set_defaults(run=dump)
    comparing = commands.add_parser("compare")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    comparing.add_argument("--out", type=Path, required=True)
    comparing.set_defaults(run=compare)
    options = parser.parse_args()
    options.run(options)


def dump(options: argparse.Namespace) -> None:
    """Write the rankings of every question of every set, one line each."""
    from dowse import Index

    with gzip.open(options.out, "wt") as out:
        for name, place, settings, questions in _sets(options):
            # With several parsers the order of files, and so that of equal scores, differs from run to run.
            with Index.open(place, processes=1, **settings) as index:
                index.update()
                for number, question in enumerate(questions):
                    asked = {"default": {}} | (VARIANTS if number % 10 == 0 else {})
                    for variant, flags in asked.items():
                        answer = index.search(question, K, plain=True, **flags)
                        hits = [[hit.symbol.id, hit.score, hit.confidence] for hit in answer.hits]
                        out.write(json.dumps([name, variant, number, hits]) + "\n")
            print(name, number + 1, file=sys.stderr, flush=True)


def _sets(options: argparse.Namespace) -> Iterator[tuple[str, str, dict[str, Any], list[str]]]:
    """Give the name, the place, the settings and the questions of every set."""
    wanted = options.sets.split(",")
    for name, settings in _CORPORA.items():
        if name in wanted:
            with gzip.open(options.data / name / "queries.jsonl.gz", "rt") as lines:
                yield name, str(options.data / name), settings, [json.loads(line)["text"] for line in lines]
    for each in json.loads((options.data / "repos" / "repos.json").read_text()):
        checkout = options.checkouts / each["name"]
        if "repos" in wanted:
            cases = (options.data / "repos" / "cases" / f"{each['name']}.jsonl").read_text().splitlines()
            questions = [json.loads(line)["query"] for line in cases]
            yield f"repos/{each['name']}", str(checkout / each.get("benchmark_root", "")), {}, questions
        if "git" in wanted and each["name"] in GIT_REPOSITORIES:
            log = ["git", "-C", str(checkout), "log", "--no-merges", "--format=%s", f"-{GIT_QUESTIONS}"]
            subjects = subprocess.run(log, capture_output=True, text=True, check=True).stdout.splitlines()
            yield f"git/{each['name']}", str(checkout), {}, subjects


def compare(options: argparse.Namespace) -> None:
    """Count the rankings that differ, and write which."""
    from common import write_results

    before, after = _read(options.before), _read(options.after)
    different, largest = [], 0.0
    for key in before.keys() | after.keys():
        old, new = before.get(key), after.get(key)
        if old is None or new is None or [hit[0] for hit in old] != [hit[0] for hit in new]:
            different.append(key)
            continue
        pairs = [pair for x, y in zip(old, new, strict=True) for pair in zip(x[1:], y[1:], strict=True)]
        gaps = [abs((a or 0) - (b or 0)) for a, b in pairs]
        largest = max([largest, *gaps])
        if any(gap > TOLERANCE for gap in gaps):
            different.append(key)
    counts: dict[str, int] = {}
    for key in before:
        name = key.partition(" ")[0].partition("/")[0]
        counts[name] = counts.get(name, 0) + 1
    figures = {"rankings": counts, "different": sorted(different), "largest_difference": largest}
    print(json.dumps({**figures, "different": len(different)}))
    write_results(options.out, figures)


def _read(path: Path) -> dict[str, list[list[Any]]]:
    with gzip.open(path, "rt") as lines:
        rows = [json.loads(line) for line in lines]
    return {f"{name} {variant} {number}": hits for name, variant, number, hits in rows}


if __name__ == "__main__":
    main()
