"""How long mining a whole history takes, written to a result file.

    python bench/mining_speed.py DIR [DIR …] --out bench/results/mining_speed.json

Each DIR is a repository or a folder in one; questions are mined at symbol level, without a limit.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from dowse.eval.mine import build_from_git

from common import run, write_results


def main() -> None:
    """Mine every history once."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    table: dict[str, dict[str, float]] = {}
    for folder in options.folders:
        commits = int(run(["git", "-C", folder, "rev-list", "--count", "HEAD"])[2])
        started = time.perf_counter()
        cases = build_from_git(folder, max_cases=0)
        seconds = round(time.perf_counter() - started, 1)
        table[folder.name] = {"commits": commits, "questions": len(cases), "seconds": seconds}
        print(folder.name, table[folder.name], file=sys.stderr, flush=True)
    if options.out:
        write_results(options.out, {"histories": table})


if __name__ == "__main__":
    main()
