"""Whether built copies rank below their sources, in repositories that contain their own build output.

    python bench/built_copies.py --checkouts DIR [--encoder base] [--out bench/results/built_copies.json]

`data/built_copies.jsonl` has a repository, its commit, a question, the symbols that answer it (`accept`) and
the built files that contain copies of them (`copies`); DIR has a checkout of each repository, by name.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from dowse import Index
from dowse.types import Answer

from common import work_folder, write_results

QUESTIONS = Path(__file__).parent / "data" / "built_copies.jsonl"
K = 10


def main() -> None:
    """Ask every question."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--checkouts", type=Path, required=True)
    parser.add_argument("--encoder", default="base")
    parser.add_argument("--work", type=Path)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    cases = [json.loads(line) for line in QUESTIONS.read_text().splitlines()]
    totals: Counter[str] = Counter()
    failures = []
    with work_folder(options.work) as work:
        for repo in dict.fromkeys(case["repo"] for case in cases):
            settings = {"index_dir": str(work / f"built-{repo}"), "isolation": "never"}
            with Index.open(options.checkouts / repo, encoder=options.encoder, **settings) as index:
                index.update()
                if options.encoder != "none":
                    index.embed()
                for case in (case for case in cases if case["repo"] == repo):
                    outcome = judge(index.search(case["query"], K, plain=True, feedback=False), case)
                    totals.update(outcome)
                    if outcome["copy_above"]:
                        failures.append(f"{case['id']}: {case['query']}")
                        print(failures[-1], file=sys.stderr, flush=True)
    results = {"encoder": options.encoder, "questions": len(cases), **totals, "failures": failures}
    print(results, file=sys.stderr)
    if options.out:
        write_results(options.out, results)


def judge(answer: Answer, case: dict[str, Any]) -> dict[str, int]:
    """Return whether the source is first, among the hits, has its copies listed, and is below one of them."""
    accepted = {(each["path"], each["symbol"]) for each in case["accept"]}
    ranks = [n for n, hit in enumerate(answer.hits) if (hit.symbol.path, hit.symbol.name) in accepted]
    copies = [n for n, hit in enumerate(answer.hits) if hit.symbol.path in case["copies"]]
    source, copy = min(ranks, default=K), min(copies, default=K)
    return {
        "source_first": int(source == 0),
        "source_found": int(source < K),
        "copies_listed": int(source < K and bool(answer.hits[source].also_in)),
        "copy_above": int(copy < source),
    }


if __name__ == "__main__":
    main()
