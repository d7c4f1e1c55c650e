"""CPU time of a full index with its call graph, beside that of an earlier commit.

    python bench/graph_cpu.py NAME… --before CHECKOUT --data DIR [--out bench/results/graph_cpu.json]

CHECKOUT is a worktree of the earlier commit, DIR/checkouts/NAME are the repositories. The two versions take
turns, without vectors, in as many processes as `dowse index` uses; the fewest user seconds of each count.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from common import write_results

BAR = 1.03  # times the earlier commit
_HERE = Path(__file__).parents[1]
_INDEX = """
import sys
from pathlib import Path
from dowse.config import Settings
from dowse.indexing.update import update
from dowse.storage.local.backend import LocalBackend
update(LocalBackend(Path(sys.argv[2])), Path(sys.argv[1]), Settings())
"""


def main() -> None:
    """Index each repository with both versions, in turn."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="+", metavar="NAME")
    parser.add_argument("--before", type=Path, required=True)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    results: dict[str, Any] = {"before": commit_of(options.before), "bar": BAR, "user_seconds": {}}
    for name in options.names:
        repository = options.data / "checkouts" / name
        pairs = [
            (user_seconds(options.before, repository), user_seconds(_HERE, repository))
            for _ in range(options.runs)
        ]
        before, now = (min(column) for column in zip(*pairs, strict=True))
        figures = {"before": round(before, 2), "now": round(now, 2), "ratio": round(now / before, 3)}
        results["user_seconds"][name] = figures
        print(name, figures, "" if now <= before * BAR else "SLOWER", flush=True)
    if options.out:
        write_results(options.out, results)


def user_seconds(version: Path, repository: Path) -> float:
    """Return the user time of all processes that index a repository with a version of dowse."""
    environment = {**os.environ, "PYTHONPATH": str(version.resolve() / "src")}
    with tempfile.TemporaryDirectory(prefix="dowse-bench-") as folder:
        started = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        command = [sys.executable, "-c", _INDEX, str(repository), f"{folder}/index"]
        subprocess.run(command, env=environment, check=True, capture_output=True)
        return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - started


def commit_of(checkout: Path) -> str:
    """Return the commit of a worktree."""
    command = ["git", "-C", str(checkout), "rev-parse", "HEAD"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


if __name__ == "__main__":
    main()
