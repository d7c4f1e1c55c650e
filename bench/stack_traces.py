"""Paste real stack traces, compiler and test output and diffs: is the right symbol the first hit?

    python bench/stack_traces.py --checkouts DIR

`bench/data/stack_traces.jsonl.gz` holds what failing programs printed, with the answer written down before.
DIR holds the repositories of `repos` by name. A hit is right if it is the named symbol in the named file.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

from dowse import Index
from dowse.types import Symbol

from common import write_results

DATA = Path(__file__).parent / "data" / "stack_traces.jsonl.gz"


def main() -> None:
    """Ask every text and write the shares by tool and repository."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--checkouts", type=Path, required=True)
    parser.add_argument("--encoder", default="none")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    with gzip.open(options.data, "rt") as lines:
        cases = [json.loads(line) for line in lines]
    right, total = Counter[str](), Counter[str]()
    wrong: list[dict[str, Any]] = []
    for repo in sorted({case["repo"] for case in cases}):
        with Index.open(options.checkouts / repo, encoder=options.encoder) as index:
            index.update()
            for case in (case for case in cases if case["repo"] == repo):
                hits = index.search(case["text"], 5).hits
                rank = next((hit.rank for hit in hits if _is_right(hit.symbol, case)), 0)
                for group in (
                    "all",
                    f"tool {case['tool']}",
                    f"repository {repo}",
                    f"language {case['language']}",
                ):
                    total[group] += 1
                    right[group] += rank == 1
                if rank != 1:
                    first = f"{hits[0].symbol.path}:{hits[0].symbol.qualified_name}" if hits else ""
                    wrong.append({"id": case["id"], "rank": rank, "first": first})
    shares = {group: {"cases": total[group], "first": right[group] / total[group]} for group in sorted(total)}
    for each in wrong:
        print(each)
    print(shares["all"])
    if options.out:
        write_results(options.out, {"shares": shares, "wrong": wrong})


def _is_right(symbol: Symbol, case: dict[str, Any]) -> bool:
    if symbol.path != case["path"]:
        return False
    names = {name.rpartition(".")[2] for name in (case["symbol"], *case.get("alt", ()))}
    return symbol.name in names


if __name__ == "__main__":
    main()
